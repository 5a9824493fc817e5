"""A sweep in the terminal: the members as they change, and the table at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from outlast.cli.interrupt import Interrupts
from outlast.cli.live import SECOND_CHANCE_S
from outlast.cli.paint import Column, Ink, clip, number, table, terminal_width, wrap
from outlast.cli.words import count
from outlast.errors import INTERRUPTED_EXIT_CODE
from outlast.model.quantities import format_duration
from outlast.model.states import RunState
from outlast.model.view import RunView

if TYPE_CHECKING:
    from outlast.client import Client
    from outlast.operations.sweep_table import MemberRow, SweepView

TICK_S = 1.0


def members_lines(members: Sequence[Mapping[str, str]]) -> list[str]:
    """The members that would be started."""
    columns = [Column(name) for name in members[0]]
    return table(columns, [list(member.values()) for member in members], Ink())


def table_lines(view: SweepView, ink: Ink) -> list[str]:
    """The sweep as one table, its state above and what to do next below."""
    record = view.record
    counts = ", ".join(f"{count} {state}" for state, count in sorted(view.counts.items()))
    head = f"{ink('bold', record.name)}: {count(len(record.members), 'run')}, {counts}"
    if record.seed is not None:
        head += f"; chosen from {record.of} with seed {record.seed}"
    lines = [head, *(ink("yellow", line) for line in wrap(view.notice, 0)), ""]
    lines += table(_columns(view, ink), [_cells(row, view) for row in view.members], ink)
    best = view.members[0]
    if view.metric and best.best is not None:
        chosen = " ".join(f"{name}={best.params[name]}" for name in record.parameters)
        lines += ["", f"best {view.metric}: {number(best.best)} with {chosen} ({best.run})"]
        lines += [ink("dim", f"judge its curves with: outlast evaluate {best.run}")]
    return lines


def _columns(view: SweepView, ink: Ink) -> list[Column]:
    metric = view.metric or "best"
    return [
        *(Column(name, right=True) for name in view.record.parameters),
        Column(f"best {view.metric}" if view.metric else "best", right=True, paint=lambda text: ink("bold", text)),
        Column("at", right=True),
        Column(f"last {metric}" if view.metric else "last", right=True),
        Column("epoch", right=True),
        Column("state", paint=ink.state),
        Column("time", right=True),
        Column("run", paint=lambda text: ink("dim", text)),
        Column("message", flexible=True, paint=lambda text: ink("dim", text)),
    ]


def _cells(row: MemberRow, view: SweepView) -> list[str]:
    epoch = "" if row.epoch is None else f"{row.epoch:g}" + (f"/{row.epochs:g}" if row.epochs else "")
    return [
        *(row.params.get(name, "") for name in view.record.parameters),
        number(row.best) if row.best is not None else "",
        f"{row.best_epoch:g}" if row.best_epoch is not None else "",
        number(row.last) if row.last is not None else "",
        epoch,
        str(row.state or "removed"),
        format_duration(row.time_s) if row.time_s else "",
        row.run,
        row.message if row.state in (RunState.FAILED, RunState.STOPPED, RunState.QUEUED) else "",
    ]


def watch_sweep(client: Client, name: str, target: TextIO) -> int:
    """Follow a sweep to its end, print its table and return the exit code. Ctrl-C once leaves it going."""
    told = _Told(target)
    stopping = False
    with Interrupts() as interrupts:
        while True:
            views = client.sweeps.runs(name)
            told.update(views)
            if all(view.state.is_final for view in views):
                break
            if not interrupts.wait(TICK_S):
                continue
            told.pause()
            if stopping:
                print(f"left while it stops; see: outlast sweep show {name}", file=target)
                return INTERRUPTED_EXIT_CODE
            if not _wants_to_stop(name, interrupts, target):
                return 0
            client.sweeps.stop(name)
            stopping = True
            print("stopping: the scripts may save first; Ctrl-C again leaves at once", file=target, flush=True)
    told.pause()
    view = client.sweeps.get(name)
    print("\n".join(["", *table_lines(view, Ink(target))]), file=target, flush=True)
    if stopping:
        return INTERRUPTED_EXIT_CODE
    return 0 if all(row.early or row.state in (RunState.SUCCEEDED, None) for row in view.members) else 1


def _wants_to_stop(name: str, interrupts: Interrupts, target: TextIO) -> bool:
    print(
        f"\nthe sweep goes on; come back with: outlast sweep show {name}, stop it with: outlast sweep stop {name}\n"
        f"(Ctrl-C again within {SECOND_CHANCE_S:g} s stops it now)",
        file=target,
        flush=True,
    )
    return interrupts.wait(SECOND_CHANCE_S)


class _Told:
    """One line for each member that starts or ends; on a terminal one more that counts and moves."""

    def __init__(self, target: TextIO) -> None:
        self._target = target
        self._ink = Ink(target)
        self._states: dict[str, RunState] = {}
        self._began = time.monotonic()

    def update(self, views: Sequence[RunView]) -> None:
        self.pause()
        for view in views:
            before = self._states.get(view.id, RunState.QUEUED)
            if view.state is not before:
                self._states[view.id] = view.state
                print(clip(self._line(view), terminal_width()), file=self._target, flush=True)
        if self._ink.can_move:
            counts = Counter(str(view.state) for view in views)
            words = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
            text = f"{words} · {format_duration(time.monotonic() - self._began)}"
            self._target.write(self._ink("dim", clip(text, terminal_width() - 1)))
            self._target.flush()

    def pause(self) -> None:
        """Take the moving line away."""
        if self._ink.can_move:
            self._target.write("\r\x1b[2K")

    def _line(self, view: RunView) -> str:
        if not view.state.is_final:
            return f"{view.name}  {view.state}"
        metrics = " ".join(f"{name} {number(value)}" for name, value in sorted(view.metrics.items())[:4])
        why = "" if view.state is RunState.SUCCEEDED else view.message.split("\n")[0]
        return "  ".join(filter(None, (view.name, str(view.state), metrics, why)))
