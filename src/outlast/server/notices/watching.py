"""Finding what happened since the last look, in the index of runs. Nothing is missed while no server runs."""

from __future__ import annotations

import contextlib
import datetime
import time
from collections.abc import Callable, Sequence

from outlast.inside.records import now_text
from outlast.keeper.index import Index
from outlast.server.accounts.book import Accounts
from outlast.server.notices.channels import Channel
from outlast.server.notices.deliveries import Deliveries
from outlast.server.notices.events import Happened, event_of

_FACT = "notices_read_at"
#: Runs say themselves when they changed, by the clocks of borrowed machines: so wrong one may be.
_OVERLAP = datetime.timedelta(days=1)
#: How often the time of the last look is written down; looks happen every few seconds.
_NOTE_S = 60.0
#: Trouble that passes sooner is nobody's business.
PATIENCE_S = 60.0


class Watcher:
    """Looks through the runs that changed lately and makes a row for each message that is due."""

    def __init__(
        self, open_index: Callable[[], Index], accounts: Accounts, deliveries: Deliveries, *,
        patience_s: float = PATIENCE_S, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._open_index = open_index
        self._accounts = accounts
        self._deliveries = deliveries
        self._patience_s = patience_s
        self._clock = clock
        self._noted_at = float("-inf")
        self._troubled: dict[tuple[str, str], float] = {}  # since when we know

    def look(self, channels: Sequence[Channel]) -> int:
        """How many messages became due. An event that a channel did not choose is remembered as not to be told."""
        began = now_text()
        happened = self._lasting(self._happened({channel.user for channel in channels}))
        due = 0
        for channel in channels:
            mine = [(each, each.event in channel.events) for each in happened if each.user == channel.user]
            due += self._deliveries.add(channel.id, mine)
        if self._clock() - self._noted_at >= _NOTE_S:
            self._noted_at = self._clock()
            self._accounts.note(_FACT, began)
        return due

    def begin(self, channel_id: str, user: str) -> None:
        """Before a channel is made: whatever has ended by now is not told to it."""
        if self._accounts.fact(_FACT) is None:
            self._accounts.note(_FACT, now_text())
        ended = [each for each in self._happened({user}) if not _is_trouble(each)]
        self._deliveries.add(channel_id, [(each, False) for each in ended])

    def _happened(self, users: set[str]) -> list[Happened]:
        read_at = datetime.datetime.fromisoformat(self._accounts.fact(_FACT) or now_text())
        since = (read_at - _OVERLAP).strftime("%Y-%m-%dT%H:%M:%S")
        with contextlib.closing(self._open_index()) as index:
            rows = index.changed_since(since, users)
        return [each for each in map(event_of, rows) if each is not None]

    def _lasting(self, happened: list[Happened]) -> list[Happened]:
        """Without trouble that began just now."""
        now = self._clock()
        known = {(each.run, each.key) for each in happened if _is_trouble(each)}
        self._troubled = {key: self._troubled.get(key, now) for key in known}
        return [
            each for each in happened
            if not _is_trouble(each) or now - self._troubled[each.run, each.key] >= self._patience_s
        ]  # fmt: skip


def _is_trouble(happened: Happened) -> bool:
    return happened.key.startswith("trouble-")
