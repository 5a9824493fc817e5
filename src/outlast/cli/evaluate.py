"""`outlast evaluate`: what the curves of runs say, or what a script of the user's says about their results."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from outlast.cli.command import EXIT_CODES, new_app, open_client, print_json, verb
from outlast.cli.completion import complete_run
from outlast.cli.options import AsJson, Detach, takes_request
from outlast.errors import UsageError
from outlast.model.request import RunRequest

app = new_app()

_PANEL = "Evaluation"
_EXITS = {
    0: "evaluated; with --of: the script succeeded, or you left it running",
    1: "with --of: the script failed",
    **{code: EXIT_CODES[code] for code in (2, 10, 11, 12, 130)},
}


def _takes_runs(function: Callable[..., Any]) -> Callable[..., Any]:
    """The words of a run request, whose first ones may also be runs: the help says so."""
    wrapper = takes_request(function)
    about = {
        "target": ("RUN|SCRIPT", "A run to judge; with --of, the script that evaluates its results"),
        "script_args": ("[RUN...] [-- ARGS]", "More runs; with --of, the script's own arguments"),
    }
    parameters = []
    for parameter in inspect.signature(wrapper).parameters.values():
        if parameter.name in about:
            metavar, help = about[parameter.name]
            kind = str if parameter.name == "target" else list[str] | None
            argument = typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=complete_run)
            parameter = parameter.replace(annotation=Annotated[kind, argument])  # noqa: PLW2901
        parameters.append(parameter)
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


@verb(
    app,
    "evaluate",
    about="Without --of: reads the losses and accuracies of one or more runs and says what is best, how fast it came, "
    "and what went wrong (overfitting, divergence, a plateau, slower epochs), each with its numbers and an advice. "
    "With --of RUN: runs a script of yours on the outputs and the last checkpoint of RUN, as a run of its own; a plain "
    "script finds them in the folder `of` (also in OUTLAST_OF, and as --of if it takes that), one of Xihe's gets "
    "--pretrain_url. What it measures is shown beside the training's.",
    examples=[
        ("outlast evaluate mnist", "judge the newest run of that name"),
        ("outlast evaluate --of mnist eval.py --data ./test -- --batch 64", "your own script on its results"),
    ],
    exits=_EXITS,
)
@_takes_runs
def evaluate(
    request: RunRequest,
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="RUN", help="Run a script on the results of this run (default: read curves)",
                     rich_help_panel=_PANEL, show_default=False, autocompletion=complete_run),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME[:max|:min]", help="Judge this metric; repeat for more (default: all)",
                     rich_help_panel=_PANEL, show_default=False),
    ] = None,
    detach: Detach = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    if of is not None:
        return _with_script(dataclasses.replace(request, of=of), detach, as_json)
    refs = [request.target, *request.args]
    _refuse_options(request, refs)
    from outlast.cli.evaluation_view import evaluation_lines, overview_lines
    from outlast.cli.paint import Ink
    from outlast.cli.waiting import Waiting

    client = open_client()
    with Waiting("reading the metrics"):
        found = [client.runs.evaluate(ref, metrics=metric or ()) for ref in refs]
    if as_json:
        print_json([one.to_json() for one in found] if len(found) > 1 else found[0].to_json())
        return 0
    lines = evaluation_lines(found[0], Ink()) if len(found) == 1 else overview_lines(found, Ink())
    print("\n".join(lines))
    return 0


def _refuse_options(request: RunRequest, refs: list[str]) -> None:
    """Options of a run mean nothing to curves; a script among the runs is a forgotten `--of`."""
    plain = RunRequest(target=request.target, args=request.args, cwd=request.cwd)
    given = [
        field.name
        for field in dataclasses.fields(request)
        if getattr(request, field.name) != getattr(plain, field.name)
    ]
    if given:
        option = {"params": "param", "secrets": "secret"}.get(given[0], given[0]).replace("_", "-")
        raise UsageError(
            f"--{option} belongs to an evaluation by a script", hint="name the run that it evaluates: --of RUN"
        )
    for ref in refs:
        if ref.endswith((".py", ".sh")) and Path(ref).is_file():
            raise UsageError(f"{ref} is a script, not a run", hint=f"name the run that it evaluates: --of RUN {ref}")


def _with_script(request: RunRequest, detach: bool, as_json: bool) -> int:
    from outlast.cli.live import watch_run
    from outlast.cli.waiting import Waiting

    client = open_client()
    with Waiting("bringing the results") as waiting:
        view = client.runs.submit(request, progress=waiting.note)
    if detach:
        print_json(view.to_json()) if as_json else print(view.id, flush=True)
        return 0
    stream = sys.stderr if as_json else sys.stdout
    print(f"run {view.id} evaluates {view.of}", file=stream, flush=True)
    code = watch_run(client, view, stream=stream)
    if as_json:
        print_json(client.runs.get(view.id).to_json(detail=True))
    return code
