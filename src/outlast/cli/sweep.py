"""`outlast sweep`: one request over a grid of parameters."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.command import EXIT_CODES, new_group, open_client, print_json, verb
from outlast.cli.options import AsJson, Detach, takes_request
from outlast.cli.words import count
from outlast.model.request import RunRequest

_EXITS = {code: EXIT_CODES[code] for code in (0, 2, 10, 12)}
_START_EXITS = {
    0: "every member succeeded or was stopped early, or you left the sweep running (--detach, Ctrl-C once)",
    1: "a member failed or was stopped",
    **{code: EXIT_CODES[code] for code in (2, 11, 12)},
    130: "you stopped it (Ctrl-C twice)",
}

app = new_group(
    "sweep",
    about="`outlast sweep TARGET --param lr=0.1,0.01` starts a run for every combination of the values; outlast sweep "
    "start --help shows all options. Each member is an ordinary run, and the keeper goes on with the sweep when the "
    "terminal is closed.",
    examples=[
        ("outlast sweep train.py --param lr=0.1,0.01 --param batch=32,64", "four runs, one table at the end"),
        ("outlast sweep show train", "how it goes"),
    ],
    exits=_START_EXITS,
    default="start",
    default_takes_words=True,
)


def _complete(incomplete: str) -> list[str]:
    try:
        return [name for name, _ in open_client().sweeps.list() if name.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a completion must never print a traceback into the user's prompt
        return []


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the sweep", autocompletion=_complete)]
_PANEL = "The sweep"


def _option(*names: str, metavar: str | None = None, help: str) -> typer.models.OptionInfo:
    info: typer.models.OptionInfo = typer.Option(
        *names, metavar=metavar, help=help, rich_help_panel=_PANEL, show_default=False
    )
    return info


@verb(
    app,
    "start",
    sentence="Start a run for every combination of parameters",
    about="Give --param several values, separated by commas (a comma inside a value is written \\,); parameters with "
    "one value are the same for all. Members are named after the sweep and their values, share one code pack and wait "
    "in the ordinary queue. With --early-stop, members that are worse than the median of the others at the same epoch "
    "are stopped; the best one never is.",
    examples=[
        ("outlast sweep train.py -p lr=0.1,0.01,0.001 -p batch=32,64 --at-once 2", "six runs, two at a time"),
        ("outlast sweep train.py -p lr=0.1,0.01 -p wd=0,1e-4 --metric val_acc --early-stop", "stop hopeless members"),
    ],
    exits=_START_EXITS,
)
@takes_request
def start(
    request: RunRequest,
    at_once: Annotated[
        int | None, _option("--at-once", metavar="N", help="Train at most so many members at a time (default: all)")
    ] = None,
    metric: Annotated[
        str | None,
        _option("--metric", metavar="NAME[:max|:min]", help="Sort by this metric (default: the most telling one)"),
    ] = None,
    early_stop: Annotated[
        bool, _option("--early-stop", help="Stop members that --metric shows to be hopeless (default: train all)")
    ] = False,
    early_stop_after: Annotated[
        float | None,
        _option("--early-stop-after", metavar="N",
                help="Compare after so many epochs for the first time, then after twice as many, … (default: 4)"),
    ] = None,
    random: Annotated[
        int | None, _option("--random", metavar="N", help="Train only N members, chosen by chance (default: all)")
    ] = None,
    seed: Annotated[
        int | None, _option("--seed", metavar="N", help="Choose the same members again (default: a new choice)")
    ] = None,
    yes: Annotated[bool, _option("--yes", "-y", help="Do not ask before more than 64 members start")] = False,
    detach: Detach = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the members and start nothing", show_default=False)
    ] = False,
    as_json: AsJson = False,
) -> int:  # fmt: skip
    from outlast.cli.asking import agreed
    from outlast.cli.sweep_view import members_lines, watch_sweep
    from outlast.cli.waiting import Waiting
    from outlast.operations.sweeps import MANY

    client = open_client()
    options = {
        "at_once": at_once, "metric": metric, "early_stop": early_stop, "random": random, "seed": seed,
        "early_stop_after": 4.0 if early_stop_after is None else early_stop_after,
    }  # fmt: skip
    plan = client.sweeps.plan(request, **options)
    if plan.seed is not None:
        options["seed"] = plan.seed
        print(
            f"{len(plan.members)} of {plan.grid.size} members; choose the same again with --seed {plan.seed}",
            file=sys.stderr,
        )
    if dry_run:
        print_json(plan.members) if as_json else print("\n".join(members_lines(plan.members)))
        return 0
    if len(plan.members) > MANY and not yes and not agreed(f"start {count(len(plan.members), 'run')}?", verb="sweep"):
        print("nothing was started", file=sys.stderr)
        return 2
    with Waiting("packing the code") as waiting:
        record = client.sweeps.start(request, progress=waiting.note, **options)
    if detach:
        print_json(client.sweeps.get(record.name).to_json()) if as_json else print(record.name, flush=True)
        if not as_json:
            print(f"see it with: outlast sweep show {record.name}, stop it with: outlast sweep stop {record.name}",
                  file=sys.stderr)  # fmt: skip
        return 0
    stream = sys.stderr if as_json else sys.stdout
    print(f"sweep {record.name}: {count(len(record.members), 'run')}", file=stream, flush=True)
    code = watch_sweep(client, record.name, stream)
    if as_json:
        print_json(client.sweeps.get(record.name).to_json())
    return code


@verb(
    app,
    "show",
    sentence="Show a sweep as one table",
    about="The best member stands first. A run that was removed is shown without a state.",
    examples=[("outlast sweep show train", "as a table"), ("outlast sweep show train --json", "for programs")],
    exits=_EXITS,
)
def show(name: Name, as_json: AsJson = False) -> None:
    from outlast.cli.paint import Ink
    from outlast.cli.sweep_view import table_lines

    view = open_client().sweeps.get(name)
    print_json(view.to_json()) if as_json else print("\n".join(table_lines(view, Ink())))


@verb(
    app,
    "ls",
    sentence="List sweeps",
    about="Newest first, with the number of members in each state.",
    examples=[("outlast sweep ls", "all of them"), ("outlast sweep ls --json", "for programs")],
    exits=_EXITS,
)
def ls(as_json: AsJson = False) -> None:
    found = open_client().sweeps.list()
    if as_json:
        print_json([{"name": name, "members": sum(counts.values()), "counts": counts} for name, counts in found])
        return
    if not found:
        print("no sweeps yet; start one with: outlast sweep train.py --param lr=0.1,0.01")
    for name, counts in found:
        print(f"{name}  {', '.join(f'{count} {state}' for state, count in sorted(counts.items()))}")


@verb(
    app,
    "stop",
    sentence="Ask every member to save and stop",
    about="Members that have not begun are stopped first; continue with outlast sweep resume. A single member is "
    "stopped with outlast stop.",
    examples=[("outlast sweep stop train", "the whole sweep"), ("outlast sweep stop grid-2", "another one")],
    exits=_EXITS,
)
def stop(name: Name) -> None:
    stopped = open_client().sweeps.stop(name)
    if not stopped:
        print(f"every member of {name} is over already")
        return
    print(f"{count(len(stopped), 'run')} will stop after saving; continue later with: outlast sweep resume {name}")


@verb(
    app,
    "resume",
    sentence="Continue the members that failed or were stopped",
    about="Members that the sweep stopped early stay as they are; continue one of them with outlast resume.",
    examples=[("outlast sweep resume train", "go on"), ("outlast sweep resume grid-2", "another one")],
    exits=_EXITS,
)
def resume(name: Name) -> None:
    resumed = open_client().sweeps.resume(name)
    print(f"{len(resumed)} runs go on; see them with: outlast sweep show {name}")


@verb(
    app,
    "rm",
    sentence="Remove a sweep and all its runs",
    about="Removes the members' folders and the record. Members that go on must be stopped first, or --force given.",
    examples=[("outlast sweep rm train", "when all is over"), ("outlast sweep rm train --force", "whatever it does")],
    exits=_EXITS,
)
def rm(
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Stop what goes on first", show_default=False)] = False,
) -> None:
    removed = open_client().sweeps.remove(name, force=force)
    print(f"removed sweep {name} and {count(len(removed), 'run')}; free their space with: outlast gc")
