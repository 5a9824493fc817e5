"""`outlast stop`: ask a run to save and end."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.command import new_app, open_client, verb
from outlast.cli.options import RunRef
from outlast.cli.waiting import Waiting
from outlast.model.quantities import parse_duration

app = new_app()


@verb(
    app,
    "stop",
    about="The script is asked to save, gets its grace, and ends; nothing committed is lost and no new stint starts. "
    "The command returns at once unless --wait is given.",
    examples=[
        ("outlast stop mnist", "the newest run of that name"),
        ("outlast stop 1115-quiet --wait 1m", "stay until it has stopped, at most a minute"),
    ],
    exits=(0, 2, 10, 12),
)
def stop(
    run: RunRef,
    wait: Annotated[
        str | None,
        typer.Option("--wait", metavar="TIME", help="Wait for the end, at most so long (default: do not)",
                     show_default=False),
    ] = None,
) -> None:  # fmt: skip
    timeout_s = seconds_of("--wait", wait)
    client = open_client()
    view = client.runs.stop(run)
    if view.state.is_final:
        print(f"{view.id} is over already: {view.state}")
        return
    if timeout_s is None:
        print(f"{view.id} will stop after saving; continue it later with: outlast resume {view.id}")
        return
    with Waiting(f"{view.id} is stopping"):
        view = client.runs.wait(view.id, timeout_s)
    print(f"{view.id} {view.state}; continue it with: outlast resume {view.id}")


def seconds_of(option: str, text: str | None) -> float | None:
    """A duration option in seconds; the option is named when it is not one."""
    from outlast.errors import UsageError

    try:
        return parse_duration(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
