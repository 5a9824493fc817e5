"""The platforms of one keeper: asked without waiting, left alone when they refuse, within what they allow."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from outlast.errors import OutlastError, SpecError, Unavailable
from outlast.keeper.asking import Line, open_line
from outlast.keeper.breakers import Breakers
from outlast.keeper.severed import Severed
from outlast.model.quantities import parse_duration
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.allowance import Allowance, used_s
from outlast.platforms.base import Job, Platform
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.relay import PlaceSeen

#: What all runs have used is added up anew after so long.
_USES_S = 10.0
#: A platform that cannot even be set up (signed out, a package missing) is tried again after so long.
_UNUSABLE_S = 60.0

Uses = Iterable[Mapping[str, Any]]


class Platforms:
    """Lines to platforms by name, each opened once, and what stands against asking them.

    `uses` gives the `used_s` of every run of the home; `wake` is called when a platform far away has answered.
    """

    def __init__(
        self,
        settings: Settings,
        create: Callable[[str], Platform],
        *,
        uses: Callable[[], Uses] = tuple,
        wake: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._create = create
        self._read_uses = uses
        self._wake = wake
        self._clock = clock
        self._now = now
        self._accounts = Accounts(settings.home)
        self._lines: dict[str, Line] = {}
        self._severed: dict[str, Line] = {}
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._uses: tuple[float, list[Mapping[str, Any]]] | None = None
        self.breakers = Breakers(settings.home, settings.refusal_wait_s, now)

    def line(self, name: str) -> Line:
        """The line to a platform; a new one after somebody has logged in anew, since its keys may differ."""
        stamp = None if name == "local" else self._accounts_stamp()
        known = self._lines.get(name)
        if known is None or (known.platform.fields and self._stamps[name] != stamp):
            fresh = open_line(name, self._create(name), self.breakers, self._wake, self._clock)
            if known is not None:
                known.close()
            self._lines[name], self._stamps[name] = fresh, stamp
        return self._lines[name]

    def reach(self, name: str) -> Line:
        """The same for a stint that went there already: a platform that cannot be used any more refuses everything."""
        try:
            line = self.line(name)
        except OutlastError as error:
            if name not in self._severed:
                self._severed[name] = Line(name, Severed(name, error), self.breakers, self._clock)
            return self._severed[name]
        self._severed.pop(name, None)
        return line

    def is_severed(self, name: str) -> bool:
        """Whether it could not be used any more when it was reached for last: nothing will be heard of its jobs."""
        return name in self._severed

    def poll(self, wanted: Mapping[str, Sequence[str]]) -> dict[str, Job]:
        """The jobs of several platforms, as far as anything is known of them."""
        jobs: dict[str, Job] = {}
        for name, names in wanted.items():
            jobs.update(self.reach(name).poll(names))
        return jobs

    def places(self, names: Iterable[str]) -> list[PlaceSeen]:
        """What stands against sending a stint to each of these."""
        return [self._place(name) for name in names]

    def limit_s(self, name: str, asked_s: float | None) -> float | None:
        """The time limit of a stint there: the shortest of the user's, the platform's and the account's."""
        own = self._values(name).get("limit", "")
        limits = [asked_s, self.line(name).platform.limit_s, parse_duration(own) if own else None]
        return min((limit for limit in limits if limit is not None), default=None)

    def mirror(self, name: str, store: str) -> str:
        """Where a stint there finds its run folder when it cannot reach `store`; empty when it can."""
        platform = self.line(name).platform
        return "" if platform.sees(store) else platform.store or self._values(name).get("store", "")

    def queue_patience_s(self, name: str, usual_s: float) -> float:
        """How long a stint may wait in its queue while another platform could be asked."""
        own = self._values(name).get("queue_patience", "")
        return parse_duration(own) if own else usual_s

    def refused(self, name: str, error: Unavailable) -> None:
        """It took no stint: leave it alone for a while."""
        self.breakers.note(name, error)

    def wake_fds(self) -> list[int]:
        """Descriptors that become readable when a job may have ended."""
        return [handle for line in self._lines.values() for handle in line.platform.wake_fds()]

    def close(self) -> None:
        for line in self._lines.values():
            line.close()

    def _place(self, name: str) -> PlaceSeen:
        from outlast.relay import PlaceSeen  # here: whoever only submits a run need not load the relay

        moment = self._now()
        breaker = self.breakers.get(name)
        try:
            self.line(name)
            allowance = Allowance.of(self._values(name))
        except OutlastError as error:
            return PlaceSeen(name, closed_s=_UNUSABLE_S, trouble=f"cannot be used: {error.message}")
        place = PlaceSeen(name)
        if breaker is not None:
            place = PlaceSeen(name, breaker.closed_s(moment), breaker.words(moment))
        if allowance is None:
            return place
        now = datetime.datetime.fromtimestamp(moment, datetime.UTC)
        if not allowance.is_spent(used_s(self._all_uses(), name, allowance.begins(now.date()))):
            return place
        return PlaceSeen(name, place.closed_s, place.trouble, allowance.words, allowance.renews_s(now))

    def _accounts_stamp(self) -> tuple[int, int] | None:
        try:
            found = self._accounts.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    def _values(self, name: str) -> Mapping[str, str]:
        account: Account | None = None if name == "local" else self._accounts.get(name)
        return account.values if account is not None else {}

    def _all_uses(self) -> list[Mapping[str, Any]]:
        now = self._clock()
        if self._uses is None or now - self._uses[0] >= _USES_S:
            self._uses = (now, list(self._read_uses()))
        return self._uses[1]


def check_values(values: Mapping[str, str]) -> None:
    """Refuse what no account of any platform may say: `SpecError` names the value and its form."""
    Allowance.of(values)
    for name in ("limit", "queue_patience"):
        text = values.get(name, "")
        try:
            seconds = parse_duration(text) if text else 1.0
        except ValueError:
            seconds = 0.0
        if seconds <= 0:
            raise SpecError(f"{name} {text!r} is not a duration", hint="write it like 90s, 15m, 1h30m or 2d")
