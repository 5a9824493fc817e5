"""A sweep as one table: parameters beside what came of them, the best first."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from outlast.inside.better import direction
from outlast.inside.errors import InsideError
from outlast.inside.stores.base import Store
from outlast.model.states import RunState
from outlast.model.sweep import SweepRecord
from outlast.model.view import RunView
from outlast.operations.listing import list_runs
from outlast.operations.sweeps import find_sweep, is_early
from outlast.settings import Settings
from outlast.track.evaluation.roles import most_telling
from outlast.track.ledger import read_facts, run_ledger
from outlast.track.series import Series, read_series


@dataclass(frozen=True)
class MemberRow:
    """One member. `state` is None for one that was removed."""

    run: str
    name: str
    params: dict[str, str]
    state: RunState | None = None
    early: bool = False  # stopped by the sweep
    message: str = ""
    stints: int = 0
    epoch: float | None = None
    epochs: float | None = None
    best: float | None = None
    best_epoch: float | None = None
    last: float | None = None
    time_s: float = 0.0

    @property
    def is_over(self) -> bool:
        return self.state is None or self.state.is_final


@dataclass(frozen=True)
class SweepView:
    """A sweep and its members, sorted by the best value of one metric."""

    record: SweepRecord
    metric: str
    sign: int
    members: list[MemberRow]
    notice: str = ""

    @property
    def is_over(self) -> bool:
        return all(member.is_over for member in self.members)

    @property
    def counts(self) -> dict[str, int]:
        """How many members are in which state; those that were stopped early are counted apart."""
        words = ["stopped early" if member.early else str(member.state or "removed") for member in self.members]
        return dict(Counter(words))

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        body = dataclasses.asdict(self.record)
        members = [dataclasses.asdict(member) for member in self.members]
        told = {"metric": self.metric, "sign": self.sign, "notice": self.notice}
        return {**body, **told, "over": self.is_over, "counts": self.counts, "members": members}


def show_sweep(settings: Settings, name: str) -> SweepView:
    """Everything about a sweep, read from the folders of its members."""
    record, store, members = find_sweep(settings, name)
    views = {view.id: view for view in members}
    curves = {run: _series(store, run) for run in record.runs if run in views and views[run].stints}
    metric, sign = (record.metric, record.sign) if record.metric else _most_common(curves)
    rows = [_row(member, views.get(str(member["run"])), curves, metric, sign, store) for member in record.members]
    rows.sort(key=lambda row: _rank(row, sign))
    return SweepView(record, metric, sign, rows, _notice(record, curves, rows))


def list_sweeps(settings: Settings) -> list[tuple[str, dict[str, int]]]:
    """Every sweep that has a member, newest first, with its members by state."""
    found: dict[str, Counter[str]] = {}
    for view in list_runs(settings):
        if not view.sweep:
            continue
        found.setdefault(view.sweep, Counter())[str(view.state)] += 1
    return [(name, dict(counts)) for name, counts in found.items()]


def _series(store: Store, run: str) -> dict[str, Series]:
    try:
        return read_series(store, run)
    except InsideError:
        return {}


def _most_common(curves: Mapping[str, Mapping[str, Series]]) -> tuple[str, int]:
    """The most telling metric among those that most members have."""
    counts = Counter(name for one in curves.values() for name in one if direction(name))
    most = max(counts.values(), default=0)
    metric = most_telling({name: direction(name) for name, count in counts.items() if count == most})
    return (metric, direction(metric)) if metric else ("", 0)


def _row(
    member: Mapping[str, Any], view: RunView | None, curves: Mapping[str, Mapping[str, Series]], metric: str, sign: int,
    store: Store,
) -> MemberRow:  # fmt: skip
    row = MemberRow(str(member["run"]), str(member["name"]), dict(member["params"]))
    if view is None:
        return row
    series = curves.get(row.run, {}).get(metric)
    points = [point for point in series.curve if not math.isnan(point.value)] if series else []
    best = max(points, key=lambda point: sign * point.value) if points else None
    return dataclasses.replace(
        row,
        state=view.state,
        early=view.state is RunState.STOPPED and is_early(view.message),
        message=view.message.split("\n")[0],
        stints=view.stints,
        epoch=view.epoch,
        epochs=view.epochs,
        best=best.value if best else None,
        best_epoch=best.epoch if best else None,
        last=points[-1].value if points else None,
        time_s=_machine_s(store, row.run) if view.stints else 0.0,
    )


def _machine_s(store: Store, run: str) -> float:
    try:
        total = run_ledger(read_facts(store, run)).total
    except InsideError:
        return 0.0
    return sum(seconds for column, seconds in total.items() if column != "queued")


def _rank(row: MemberRow, sign: int) -> tuple[bool, float]:
    return (row.best is None, -sign * row.best if row.best is not None else 0.0)


def _notice(record: SweepRecord, curves: Mapping[str, Mapping[str, Series]], rows: list[MemberRow]) -> str:
    """A metric that nobody measures is a wrong spelling that could not be seen before."""
    if not record.metric or any(row.best is not None for row in rows):
        return ""
    names = sorted({name for one in curves.values() for name in one})
    return f"no member has measured {record.metric!r}; they measure {', '.join(names[:12])}" if names else ""
