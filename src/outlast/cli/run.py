"""`outlast run`: submit, then watch until the end (or print the id and leave)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.command import EXIT_CODES, new_app, open_client, print_json, verb
from outlast.cli.options import AsJson, Detach, takes_request
from outlast.model.request import RunRequest

app = new_app()

RUN_EXITS = {
    0: "the run succeeded, or you left it running (--detach, Ctrl-C once)",
    1: "the run failed or was stopped",
    **{code: EXIT_CODES[code] for code in (2, 11, 12)},
    130: "you stopped it (Ctrl-C twice)",
}


@verb(
    app,
    "run",
    about="Packs the code beside TARGET, moves the data, and starts the script in a fresh place. Before a time limit "
    "it hands the last checkpoint to the next stint, until the script ends by itself. The command stays and shows "
    "how it goes; Ctrl-C once leaves the run going, twice stops it. Options win over outlast.toml.",
    examples=[
        ("outlast run train.py --data ./mnist --checkpoint ckpt --limit 1h", "one-hour stints until it is done"),
        (
            "outlast run examples/digits --limit 15s -- --epochs 40",
            "a folder with outlast.toml; what follows -- goes to the script",
        ),
    ],
    exits=RUN_EXITS,
)
@takes_request
def run(
    request: RunRequest,
    detach: Detach = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the whole plan and start nothing", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> int:
    from outlast.cli.waiting import Waiting

    client = open_client()
    if dry_run:
        from outlast.cli.planned import plan_json, plan_lines

        plan = client.runs.plan(request)
        if as_json:
            print_json(plan_json(plan))
        else:
            print("\n".join(plan_lines(plan)))
        return 0
    notices: list[str] = []
    with Waiting("packing the code") as waiting:
        view = client.runs.submit(request, progress=waiting.note, notify=notices.append)
    if notices:
        from outlast.cli.paint import Ink
        from outlast.cli.planned import notice_lines

        print("\n".join(notice_lines(notices, Ink(sys.stderr))), file=sys.stderr, flush=True)
    if detach:
        if as_json:
            print_json(view.to_json())
        else:
            print(view.id, flush=True)
            print(f"follow it with: outlast logs -f {view.id}, stop it with: outlast stop {view.id}", file=sys.stderr)
        return 0
    from outlast.cli.live import watch_run

    stream = sys.stderr if as_json else sys.stdout
    wanted = (request.platform or view.platform).replace(",", ", else ")
    print(f"run {view.id} on {wanted}", file=stream, flush=True)
    code = watch_run(client, view, stream=stream)
    if as_json:
        print_json(client.runs.get(view.id).to_json(detail=True))
    return code
