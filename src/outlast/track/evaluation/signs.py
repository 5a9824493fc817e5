"""Signs that something went well or wrong: each a sentence with its numbers, and what to do about it.

The thresholds are multiples of the curve's own noise, so that an ordinary noisy curve raises no alarm.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from outlast.model.quantities import format_duration
from outlast.track.evaluation.curve import Curve
from outlast.track.evaluation.roles import counterpart, is_validation
from outlast.track.evaluation.timing import EpochTime

Weight = Literal["problem", "warning", "note"]
WEIGHTS: tuple[Weight, ...] = ("problem", "warning", "note")

#: Fewer levels than this show no shape.
_SHORTEST = 6
#: With so few levels the noise itself is hardly known.
_FEW = 12


@dataclass(frozen=True)
class Finding:
    """One thing that the curves show."""

    kind: str
    weight: Weight
    metric: str
    sentence: str
    advice: str
    numbers: dict[str, Any] = field(default_factory=dict)


def find_signs(curves: Mapping[str, Curve]) -> list[Finding]:
    """Everything that the curves show, the gravest first."""
    found: list[Finding] = []
    for curve in curves.values():
        found += _of_values(curve)
        if len(curve.levels) >= _SHORTEST:
            found += _of_shape(curve, curves)
    return sorted(found, key=lambda finding: WEIGHTS.index(finding.weight))


def _of_values(curve: Curve) -> Iterator[Finding]:
    bad = [spot for spot in curve.spots if not spot.is_sane]
    if not bad:
        return
    first, count, total = bad[0], len(bad), len(curve.spots)
    what = "nan" if math.isnan(first.value) else "infinite"
    recovered = curve.spots[-1].is_sane
    ending = f"{count} of {total} values are not finite" + ("; it recovered" if recovered else "")
    yield Finding(
        "not-finite", "warning" if recovered else "problem", curve.name,
        f"{curve.name} became {what} at {first.where} (stint {first.stint}); {ending}",
        "lower the learning rate, clip the gradients, or look for log(0) and 0/0; go on from a checkpoint before it",
        {"first": first.where, "count": count, "of": total},
    )  # fmt: skip


def _of_shape(curve: Curve, curves: Mapping[str, Curve]) -> Iterator[Finding]:
    """At most one finding says how the curve ends; spikes and noise are told beside it."""
    bad = _overfitting(curve, curves) or _divergence(curve) or _no_gain(curve)
    ending = bad or _plateau(curve) or _unfinished(curve)
    yield from filter(None, (ending, _spike(curve), _noisy(curve)))


def _margin(curve: Curve) -> float:
    """A difference that noise alone does not make: the best of many levels is a lucky one."""
    factor = 4.0 if len(curve.levels) >= _FEW else 7.0
    return factor * curve.noise


def _fall(curve: Curve) -> float:
    """By how much the end is worse than the best; 0 while the difference may be noise, or the best is recent."""
    if curve.top > 0.85 * len(curve.smooth):
        return 0.0
    best = curve.smooth[curve.top]
    worse = [curve.sign * (best - value) for value in curve.tail()]
    fall = statistics.fmean(worse)
    steady = min(worse) > _margin(curve) / 2
    least = max(_margin(curve), 0.05 * curve.gain, 0.01 * abs(best))
    return fall if steady and fall > least else 0.0


def _overfitting(curve: Curve, curves: Mapping[str, Curve]) -> Finding | None:
    other = counterpart(curve.name, curves) if is_validation(curve.name) else None
    fall = _fall(curve)
    if other is None or not fall:
        return None
    training, turn = curves[other], curve.levels[curve.top]
    if len(training.levels) < 2:
        return None
    then, end = training.smooth_at(turn.time_s), statistics.fmean(training.tail())
    if training.sign * (end - then) <= max(training.noise, 0.02 * training.gain):
        return None
    best = curve.smooth[curve.top]
    word = "risen" if curve.sign < 0 else "fallen"
    return Finding(
        "overfitting", "warning", curve.name,
        f"{curve.name} was best at {turn.where} ({best:.4g}) and has {word} by {fall:.3g}{_percent(fall, best)} since, "
        f"while {other} went on from {then:.4g} to {end:.4g}: overfitting",
        f"use the checkpoint of {turn.where}; next time stop there, or regularise (weight decay, dropout, more data)",
        {"best": best, "at": turn.where, "by": fall, "training": other, "training_then": then, "training_end": end},
    )  # fmt: skip


def _divergence(curve: Curve) -> Finding | None:
    fall = _fall(curve)
    if not fall:
        return None
    best, first, end = curve.smooth[curve.top], curve.smooth[0], statistics.fmean(curve.tail())
    turn = curve.levels[curve.top]
    numbers = {"best": best, "at": turn.where, "by": fall, "end": end}
    if curve.sign < 0 and end > 3 * max(abs(first), abs(best)):
        return Finding(
            "explosion", "problem", curve.name,
            f"{curve.name} exploded: {best:.4g} at {turn.where}, {end:.4g} at the end",
            "lower the learning rate or warm it up, and clip the gradients; resume from a checkpoint before the turn",
            numbers,
        )  # fmt: skip
    if fall <= 0.3 * curve.gain and not is_validation(curve.name):
        return None
    word = "rises" if curve.sign < 0 else "falls"
    return Finding(
        "divergence", "warning", curve.name,
        f"{curve.name} {word} since {turn.where}: {best:.4g} there, {end:.4g} at the end{_percent(fall, best)}",
        "lower the learning rate towards the end (a schedule), and keep the checkpoint of the best epoch",
        numbers,
    )  # fmt: skip


def _no_gain(curve: Curve) -> Finding | None:
    first, end = curve.smooth[0], statistics.fmean(curve.tail())
    # Means of thirds swing less than single levels; a few times that much is no accident.
    sure = 3.0 if len(curve.levels) >= _FEW else 0.5
    accident = sure * curve.noise * math.sqrt(6 / len(curve.levels))
    # All of it may have come with the first epoch.
    jump = curve.sign * (statistics.median(curve.smooth) - first)
    if curve.trend > max(accident, 0.002 * abs(first)) or jump > max(sure * curve.noise, 0.002 * abs(first)):
        return None
    return Finding(
        "no-gain", "warning", curve.name,
        f"{curve.name} did not improve in {len(curve.levels)} epochs or readings: {first:.4g} at the beginning, "
        f"{end:.4g} at the end",
        "try a learning rate ten times larger or smaller, and check that labels and inputs belong together",
        {"first": first, "end": end},
    )  # fmt: skip


def _plateau(curve: Curve) -> Finding | None:
    """Nearly all of the improvement came early."""
    reached = curve.first_at(0.99)
    at = curve.levels.index(reached)
    rest = len(curve.levels) - 1 - at
    if rest < max(5, 0.3 * len(curve.levels)):
        return None
    return Finding(
        "plateau", "note", curve.name,
        f"{curve.name} is flat since {reached.where}: the last {rest / len(curve.levels):.0%} of the training "
        "brought less than 1 % of the improvement",
        f"stop near {reached.where} (--until), or lower the learning rate there",
        {"since": reached.where, "rest": rest},
    )  # fmt: skip


def _unfinished(curve: Curve) -> Finding | None:
    """Still clearly improving when the training ended."""
    back = max(3, len(curve.smooth) // 5)
    late = curve.sign * (curve.smooth[-1] - curve.smooth[-1 - back])
    if late <= max(2 * curve.noise, 0.05 * curve.gain):
        return None
    return Finding(
        "unfinished", "note", curve.name,
        f"{curve.name} was still improving at the end: by {late:.3g} in the last {back} epochs or readings, "
        f"{late / curve.gain:.0%} of all",
        "train longer",
        {"late": late, "back": back},
    )  # fmt: skip


def _spike(curve: Curve) -> Finding | None:
    """A level far off its neighbours on both sides, in the bad direction."""
    values = [curve.sign * spot.value for spot in curve.levels]
    if len(values) < _FEW:
        return None
    least = max(10 * curve.noise, 0.5 * curve.gain)
    depths = [
        (min(*values[at - 3 : at], *values[at + 1 : at + 4]) - values[at], at) for at in range(3, len(values) - 3)
    ]
    depth, at = max(depths)
    if depth <= least:
        return None
    spot = curve.levels[at]
    return Finding(
        "spike", "note", curve.name,
        f"{curve.name} jumped to {spot.value:.4g} at {spot.where} (stint {spot.stint}) and came back",
        "look at the batches there; clip the gradients if it happens more often",
        {"value": spot.value, "at": spot.where},
    )  # fmt: skip


def _noisy(curve: Curve) -> Finding | None:
    if len(curve.levels) < _FEW or curve.noise <= 0.25 * curve.trend or curve.trend <= 0:
        return None
    return Finding(
        "noisy", "note", curve.name,
        f"{curve.name} swings by ±{curve.noise:.3g} from epoch to epoch, {curve.noise / curve.trend:.0%} of its whole "
        "improvement",
        "use larger batches, a lower learning rate, or more data to measure it on",
        {"noise": curve.noise, "trend": curve.trend},
    )  # fmt: skip


def of_time(times: EpochTime | None, useful_fraction: float | None) -> list[Finding]:
    """What the clock shows: epochs that grow longer, and machine time without a result."""
    found: list[Finding] = []
    if times is not None and times.trend is not None and times.trend > max(0.2, times.spread):
        found.append(Finding(
            "slowing", "warning", "",
            f"epochs become slower: {format_duration(times.first_s)} at first, {format_duration(times.last_s)} at the "
            f"end (+{times.trend:.0%})",
            "look for lists that grow (losses kept with their graph), a log that is rewritten, or a hot device",
            {"first_s": times.first_s, "last_s": times.last_s},
        ))  # fmt: skip
    if useful_fraction is not None and useful_fraction < 0.7:
        found.append(Finding(
            "useful", "note", "",
            f"only {useful_fraction:.0%} of the machine time became part of the result",
            "see where the rest went with: outlast show RUN; longer stints and more frequent saves help",
            {"useful_fraction": useful_fraction},
        ))  # fmt: skip
    return found


def _percent(part: float, whole: float) -> str:
    return f" ({part / abs(whole):.0%})" if whole else ""
