"""How long an account may be used: `10 h per week`, as the user wrote it down at `outlast login`. Pure.

Weeks begin on Monday, and days are those of UTC: what a stint used counts for the day it was ordered on.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from outlast.errors import SpecError

PERIODS = ("day", "week", "month")
#: Not worth a stint any more: a tenth of the allowance, five minutes at most.
_REST_S = 300.0


@dataclass(frozen=True)
class Allowance:
    """So many hours in each period; without a period, in all."""

    limit_s: float
    per: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Allowance | None:
        """The allowance that an account's values speak of; `SpecError` when they are no allowance."""
        hours, per = values.get("hours", "").strip(), values.get("per", "").strip()
        if per and per not in PERIODS:
            raise SpecError(f"per {per!r} is not a period", hint="write day, week or month, or leave it empty")
        if not hours:
            return None
        try:
            limit_s = float(hours) * 3600
        except ValueError:
            limit_s = -1.0
        if not 0 < limit_s < float("inf"):
            raise SpecError(f"hours {hours!r} is not a number of hours", hint="write it like 10 or 0.5")
        return cls(limit_s, per)

    @property
    def words(self) -> str:
        """`10 h of this week`."""
        part = {"day": " of today", "week": " of this week", "month": " of this month"}.get(self.per, "")
        return f"{self.limit_s / 3600:g} h{part}"

    def begins(self, today: datetime.date) -> datetime.date:
        """The first day of the period that a day belongs to."""
        if self.per == "week":
            return today - datetime.timedelta(days=today.weekday())
        return {"day": today, "month": today.replace(day=1)}.get(self.per, datetime.date.min)

    def renews_s(self, now: datetime.datetime) -> float | None:
        """Seconds until the next period; None when there is none."""
        first = self.begins(now.date())
        if self.per == "month":
            after = (first + datetime.timedelta(days=32)).replace(day=1)
        elif self.per:
            after = first + datetime.timedelta(days={"day": 1, "week": 7}[self.per])
        else:
            return None
        return (datetime.datetime.combine(after, datetime.time(), now.tzinfo) - now).total_seconds()

    def is_spent(self, used_s: float) -> bool:
        return self.limit_s - used_s < min(_REST_S, self.limit_s / 10)


def used_s(uses: Iterable[Mapping[str, Any]], name: str, since: datetime.date) -> float:
    """Seconds on a platform since a day, from the `used_s` of runs: platform → day → seconds."""
    first = since.isoformat()
    return sum(float(seconds) for use in uses for day, seconds in use.get(name, {}).items() if day >= first)
