"""The mirrors of one keeper: copying goes on beside its turns, in one thread for each run that needs any."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from outlast.errors import OutlastError, Unavailable
from outlast.inside.errors import AccessDenied, InsideError
from outlast.inside.records import End, Order
from outlast.inside.stores.base import Store
from outlast.keeper.mirror import Mirror
from outlast.keeper.transit import Told

log = logging.getLogger("outlast.keeper")

#: A mirror is looked at so often; over a network every so many of its `pace_s`, since a look is four requests.
PULL_S = 1.0
_REMOTE_LOOKS = 3
#: When it was not read for so long, the silence of its stint is not held against that.
_HEARD_S = 10.0
_LONGEST_TROUBLE_S = 30.0
#: A mirror that is out of reach for so long is given up, once its stint's job is gone: the run goes on elsewhere.
GIVE_UP_S = 1800.0

#: Brings inputs to a mirror that its stints cannot reach otherwise: spec, order, words → addresses by name.
SendInputs = Callable[[Mapping[str, Any], Order, Told], dict[str, str]]


class Mirrors:
    """Keeps the folders of runs and their mirrors in step.

    Nothing here waits for a store: each call says what is wanted and tells what has become of it. `wake` is called
    when there is news. `open_store` gets an order and opens the store that its stint works on.
    """

    def __init__(
        self,
        spool: Path,
        open_store: Callable[[Order], Store],
        send_inputs: SendInputs = lambda *_: {},
        wake: Callable[[], object] = lambda: None,
    ) -> None:
        self._spool = spool
        self._open_store = open_store
        self._send_inputs = send_inputs
        self._wake = wake
        self._errands: dict[tuple[str, str], _Errand] = {}

    def push(self, home: Store, spec: Mapping[str, Any], order: Order) -> bool:
        """Bring to the mirror what a stint needs. False while that goes on; `Unavailable` when it cannot be done."""
        return self._errand(home, order).push(spec, order)

    def follow(self, home: Store, order: Order) -> bool:
        """Have everything brought home that an open stint leaves. False while its mirror cannot be read.

        The silence of a stint means nothing then: its beats may lie there.
        """
        return self._errand(home, order).follow(order.stint)

    def fence(self, home: Store, order: Order, end: End) -> None:
        """Have a stint ended in its mirror; the end that counts, this one or its runner's own, then comes home."""
        self._errand(home, order).fence(order.stint, end.to_bytes())

    def is_lost(self, home: Store, order: Order) -> bool:
        """Whether a mirror has been out of reach for so long that nobody should wait for it any more."""
        return self._errand(home, order).out_of_reach_s() >= GIVE_UP_S

    def words(self, run: str) -> str:
        """What is on its way for a run, or what keeps it; empty when there is nothing to say."""
        found = [errand.words for (name, _), errand in self._errands.items() if name == run]
        return next(filter(None, found), "")

    def forget(self, run: str) -> None:
        """Leave a run alone. What is half copied is continued by whoever looks after it next."""
        for key in [key for key in self._errands if key[0] == run]:
            self._errands.pop(key).close()

    def close(self) -> None:
        for run in {run for run, _ in self._errands}:
            self.forget(run)

    def _errand(self, home: Store, order: Order) -> _Errand:
        key = (order.run, order.store)
        if key not in self._errands:
            self._errands[key] = _Errand(
                order.run, lambda say: Mirror(home, self._open_store(order), order.run, self._spool, say),
                self._send_inputs, self._wake,
            )  # fmt: skip
        return self._errands[key]


class _Errand:
    """The thread of one mirrored run: lives while something is wanted, and starts again when something is."""

    def __init__(
        self, run: str, open_mirror: Callable[[Told], Mirror], send_inputs: SendInputs, wake: Callable[[], object]
    ) -> None:
        self._run = run
        self._open_mirror = open_mirror
        self._send_inputs = send_inputs
        self._wake = wake
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._mirror: Mirror | None = None
        self._closed = False
        self._pushes: dict[int, tuple[Mapping[str, Any], Order]] = {}  # wanted
        self._outcomes: dict[int, Unavailable | None] = {}  # of pushes; None: all is there
        self._fences: dict[int, bytes] = {}
        self._followed: set[int] = set()
        self._ended: set[int] = set()
        self._said = self._trouble = ""
        self._failures = 0
        self._away_since: float | None = None

    @property
    def words(self) -> str:
        return self._trouble or self._said

    def push(self, spec: Mapping[str, Any], order: Order) -> bool:
        with self._changed:
            if order.stint not in self._outcomes:
                self._pushes[order.stint] = (spec, order)
                self._want()
                return False
            outcome = self._outcomes[order.stint]
            if outcome is not None:
                del self._outcomes[order.stint]  # to be tried again when it is asked for again
                raise outcome
        return True

    def follow(self, stint: int) -> bool:
        with self._changed:
            if stint not in self._followed | self._ended:
                self._followed.add(stint)
                self._want()
            heard_at = self._mirror.heard_at if self._mirror else None
            return heard_at is not None and time.monotonic() - heard_at < _HEARD_S

    def fence(self, stint: int, end: bytes) -> None:
        with self._changed:
            if stint not in self._fences and stint not in self._ended:
                self._fences[stint] = end
                self._followed.add(stint)
                self._want()

    def out_of_reach_s(self) -> float:
        away_since = self._away_since
        return 0.0 if away_since is None else time.monotonic() - away_since

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify()

    def _want(self) -> None:
        self._closed = False
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name=f"outlast mirror {self._run}", daemon=True)
            self._thread.start()
        self._changed.notify()

    def _serve(self) -> None:
        while True:
            with self._changed:
                if self._closed or not (self._pushes or self._followed):
                    self._thread = None
                    return
                pushes, followed, fences = dict(self._pushes), sorted(self._followed), dict(self._fences)
            try:
                for spec, order in pushes.values():
                    self._push(spec, order)
                for stint in followed:
                    self._look(stint, fences.get(stint))
                self._failures, self._trouble, self._away_since = 0, "", None
            except Exception as error:  # noqa: BLE001 - whatever it is, the next look tries again
                self._note(error)
            with self._changed:
                if not self._closed and not self._pushes and self._followed:
                    self._changed.wait(self._pause_s())

    def _pause_s(self) -> float:
        pace_s = max(PULL_S, _REMOTE_LOOKS * self._mirror.pace_s if self._mirror else 0.0)
        return min(_LONGEST_TROUBLE_S, pace_s * 2.0**self._failures)

    def _push(self, spec: Mapping[str, Any], order: Order) -> None:
        outcome: Unavailable | None = None
        try:
            addresses = self._send_inputs(spec, order, self._say)
            self._opened().push(order, addresses)
        except Exception as error:  # noqa: BLE001 - a stint that lacks something must not start
            outcome = _as_unavailable(order, error)
        with self._changed:
            self._pushes.pop(order.stint, None)
            self._outcomes[order.stint] = outcome
        self._wake()

    def _look(self, stint: int, fence: bytes | None) -> None:
        mirror = self._opened()
        mirror.tell()
        if fence is not None:
            mirror.fence(stint, fence)
        if mirror.pull(stint):
            with self._changed:
                self._followed.discard(stint)
                self._fences.pop(stint, None)
                self._ended.add(stint)
            self._wake()

    def _opened(self) -> Mirror:
        if self._mirror is None:
            self._mirror = self._open_mirror(self._say)
        return self._mirror

    def _say(self, words: str) -> None:
        self._said = words

    def _note(self, error: Exception) -> None:
        self._failures = min(self._failures + 1, 8)
        self._away_since = self._away_since or time.monotonic()
        if isinstance(error, InsideError | OutlastError):
            words = f"its mirror cannot be used: {error}"
        else:
            words = f"its mirror failed: {type(error).__name__}: {error}"
        if words != self._trouble:
            known = isinstance(error, InsideError | OutlastError)
            log.warning("%s: %s", self._run, words, exc_info=None if known else error)
        self._trouble = words
        self._mirror = self._mirror if isinstance(error, InsideError) and not isinstance(error, AccessDenied) else None


def _as_unavailable(order: Order, error: Exception) -> Unavailable:
    if isinstance(error, Unavailable):
        return error
    words = f"the store of {order.platform} ({order.store}) cannot be prepared: {error}"
    is_lasting = isinstance(error, AccessDenied) or (isinstance(error, OutlastError) and error.exit_code == 2)
    if not isinstance(error, InsideError | OutlastError | OSError):
        log.error("%s: %s", order.run, words, exc_info=error)
    return Unavailable(words, why="refused" if is_lasting else "down")
