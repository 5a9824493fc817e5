"""The standard evaluation of a run: best and last values, how fast they came, what went wrong, where time went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from outlast.inside.better import direction
from outlast.track.evaluation.curve import Curve, Spot, make_curves
from outlast.track.evaluation.roles import most_telling
from outlast.track.evaluation.signs import Finding, find_signs, of_time
from outlast.track.evaluation.timing import EpochTime, epoch_time
from outlast.track.series import Series

_LONG_S = 60.0


@dataclass(frozen=True)
class MetricSummary:
    """One metric in numbers. The `to_` spots are where that part of the whole improvement was reached."""

    name: str
    sign: int
    points: int
    first: Spot
    best: Spot
    last: Spot
    gain: float  # of the smooth curve, from its beginning to its best
    noise: float
    to_90: Spot | None  # None when there was no improvement
    to_99: Spot | None


@dataclass(frozen=True)
class Evaluation:
    """Everything that the curves of one run say."""

    metrics: dict[str, MetricSummary]
    main: str | None  # the most telling metric
    findings: list[Finding]
    epoch_time: EpochTime | None
    useful_fraction: float | None


def evaluate(
    series: Mapping[str, Series], useful_fraction: float | None = None, signs: Mapping[str, int] | None = None
) -> Evaluation:
    """Evaluate every metric whose name says what is good, or those of `signs` in its order."""
    chosen = dict(signs) if signs else {name: sign for name in series if (sign := direction(name))}
    curves = make_curves(series, chosen)
    times = epoch_time(series.values())
    metrics = {name: _summary(curve) for name, curve in curves.items() if curve.finite}
    return Evaluation(
        metrics=metrics,
        main=next(iter(metrics), None) if signs else most_telling({name: one.sign for name, one in metrics.items()}),
        findings=[*find_signs(curves), *of_time(times, useful_fraction if _is_long(metrics) else None)],
        epoch_time=times,
        useful_fraction=useful_fraction,
    )


def _is_long(metrics: Mapping[str, MetricSummary]) -> bool:
    """In a training of seconds the start-up always weighs most; that is no finding."""
    return any(summary.last.time_s >= _LONG_S for summary in metrics.values())


def _summary(curve: Curve) -> MetricSummary:
    improved = curve.gain > 0
    return MetricSummary(
        name=curve.name,
        sign=curve.sign,
        points=len(curve.spots),
        first=curve.spots[0],
        best=curve.best,
        last=curve.spots[-1],
        gain=curve.gain,
        noise=curve.noise,
        to_90=curve.first_at(0.9) if improved else None,
        to_99=curve.first_at(0.99) if improved else None,
    )
