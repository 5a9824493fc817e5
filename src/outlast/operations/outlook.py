"""What is still to come of a run that goes on, from what its stints have shown so far. Pure: a view in, words out."""

from __future__ import annotations

import datetime
import itertools
import statistics
from typing import NamedTuple

from outlast.inside.until import Until
from outlast.model.states import EndReason, RunState
from outlast.model.view import RunView, StintView
from outlast.operations.forecast import Forecast, Measured, forecast

#: So many of the latest stints tell how long queues, environments and starts take now.
_LATEST = 10


def run_outlook(view: RunView, now: datetime.datetime | None = None) -> Forecast | None:
    """Stints and time left of an open run; None while nothing tells how fast it is or how far it has to go."""
    shown = measure_run(view)
    if view.state.is_final or shown is None or shown.total is None:
        return None
    done = _saved(view, shown.measured.unit)
    found = forecast(shown.measured, limit_s=shown.limit_s, total=shown.total, done=done, now=now)
    return found if found.stints is not None or not found.possible else None


class Shown(NamedTuple):
    """What a run has shown so far."""

    measured: Measured
    total: float | None  # units that the whole training has; None: nothing says so
    limit_s: float | None  # of its newest stint


def measure_run(view: RunView) -> Shown | None:
    """How fast a run is or was, by its latest stints; None before the first one that ran."""
    unit = "epoch" if view.epoch is not None else "step"
    total = view.epochs if unit == "epoch" else view.steps
    if total is None and view.spec.get("until"):
        total = Until.parse(view.spec["until"]).bound(unit)
    ran = [stint for stint in view.stint_list if stint.ledger and stint.reason is not EndReason.REFUSED]
    if not ran:
        return None
    if total is None and view.state is RunState.SUCCEEDED:
        total = _reached(view, unit)
    return Shown(_measure(view, unit, ran[-_LATEST:]), total, ran[-1].limit_s)


def _measure(view: RunView, unit: str, stints: list[StintView]) -> Measured:
    gaps = _gaps(view, unit)
    saves = max(1, sum(point.stint in {stint.number for stint in stints} for point in view.checkpoints))

    def usual_s(*columns: str) -> float:
        return statistics.median(sum(stint.ledger.get(column, 0.0) for column in columns) for stint in stints)

    return Measured(
        unit=unit,
        unit_s=_unit_s(view, unit),
        interval=statistics.median(gaps) if gaps else None,
        save_s=sum(stint.ledger.get("saving", 0.0) for stint in stints) / saves,
        queued_s=usual_s("queued"),
        fetching_s=usual_s("fetching"),
        environment_first_s=usual_s("environment"),
        environment_s=usual_s("environment"),
        restoring_s=usual_s("restoring"),
        starting_s=usual_s("starting"),
    )


def _unit_s(view: RunView, unit: str) -> float | None:
    """Seconds for one unit: as the script goes now, or as it went so far."""
    if view.rate and view.rate_of.rstrip("s") == unit:
        return 1.0 / view.rate
    done = _saved(view, unit)
    if view.state is RunState.SUCCEEDED:  # what was trained after the last save counts too
        done = max(done, _reached(view, unit) or 0.0)
    useful_s = view.ledger.get("useful", 0.0)
    return useful_s / done if done and useful_s else None


def _reached(view: RunView, unit: str) -> float | None:
    return view.epoch if unit == "epoch" else view.step


def _saved(view: RunView, unit: str) -> float:
    places = [point.progress.get(unit) for point in view.checkpoints]
    known = [float(place) for place in places if place is not None]
    return known[-1] if known else 0.0


def _gaps(view: RunView, unit: str) -> list[float]:
    places = [point.progress.get(unit) for point in view.checkpoints]
    known = [0.0, *(float(place) for place in places if place is not None)]
    return [after - before for before, after in itertools.pairwise(known) if after > before]
