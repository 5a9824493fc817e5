"""The closing words of a watched run: what came of it, where the time went, where the results are, what to try next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from outlast.cli.curves import best_of
from outlast.cli.paint import Ink
from outlast.cli.sections import ledger_lines, message_lines, metric_lines, next_lines, progress_text, titled
from outlast.cli.words import say
from outlast.model.quantities import format_duration, format_size
from outlast.model.states import RunState
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.track.series import Series

LINES_OF_A_FAILURE = 12


def summary_lines(
    view: RunView, last_output: Sequence[str], read_series: Callable[[str], Mapping[str, Series]], ink: Ink
) -> list[str]:
    """The table at the end of `outlast run` and `outlast resume`."""
    lines = ["", headline(view, ink), *message_lines(view)]
    # The relay's message usually carries the last lines already; a short one does not.
    if view.state is RunState.FAILED and "\n" not in view.message and last_output:
        lines += titled("last lines of the script", [f"  {line}" for line in last_output[-LINES_OF_A_FAILURE:]], ink)
    lines += titled("ledger", ledger_lines(view.stint_list, view.ledger, view.useful_fraction, ink), ink)
    lines += titled("metrics", metric_lines(view.metrics, best_of(read_series, view.id), ink), ink)
    lines += titled("results", result_lines(view), ink)
    lines += titled("next", next_lines(view, ink), ink)
    return lines


def headline(view: RunView, ink: Ink) -> str:
    """`1115-quiet-otter-7kx succeeded: 4 stints, epoch 40/40, 1 min 2 s`."""
    facts = [f"{view.stints} stint" + ("s" if view.stints != 1 else "")]
    if progress_text(view):
        facts.append(progress_text(view))
    total_s = sum(view.ledger.values())
    if total_s:
        facts.append(format_duration(total_s))
    return f"{ink('bold', view.id)} {ink.state(view.state, say(view.state))}: {', '.join(facts)}"


def result_lines(view: RunView) -> list[str]:
    """Where the results are: the outputs when there are some, the last checkpoint otherwise; and named outputs."""
    return [*_kept_lines(view), *(_delivered_lines(view) if view.state is RunState.SUCCEEDED else ())]


def _kept_lines(view: RunView) -> list[str]:
    if view.outputs:
        size = format_size(sum(file.get("size", 0) for file in view.outputs.values()))
        files = sorted(view.outputs)
        names = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
        return [f"  {names} ({size}) in {view.store}"]
    if view.last_checkpoint:
        return [f"  checkpoint {view.last_checkpoint} in {view.store}"]
    return []


def _delivered_lines(view: RunView) -> list[str]:
    """Where named outputs were brought; a folder that plays a bucket is shown as the folder."""
    from outlast.inside.move.address import parse

    lines = []
    for output in view.spec.get("outputs", ()):
        if not output["target"]:
            continue  # it stays with the run
        target = parse(output["target"])
        folder = view.spec.get("maps", {}).get(target.root)
        lines.append(f"  {output['name']} in {target}" + (f" ({folder})" if folder else ""))
    return lines
