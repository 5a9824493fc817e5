"""`outlast rehearse`: does resuming change the result?"""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, takes_request
from outlast.cli.planned import rehearsal_json, rehearsal_lines
from outlast.cli.waiting import Waiting
from outlast.model.request import RunRequest

app = new_app()


@verb(
    app,
    "rehearse",
    about="Trains twice, once straight and once interrupted at random safe and unsafe moments, and compares losses, "
    "the order of samples and the final files. It names the first thing that differs and the likely cause, before "
    "the first borrowed hour is spent. Use a short training.",
    examples=[
        ("outlast rehearse train.py --checkpoint ckpt -- --epochs 3", "a short training, a few random cuts"),
        ("outlast rehearse . --cuts 5 --seed 7", "five cuts, the same ones every time"),
    ],
    exits={0: "both trainings agree", 1: "they differ", 2: "the request is wrong", 12: "the platform or store failed"},
)
@takes_request
def rehearse(
    request: RunRequest,
    cuts: Annotated[
        int, typer.Option("--cuts", metavar="N", min=1, help="How often to interrupt (default: 4)", show_default=False)
    ] = 4,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", help="Choose the same moments again (default: random)",
                                 show_default=False)
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="X", min=0.0, show_default=False,
                            help="Relative difference of numbers that still counts as equal (default: 0)")
    ] = 0.0,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="NAME", show_default=False,
                                       help="Leave this metric, or files of this pattern, out; repeat for more")
    ] = None,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    with Waiting("training straight", each_is_a_line=True) as waiting:
        outcome = open_client().rehearse(
            request, count=cuts, seed=seed, tolerance=tolerance, ignore=tuple(ignore or ()), tell=waiting.note
        )
    if as_json:
        print_json(rehearsal_json(outcome))
    else:
        print("\n".join(rehearsal_lines(outcome)))
    return 0 if outcome.agree else 1
