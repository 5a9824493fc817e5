"""What is still to come of a run that goes on, from what its stints have shown so far. Pure: a view in, words out."""

from __future__ import annotations

import datetime
import itertools
import statistics

from outlast.inside.until import Until
from outlast.model.states import EndReason
from outlast.model.view import RunView, StintView
from outlast.operations.forecast import Forecast, Measured, forecast

#: So many of the latest stints tell how long queues, environments and starts take now.
_LATEST = 10


def run_outlook(view: RunView, now: datetime.datetime | None = None) -> Forecast | None:
    """Stints and time left of an open run; None while nothing tells how fast it is or how far it has to go."""
    unit = "epoch" if view.epoch is not None else "step"
    total = view.epochs if unit == "epoch" else view.steps
    if total is None and view.spec.get("until"):
        total = Until.parse(view.spec["until"]).bound(unit)
    ran = [stint for stint in view.stint_list if stint.ledger and stint.reason is not EndReason.REFUSED]
    if view.state.is_final or total is None or not ran:
        return None
    measured = _measure(view, unit, ran[-_LATEST:])
    found = forecast(measured, limit_s=ran[-1].limit_s, total=total, done=_saved(view, unit), now=now)
    return found if found.stints is not None or not found.possible else None


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
    useful_s = view.ledger.get("useful", 0.0)
    return useful_s / done if done and useful_s else None


def _saved(view: RunView, unit: str) -> float:
    places = [point.progress.get(unit) for point in view.checkpoints]
    known = [float(place) for place in places if place is not None]
    return known[-1] if known else 0.0


def _gaps(view: RunView, unit: str) -> list[float]:
    places = [point.progress.get(unit) for point in view.checkpoints]
    known = [0.0, *(float(place) for place in places if place is not None)]
    return [after - before for before, after in itertools.pairwise(known) if after > before]
