"""From one measured stint to the whole chain: how many stints, how long, done when, how much of it lost. Pure."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

from outlast.model.quantities import format_duration

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """What a short stint showed. Seconds; a `unit` is an epoch or a step, whichever the script counts."""

    unit: str = "epoch"
    unit_s: float | None = None  # None: neither epochs nor steps were recognised
    interval: float | None = None  # units between two checkpoints; None: none was seen
    save_s: float = 0.0  # the training stands still for so long at each save
    commit_s: float = 0.0  # from a save to its commit; passes beside the training, except for the last one
    queued_s: float = 0.0  # waiting for a machine
    fetching_s: float = 0.0
    environment_first_s: float = 0.0  # until the environment is cached
    environment_s: float = 0.0  # afterwards
    restoring_s: float = 0.0  # not in the first stint
    starting_s: float = 0.0  # the script's own imports

    def startup_s(self, *, first: bool) -> float:
        """Machine time before the script trains."""
        if first:
            return self.fetching_s + self.environment_first_s + self.starting_s
        return self.fetching_s + self.environment_s + self.restoring_s + self.starting_s


@dataclass(frozen=True)
class Forecast:
    """What to expect. Numbers are None when the measurement cannot tell; the sentence then says what is missing."""

    sentence: str
    possible: bool = True  # False: the chain would never end as it is
    stints: int | None = None
    total_s: float | None = None  # from now to the result, queueing included
    useful_fraction: float | None = None  # of machine time, as in the ledger
    done_at: datetime.datetime | None = None
    units_per_stint: float | None = None  # of a stint that is neither the first nor the last
    unit: str = ""  # epoch or step

    @property
    def lost_fraction(self) -> float | None:
        return None if self.useful_fraction is None else 1.0 - self.useful_fraction


@dataclass(frozen=True)
class _Leg:
    """What one stint does at most within the limit."""

    units: float
    saves: int


def forecast(
    measured: Measured,
    *,
    limit_s: float | None,
    total: float | None,
    done: float = 0.0,
    now: datetime.datetime | None = None,
    margin_s: float = 1.0,
) -> Forecast:
    """Forecast the rest of a training of `total` units of which `done` are saved.

    Every stint is assumed to end at a checkpoint, as planned hand-overs do; machines that are taken away early are
    not foreseen. `margin_s` is what the runner keeps free before the deadline.
    """
    moment = now or datetime.datetime.now()
    if measured.unit_s is None or measured.unit_s <= 0:
        return Forecast(
            "no epoch or step was recognised in the output: print lines like 'epoch 3/40 loss 0.41', or use "
            "outlast.epochs in the script"
        )
    later = _leg(measured, limit_s, margin_s, first=False)
    first = _leg(measured, limit_s, margin_s, first=done <= 0)
    if total is None:
        return _without_total(measured, limit_s, later)
    left = max(0.0, total - done)
    if _fits(measured, left, limit_s, margin_s, fresh=done <= 0):
        first = _Leg(left, first.saves)
    elif min(first.units, later.units) <= 0:
        startup_s = measured.startup_s(first=first.units <= 0 and done <= 0)
        return Forecast(_too_short(measured, limit_s, left, startup_s), possible=False, units_per_stint=0.0)
    return _chain(measured, left, first, later, moment, fresh=done <= 0)


def _fits(measured: Measured, left: float, limit_s: float | None, margin_s: float, *, fresh: bool) -> bool:
    """Whether one stint can do it all; it needs no checkpoint then."""
    if limit_s is None:
        return True
    return _machine_s(measured, left, 1, fresh=fresh) + margin_s <= limit_s


def _machine_s(measured: Measured, left: float, stints: int, *, fresh: bool) -> float:
    startups_s = measured.startup_s(first=fresh) + (stints - 1) * measured.startup_s(first=False)
    saves = math.ceil(left / measured.interval - 1e-9) if measured.interval else 0
    return startups_s + left * (measured.unit_s or 0.0) + saves * measured.save_s + stints * measured.commit_s


def _leg(measured: Measured, limit_s: float | None, margin_s: float, *, first: bool) -> _Leg:
    unit_s = measured.unit_s or 0.0
    if limit_s is None:
        return _Leg(math.inf, 0)
    room_s = limit_s - measured.startup_s(first=first) - measured.commit_s - margin_s
    if measured.interval is None or measured.interval <= 0:
        return _Leg(0.0, 0)
    saves = math.floor(room_s / (measured.interval * unit_s + measured.save_s) + 1e-9)
    return _Leg(max(0, saves) * measured.interval, max(0, saves))


def _chain(
    measured: Measured, left: float, first: _Leg, later: _Leg, moment: datetime.datetime, *, fresh: bool
) -> Forecast:
    unit_s = measured.unit_s or 0.0
    more = math.ceil((left - first.units) / later.units - 1e-9) if left > first.units else 0
    stints = 1 + max(0, more)
    useful_s = left * unit_s
    machine_s = _machine_s(measured, left, stints, fresh=fresh)
    total_s = machine_s + stints * measured.queued_s
    done_at = moment + datetime.timedelta(seconds=total_s)
    useful = useful_s / machine_s if machine_s > 0 else 1.0
    sentence = (
        f"{stints} stint{'' if stints == 1 else 's'}, {format_duration(total_s)}, "
        f"done {_when(done_at, moment)}, {_percent(1 - useful)} lost"
    )
    per_stint = later.units if math.isfinite(later.units) else None
    return Forecast(sentence, True, stints, total_s, useful, done_at, per_stint, measured.unit)


def _without_total(measured: Measured, limit_s: float | None, later: _Leg) -> Forecast:
    unit = measured.unit
    ask = f"how many {unit}s there will be is not known; say it with --until '{unit}>=N'"
    if limit_s is None:
        rate = f"one {unit} takes {format_duration(measured.unit_s or 0.0)}"
        return Forecast(f"{rate}; {ask}")
    if later.units <= 0:
        return Forecast(
            _too_short(measured, limit_s, None, measured.startup_s(first=False)), possible=False, units_per_stint=0.0
        )
    useful_s = later.units * (measured.unit_s or 0.0)
    machine_s = useful_s + measured.startup_s(first=False) + later.saves * measured.save_s + measured.commit_s
    fraction = useful_s / machine_s
    sentence = (
        f"{later.units:g} {unit}{'' if later.units == 1 else 's'} per stint of {format_duration(limit_s)}, "
        f"{_percent(1 - fraction)} lost; {ask}"
    )
    return Forecast(sentence, useful_fraction=fraction, units_per_stint=later.units)


def _too_short(measured: Measured, limit_s: float | None, left: float | None, startup_s: float) -> str:
    unit_s, limit = measured.unit_s or 0.0, format_duration(limit_s or 0.0)
    if measured.interval is None:
        needs = "" if left is None else f" and the training needs {format_duration(left * unit_s)}"
        return (
            f"no checkpoint was seen, the limit is {limit}{needs}: the next stint would start from nothing; name the "
            "place where the script saves with --checkpoint PATH, or use outlast.save in it"
        )
    work_s = measured.interval * unit_s + measured.save_s + measured.commit_s
    what = f"{measured.interval:g} {measured.unit}s" if measured.interval != 1 else f"one {measured.unit}"
    return (
        f"{what} up to the next checkpoint takes {format_duration(work_s)}, starting {format_duration(startup_s)}, "
        f"the limit is {limit}: no stint would ever save; save more often, or give each stint longer with "
        f"--limit {_at_least(work_s + startup_s)}"
    )


def _at_least(seconds: float) -> str:
    """A limit with some air in it, as `--limit` reads it."""
    roomy_s = seconds * 1.2 + 2
    if roomy_s < 120:
        return f"{math.ceil(roomy_s)}s"
    minutes = math.ceil(roomy_s / 60)
    return f"{minutes}m" if minutes <= 120 else f"{math.ceil(minutes / 60)}h"


def _percent(fraction: float) -> str:
    value = max(0.0, fraction) * 100
    return f"{value:.1f} %" if 0 < value < 1 else f"{value:.0f} %"


def _when(moment: datetime.datetime, now: datetime.datetime) -> str:
    """`today 14:20`, `tomorrow 09:05`, `Thursday 14:20`, `3 December 14:20`."""
    clock = f"{moment:%H:%M}"
    days = (moment.date() - now.date()).days
    if days < 2:
        return f"{'tomorrow' if days == 1 else 'today'} {clock}"
    if days < 7:
        return f"{_DAYS[moment.weekday()]} {clock}"
    year = f" {moment.year}" if moment.year != now.year else ""
    return f"{moment.day} {_MONTHS[moment.month - 1]}{year} {clock}"
