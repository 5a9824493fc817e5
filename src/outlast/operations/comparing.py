"""Runs side by side: what was different, and what came of it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.errors import UsageError
from outlast.inside.better import direction
from outlast.model.parameters import run_parameters
from outlast.model.states import RunState
from outlast.operations.chart import run_labels
from outlast.operations.faults import spoken
from outlast.operations.locate import Located, locate
from outlast.operations.packs import differing_files, pack_digests
from outlast.operations.parameters import run_conditions
from outlast.operations.points import read_metrics
from outlast.operations.runs import show_run
from outlast.settings import Settings
from outlast.track.series import best_metrics, final_metrics

#: Enough that the best and the last value are among them.
_MOST_POINTS = 16


@dataclass(frozen=True)
class ComparedRun:
    """One run of a comparison."""

    run: str
    name: str
    label: str  # what tells it from the others
    state: RunState
    stints: int
    duration_s: float  # on machines; without the time in queues
    useful_fraction: float | None
    code: str  # digest of the pack
    code_differs: list[str] | None  # files that differ from the first run's; None: they could not be compared
    params: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    final: dict[str, float] = field(default_factory=dict)
    best: dict[str, tuple[float, float | None]] = field(default_factory=dict)  # value and epoch


@dataclass(frozen=True)
class Comparison:
    """Some runs, and what can be said of all of them together."""

    rows: tuple[ComparedRun, ...]

    def differing(self, part: str) -> list[str]:
        """Names of `params` or `conditions` that are not the same in all runs."""
        mine: list[Mapping[str, str]] = [getattr(row, part) for row in self.rows]
        names = sorted({name for each in mine for name in each})
        return [name for name in names if len({each.get(name) for each in mine}) > 1]

    def names(self, part: str) -> list[str]:
        """Every name in `params`, `conditions`, `final` or `best`."""
        return sorted({name for row in self.rows for name in getattr(row, part)})

    def winners(self, metric: str) -> set[str]:
        """The runs whose best value of this metric is the best of all; none when all are the same or there is one."""
        sign = direction(metric)
        values = {row.run: sign * row.best[metric][0] for row in self.rows if metric in row.best}
        if not sign or len(set(values.values())) < 2:
            return set()
        top = max(values.values())
        return {run for run, value in values.items() if value == top}


def compare_runs(settings: Settings, refs: Sequence[str], *, sort: str | None = None) -> Comparison:
    """Everything that tells some runs apart; in the order they were named, or the best of a metric first."""
    found = {one.run: one for one in (locate(settings, ref) for ref in refs)}
    views = {run: show_run(settings, run) for run in found}
    labels = run_labels({run: view.spec for run, view in views.items()})
    codes = {run: str((view.spec.get("code") or {}).get("sha256", "")) for run, view in views.items()}
    differ = _code_differences(found, {run: view.spec for run, view in views.items()})
    rows = []
    for run, view in views.items():
        with spoken(f"metrics of {run}"):
            series = read_metrics(settings, found[run], _MOST_POINTS)
        rows.append(
            ComparedRun(
                run=run,
                name=view.name,
                label=labels[run],
                state=view.state,
                stints=view.stints,
                duration_s=sum(seconds for column, seconds in view.ledger.items() if column != "queued"),
                useful_fraction=view.useful_fraction,
                code=codes[run],
                code_differs=differ[run],
                params=run_parameters(view.spec),
                conditions=run_conditions(view.spec),
                final=final_metrics(series),
                best=best_metrics(series),
            )
        )
    return Comparison(tuple(rows if sort is None else _sorted(rows, sort)))


def _sorted(rows: list[ComparedRun], metric: str) -> list[ComparedRun]:
    """The best first; runs without the metric, or with nothing but nan, last."""
    names = sorted({name for row in rows for name in row.final})
    if metric not in names:
        near = difflib.get_close_matches(metric, names, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"no metric {metric!r}{guess}", hint=f"there are: {', '.join(names) or 'none'}")
    sign = direction(metric) or -1

    def key(row: ComparedRun) -> float:
        value = row.best[metric][0] if metric in row.best else row.final.get(metric, math.nan)
        return math.inf if math.isnan(value) else -sign * value

    return sorted(rows, key=key)


def _code_differences(
    found: Mapping[str, Located], specs: Mapping[str, Mapping[str, Any]]
) -> dict[str, list[str] | None]:
    """For each run, the files of its code that differ from the first run's. Equal packs are not even fetched."""
    first = next(iter(found))
    digest = (specs[first].get("code") or {}).get("sha256")
    base: dict[str, str] | None = None
    differ: dict[str, list[str] | None] = {}
    for run, one in found.items():
        if (specs[run].get("code") or {}).get("sha256") == digest:
            differ[run] = []
            continue
        with spoken(f"code of {run}"):
            base = base or pack_digests(found[first].store, specs[first])
            other = pack_digests(one.store, specs[run])
        differ[run] = None if base is None or other is None else differing_files(base, other)
    return differ
