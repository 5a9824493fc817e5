"""What a new run will take, judged by an earlier run of the same script."""

from __future__ import annotations

from outlast.model.view import RunView
from outlast.operations.forecast import Forecast, Measured, forecast


def measured_by(view: RunView) -> Measured:
    """What the stints of a run showed on average."""
    unit = "epoch" if view.epoch else "step"
    done = view.epoch or view.step
    stints = max(1, view.stints)
    ledger = view.ledger
    places = [each.progress.get(unit) for each in view.checkpoints]
    known = [float(place) for place in places if place is not None]
    gaps = [after - before for before, after in zip([0.0, *known], known, strict=False) if after > before]
    environment_s = ledger.get("environment", 0.0) / stints
    return Measured(
        unit=unit,
        unit_s=ledger.get("useful", 0.0) / done if done else None,
        interval=max(gaps) if gaps else None,
        save_s=ledger.get("saving", 0.0) / max(1, len(known)),
        queued_s=ledger.get("queued", 0.0) / stints,
        fetching_s=ledger.get("fetching", 0.0) / stints,
        environment_first_s=environment_s,
        environment_s=environment_s,
        restoring_s=ledger.get("restoring", 0.0) / max(1, stints - 1),
        starting_s=ledger.get("starting", 0.0) / stints,
    )


def forecast_like(view: RunView, limit_s: float | None, until: str | None) -> Forecast:
    """The forecast of a run with this limit that trains as long as `until` says, or as long as the earlier one did."""
    from outlast.inside.until import Until

    measured = measured_by(view)
    bound = Until.parse(until).bound(measured.unit) if until else None
    usual = view.epochs if measured.unit == "epoch" else view.steps
    done = view.epoch if measured.unit == "epoch" else view.step
    return forecast(measured, limit_s=limit_s, total=bound or usual or done)
