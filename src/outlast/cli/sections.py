"""The parts of a run as text: stints, ledger, checkpoints, metrics, next commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from outlast.cli.paint import Column, Ink, ago, number, table, wrap
from outlast.cli.words import say
from outlast.model.quantities import format_duration, format_size
from outlast.model.states import EndReason, RunState
from outlast.model.view import LEDGER_COLUMNS, CheckpointView, RunView, StintView

CHECKPOINTS_SHOWN = 5
EVENTS_SHOWN = 5


def progress_text(view: RunView) -> str:
    """`epoch 12/40`, `step 300`, or nothing when the script says neither."""
    for word, at, total in (("epoch", view.epoch, view.epochs), ("step", view.step, view.steps)):
        if at is not None:
            return f"{say(word)} {at:g}" + (f"/{total:g}" if total else "")
    return ""


def rate_text(view: RunView) -> str:
    """`1.4 epochs/s`, or `12 s per epoch` when it is slow."""
    if not view.rate or not view.rate_of:
        return ""
    noun = view.rate_of.rstrip("s")
    if view.rate < 0.5:
        return f"{format_duration(1 / view.rate)} per {noun}"
    return f"{view.rate:.1f} {noun}s/s"


def checkpoint_progress(checkpoint: CheckpointView) -> str:
    """What a checkpoint knows about where it was taken: `epoch 9`."""
    for word in ("epoch", "step"):
        if checkpoint.progress.get(word) is not None:
            return f"{word} {checkpoint.progress[word]:g}"
    return ""


def stint_lines(stints: Sequence[StintView], ink: Ink) -> list[str]:
    """One line per stint: how it ended and what it left."""
    columns = [
        Column(say("stint"), right=True),
        Column(say("reason"), paint=ink.state),
        Column(say("time"), right=True),
        Column(say("checkpoint")),
        Column("platform"),
        Column(say("detail"), flexible=True, paint=lambda text: ink("dim", text)),
    ]
    rows = []
    for stint in stints:
        seconds = stint.elapsed_s if stint.elapsed_s is not None else sum(stint.ledger.values())
        rows.append([
            str(stint.number),
            str(stint.reason or stint.state),
            format_duration(seconds) if seconds else "-",
            stint.last_checkpoint or "-",
            stint.platform,
            (stint.message or stint.detail or stint.phase).split("\n")[0],
        ])  # fmt: skip
    return table(columns, rows, ink, indent=2)


def decision_lines(stints: Sequence[StintView], ink: Ink) -> list[str]:
    """One line for every decision where to go and its reason; the same decision in a row is one."""
    groups: list[list[StintView]] = []
    for stint in stints:
        if stint.why and groups and (groups[-1][0].platform, groups[-1][0].why) == (stint.platform, stint.why):
            groups[-1].append(stint)
        elif stint.why:
            groups.append([stint])
    columns = [Column(say("stint"), right=True), Column("platform"), Column(say("reason"), flexible=True)]
    rows = []
    for group in groups:
        first, last = group[0], group[-1]
        numbers = str(first.number) if first is last else f"{first.number}-{last.number}"
        rows.append([numbers, first.platform, first.why])
    return table(columns, rows, ink, indent=2) if rows else []


def event_lines(stints: Sequence[StintView], ink: Ink) -> list[str]:
    """The last events that a platform wrote down of the newest stint that could not be heard."""
    told = next((stint for stint in reversed(stints) if stint.events), None)
    if told is None:
        return []
    lines = [f"  {line}" for event in told.events[-EVENTS_SHOWN:] for line in wrap(event, 2)]
    more = len(told.events) - EVENTS_SHOWN
    return [*lines, *([ink("dim", f"  and {more} older")] if more > 0 else [])]


def ledger_lines(stints: Sequence[StintView], total: Mapping[str, float], useful: float | None, ink: Ink) -> list[str]:
    """Where the time went, per stint and in total; columns in which nothing happened are left out."""
    if not any(total.values()):
        return []
    ledgers = [stint.ledger for stint in stints]
    # Less than 0.05 s would be shown as 0.0 s.
    shown = {name for ledger in ledgers for name, seconds in ledger.items() if seconds >= 0.05} | {"useful"}
    names = [name for name in LEDGER_COLUMNS if name in shown]
    columns = [Column(say("stint"), right=True)]
    columns += [
        Column(say(name), right=True, paint=(lambda text: ink("green", text)) if name == "useful" else None)
        for name in names
    ]
    rows = [[str(stint.number), *_ledger_cells(stint.ledger, names)] for stint in stints if stint.ledger]
    rows.append([say("total"), *_ledger_cells(total, names)])
    lines = table(columns, rows, ink, indent=2)
    if useful is not None:
        lines.append("  " + ink("bold", f"{useful:.1%} {say('useful')}"))
    return lines


def _ledger_cells(ledger: Mapping[str, float], names: Sequence[str]) -> list[str]:
    return [format_duration(ledger[name]) if ledger.get(name, 0) >= 0.05 else "·" for name in names]


def checkpoint_lines(checkpoints: Sequence[CheckpointView], ink: Ink) -> list[str]:
    """The last few checkpoints, newest first, and how many there are."""
    shown = list(checkpoints[-CHECKPOINTS_SHOWN:])[::-1]
    columns = [
        Column(""), Column("", right=True), Column("", right=True), Column(""),
        Column("", flexible=True, paint=lambda text: ink("dim", text)),
    ]  # fmt: skip
    rows = [
        [
            point.id,
            format_size(point.size_bytes),
            f"{point.files} file" + ("s" if point.files != 1 else ""),
            checkpoint_progress(point),
            ago(point.created_at),
        ]
        for point in shown
    ]
    more = len(checkpoints) - len(shown)
    return table(columns, rows, ink, indent=2) + ([ink("dim", f"  and {more} older")] if more else [])


def metric_lines(last: Mapping[str, float], best: Mapping[str, tuple[float, float | None]], ink: Ink) -> list[str]:
    """Last and best value of each metric, and the epoch of the best."""
    columns = [Column(""), Column(say("last"), right=True), Column(say("best"), right=True), Column("")]
    rows = []
    for name in sorted(last):
        value, epoch = best.get(name, (None, None))
        rows.append([
            name,
            number(last[name]),
            number(value) if value is not None else "-",
            f"{say('epoch')} {epoch:g}" if epoch is not None else "",
        ])  # fmt: skip
    return table(columns, rows, ink, indent=2) if rows else []


def next_commands(view: RunView) -> list[tuple[str, str]]:
    """(command, what it does): what a user would want now, by the run's state."""
    run = shlex.quote(view.id)
    fetch = _fetch_command(view, run)
    logs = (f"outlast logs {run}", "read the script's output")
    show = (f"outlast show {run}", "every stint, checkpoint and second of it")
    chart = [(f"outlast chart {run}", "see the curves")] if view.metrics else []
    resume = (f"outlast resume {run}", "go on from the last checkpoint" if view.last_checkpoint else "try again")
    match view.state:
        case RunState.SUCCEEDED:
            return [*fetch, *chart, show, logs]
        case RunState.FAILED if view.stint_list and view.stint_list[-1].reason is EndReason.SETUP_ERROR:
            # Nothing of the script ran, so its output says nothing; and the same request would fail again.
            return [show, (resume[0], "try again, once the cause is mended")]
        case RunState.FAILED:
            return [logs, resume, *chart, show]
        case RunState.STOPPED:
            return [resume, *fetch, *chart, show]
        case _:
            return [(f"outlast logs -f {run}", "follow its output"), (f"outlast stop {run}", "save and stop"), show]


def _fetch_command(view: RunView, run: str) -> list[tuple[str, str]]:
    """The one that brings something: outputs, else the last checkpoint; none when the run keeps neither."""
    if view.outputs or (view.outputs is None and view.spec.get("output")):
        return [(f"outlast fetch {run}", "bring the results here")]
    # The first generation of ModelArts keeps its files in the bucket; a checkpoint is only a note of that.
    if view.last_checkpoint and view.spec.get("contract") != "modelarts-v1":
        return [(f"outlast fetch {run} --what checkpoint", "bring the last checkpoint here")]
    return []


def next_lines(view: RunView, ink: Ink, *, besides: str = "") -> list[str]:
    """The next commands as lines, without the one that was just given (`besides`)."""
    commands = [row for row in next_commands(view) if row[0].split()[1] != besides]
    columns = [Column("", paint=lambda text: ink("cyan", text)), Column("", flexible=True)]
    return table(columns, commands, ink, indent=2)


def titled(title: str, lines: Sequence[str], ink: Ink) -> list[str]:
    """A section: a blank line, its title, its lines; nothing at all when it is empty."""
    return ["", ink("bold", say(title)), *lines] if lines else []


def message_lines(view: RunView) -> list[str]:
    """The run's message and notice, wrapped."""
    return [f"  {line}" for text in (view.message, view.notice) if text for line in wrap(text, 2)]
