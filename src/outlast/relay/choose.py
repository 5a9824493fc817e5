"""Which platform the next stint goes to, from what is known of each of the user's list. Pure, like all of the relay.

The list is an order of preference: the first one that can be asked is chosen, and the first choice again as soon as
it can be asked. A platform is passed over while it shall be left alone (it refused before) and while its allowance is
used up. When none is left, the run waits until the first of them can be asked again; it never gives up for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: How the reason begins when no platform can be asked.
WAITS = "waits for a platform: "
#: The reason that needs no explaining.
FIRST_CHOICE = "first choice"


@dataclass(frozen=True, slots=True)
class PlaceSeen:
    """What is known of one platform of the list."""

    name: str
    closed_s: float = 0.0  # it shall not be asked for so long
    trouble: str = ""  # why, in words that follow its name: "is full: no V100 is free", "has been down for 3 min"
    spent: str = ""  # its allowance, once it is used up: "10 h of this week"
    renews_s: float | None = None  # until that allowance is given anew; None: it is not

    @property
    def is_open(self) -> bool:
        return self.closed_s <= 0 and not self.spent

    @property
    def words(self) -> str:
        """Why it is passed over."""
        return f"{self.name}'s {self.spent} are used up" if self.spent else f"{self.name} {self.trouble}".strip()

    @property
    def open_in_s(self) -> float:
        """Until it can be asked again, as far as time alone brings that about."""
        if self.spent and self.renews_s is None:
            return math.inf
        return max(0.0, self.closed_s, (self.renews_s or 0.0) if self.spent else 0.0)


@dataclass(frozen=True, slots=True)
class Choice:
    """A platform and why it is that one; or none, why, and how long to wait (None: until somebody acts)."""

    platform: str = ""
    why: str = ""  # empty: there was no choice
    wait_s: float | None = 0.0


def choose(places: Sequence[PlaceSeen], last: str = "", failed: str = "") -> Choice:
    """Choose for the next stint of a run.

    `last` is the platform of its last stint that got a machine; `failed` says, in words that follow that name, how
    that stint came to nothing there: then the others of the list get their turn first, in a circle.
    """
    names = [place.name for place in places]
    failed = failed if last in names else ""
    start = names.index(last) + 1 if failed else 0
    for at, place in enumerate(turned := [*places[start:], *places[:start]]):
        if place.is_open:
            return Choice(place.name, _why(places, turned[:at], place, last, failed))
    wait_s = min((place.open_in_s for place in places), default=math.inf)
    words = "; ".join(place.words for place in places)
    return Choice("", f"{WAITS}{words}", wait_s if math.isfinite(wait_s) else None)


def elsewhere(places: Sequence[PlaceSeen], name: str) -> str:
    """Another platform of the list that could be asked now; empty when there is none."""
    return next((place.name for place in places if place.is_open and place.name != name), "")


def _why(places: Sequence[PlaceSeen], passed: Sequence[PlaceSeen], place: PlaceSeen, last: str, failed: str) -> str:
    if len(places) == 1:
        return ""
    if failed and place.name != last:
        return "; ".join([f"{last} {failed}", *(other.words for other in passed)])
    if place.name == places[0].name:
        return f"back to {place.name}, the first choice" if last not in ("", place.name) else FIRST_CHOICE
    return "; ".join(other.words for other in places if not other.is_open and other.name != place.name)
