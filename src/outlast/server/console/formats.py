"""Numbers, times and states as the reader's language writes them."""

from __future__ import annotations

import datetime
import math
from typing import NamedTuple

from outlast.model.quantities import format_duration
from outlast.server.console.words import language, say
from outlast.track.report.words import Words

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400


def duration(seconds: float | None) -> str:
    """`3 min 20 s`, `3 分 20 秒`; nothing when it is not known."""
    return "" if seconds is None else Words(language()).duration(format_duration(seconds))


def percent(fraction: float | None) -> str:
    return "" if fraction is None or not math.isfinite(fraction) else f"{fraction * 100:.0f} %"


def ago(moment: str) -> str:
    """How long ago an ISO time was, in its largest unit."""
    try:
        then = datetime.datetime.fromisoformat(moment)
    except ValueError:
        return ""
    passed_s = max(0.0, (datetime.datetime.now(datetime.UTC) - then).total_seconds())
    if passed_s < _MINUTE_S:
        return say("just now")
    if passed_s < _HOUR_S:
        return say("{count} min ago", count=int(passed_s // _MINUTE_S))
    if passed_s < _DAY_S:
        return say("{count} h ago", count=int(passed_s // _HOUR_S))
    return say("{count} d ago", count=int(passed_s // _DAY_S))


def when(moment: str) -> str:
    """An ISO time as people read it, in UTC."""
    return moment[:19].replace("T", " ") + (" UTC" if moment else "")


def quantity(value: float) -> str:
    """A measured number in few digits: `0.3121`, `1.2e-05`, `65536`."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.1e}" if abs(value) < 1e-3 or abs(value) >= 1e6 else f"{value:.4g}"


def condition_name(name: str) -> str:
    """What a condition of a run is called: `data mnist` is a kind and a name of the user's."""
    kind, space, own = name.partition(" ")
    return say(kind) + space + own


class Far(NamedTuple):
    """How far a training is: `epoch`, `12 / 40`, and the fraction of the way, None while the end is not known."""

    unit: str = ""
    number: str = ""
    done: float | None = None

    def __str__(self) -> str:
        return say("{unit} {count}", unit=self.unit, count=self.number) if self.number else ""


def how_far(epoch: float | None, epochs: float | None, step: int | None, steps: int | None) -> Far:
    """By epochs where they are known, by steps otherwise."""
    for text, here, end in (("epoch", epoch, epochs), ("step", step, steps)):
        if here is not None:
            return Far(say(text), f"{here:g} / {end:g}" if end else f"{here:g}", min(1.0, here / end) if end else None)
    return Far()
