"""Who was let in a moment ago, so that a busy client does not ask the database at each request."""

from __future__ import annotations

import time
from collections.abc import Callable

from outlast.server.accounts.people import Actor

#: A token that was revoked by another process works for so long here.
_LASTS_S = 1.0
_MOST = 4096


class Recent:
    """Actors by key, for a second each. Threads may share it: each step is one operation on a dict."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[float, Actor]] = {}

    def get(self, key: str) -> Actor | None:
        """The actor that `key` let in less than a second ago."""
        found = self._known.get(key)
        return found[1] if found is not None and found[0] > self._clock() else None

    def put(self, key: str, actor: Actor) -> None:
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = (self._clock() + _LASTS_S, actor)

    def clear(self) -> None:
        """Forget everybody: an account was changed."""
        self._known.clear()
