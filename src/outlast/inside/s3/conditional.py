"""Writing a key only if it is not there, on stores that can refuse and on those that cannot.

Most stores refuse to overwrite when they are asked with `If-None-Match: *`; the first use finds out by trying. A store
that ignores the header has no step that exactly one of several writers passes. There the store's own clock decides:
every writer leaves a candidate of its own beside the key, waits until the second in which it was stored is over for
good, and then all of them see the same list. The oldest candidate wins. It holds the bytes themselves, so whoever
finds it unwritten (its writer was killed in between) writes the key in its name.
"""

from __future__ import annotations

import calendar
import secrets
import time
from email.utils import parsedate
from typing import Callable, Iterable, List, Optional, Sequence, Tuple

from ..errors import PlaceError
from ..move.base import Item
from ..net.drive import finish
from .client import S3Client

_FOLDER = ".outlast-claims/"
#: Stores show times in whole seconds, and the clocks of their nodes may differ a little.
_SETTLE_S = 3.0
_LONGEST_WAIT_S = 60.0


class Claims:
    """`put_if_absent` in one bucket, below one prefix."""

    def __init__(self, client: S3Client, prefix: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._folder = prefix + _FOLDER
        self._conditional = client.access.conditional
        self._sleep = sleep

    def is_ours(self, key: str) -> bool:
        """Whether a key is a candidate and no object of the store's user."""
        return key.startswith(self._folder)

    @property
    def conditional(self) -> bool:
        """Whether this store refuses to overwrite when asked. Tried once: a key is written twice."""
        if self._conditional is None:
            probe = self._folder + "probe-" + secrets.token_hex(8)
            self._client.put(probe, b"1", if_absent=True)
            self._conditional = not self._client.put(probe, b"2", if_absent=True)
            self._client.delete([probe])
        return self._conditional

    def put(self, key: str, data: bytes) -> bool:
        """Write a key that does not exist yet; True for exactly one of any number of writers."""
        if self.conditional:
            return self._client.put(key, data, if_absent=True)
        if self._client.head(key) is not None:
            return False
        return self._settle(key, data)

    def forget(self, keys: Sequence[str]) -> None:
        """Let go of what decided about these keys: they were removed and may be written anew."""
        if self.conditional:
            return
        wanted = {self._folder + key for key in keys}
        prefix = self._folder if len(wanted) > 1 else wanted.pop() + "/"
        found = [item.path for item in self._client.list(prefix)]
        self._client.delete([path for path in found if not wanted or path.rpartition("/")[0] in wanted])

    def _settle(self, key: str, data: bytes) -> bool:
        place = self._folder + key + "/"
        mine = place + secrets.token_hex(16)
        self._client.put(mine, data)
        self._wait_for_the_second_to_end(mine)
        candidates = _in_order(self._client.list(place))
        if not candidates:
            raise PlaceError("what was put into %s a moment ago is not listed there" % self._client.url)
        winner = candidates[0][1]
        # The winner's candidate stays: it is what tells a writer who comes later that the key is taken.
        if winner != mine:
            self._client.delete([mine])
            data = self._client.get(winner)
        if self._client.head(key) is None:
            self._client.put(key, data)
        return winner == mine

    def _wait_for_the_second_to_end(self, mine: str) -> None:
        """Wait until nobody can be given the second in which our candidate was stored."""
        ended_at = time.monotonic() + _LONGEST_WAIT_S
        while time.monotonic() < ended_at:
            answer = finish(self._client.server.call("HEAD", mine))
            stored = _seconds(answer.head.header("last-modified"))
            now = _seconds(answer.head.header("date"))
            if stored is None or now is None:
                raise PlaceError("the store of %s tells no time, so nothing can be claimed there" % self._client.url)
            if now - stored >= _SETTLE_S:
                return
            self._sleep(_SETTLE_S - (now - stored))
        raise PlaceError("the clock of %s stands still" % self._client.url)


def _seconds(text: str) -> Optional[int]:
    parsed = parsedate(text)
    return calendar.timegm(parsed) if parsed else None


def _in_order(items: Iterable[Item]) -> List[Tuple[int, str]]:
    return sorted((item.modified_ns // 10**9, item.path) for item in items)
