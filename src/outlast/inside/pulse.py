"""The heartbeat of a stint, and its ears: writes beat.json, notices a stop request and the fence."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Callable, Optional

from . import layout
from .errors import InsideError
from .records import Beat, Control
from .stores.base import Store

BEAT_S = 1.0
#: The user waits for a stop and the display for an epoch; looking this often costs two stat calls.
LOOK_S = 0.25
#: A script with twenty epochs a second nudges as often; nobody reads that fast.
NUDGE_S = 0.1

#: Told when the store answers again: for how many seconds it did not, and what it said last.
Back = Callable[[float, str], None]
#: The history of the machine's use when it shall be written now, else None; told whether this is the last time.
Used = Callable[[bool], Optional[bytes]]


class Pulse:
    """A thread that beats once a second and looks four times as often; less often where each costs a request.

    `want_stop` is set when control.json asks to stop, `fenced` when another hand wrote this stint's end. A store
    that cannot be reached stops neither: the keeper decides by silence, the script goes on.
    """

    def __init__(
        self, store: Store, run: str, stint: int, compose: Callable[[int], Beat], back: Optional[Back] = None,
        used: Optional[Used] = None, node: int = 0,
    ) -> None:  # fmt: skip
        """`store` should be one that gives up soon: while it is asked again and again, the pulse stands still."""
        self._store = store
        self._run = run
        self._stint = stint
        self._node = node
        self._compose = compose
        self._back = back
        self._used = used
        self._count = 0
        self._away_at: Optional[float] = None  # since when the store does not answer
        self._closing = threading.Event()
        self._nudge = threading.Event()
        self.want_stop = threading.Event()
        self.fenced = threading.Event()
        self.problem = ""
        self._thread = threading.Thread(target=self._loop, name="outlast-pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def nudge(self) -> None:
        """Beat now: something changed that the user is waiting to see."""
        self._nudge.set()

    def close(self) -> None:
        self._closing.set()
        self._nudge.set()
        self._thread.join(5)

    def beat(self) -> None:
        self._count += 1
        try:
            self._store.put_quick(
                layout.beat_key(self._run, self._stint, self._node), self._compose(self._count).to_bytes()
            )
            self._keep_usage(is_last=False)
        except InsideError as error:
            self._is_away("the store cannot be written: %s" % error)
        else:
            self._is_there()

    def _keep_usage(self, is_last: bool) -> None:
        history = self._used(is_last) if self._used is not None else None
        if history is not None:
            self._store.put_quick(layout.usage_key(self._run, self._stint, self._node), history)

    def look(self) -> None:
        """Read what the other half wants, as far as the store answers."""
        try:
            self.ask(self._store)
        except InsideError as error:
            self._is_away("the store cannot be read: %s" % error)

    def ask(self, store: Store) -> None:
        """Read what the other half wants, from this handle of the same store; raises when it does not answer."""
        if store.head(layout.end_key(self._run, self._stint)) is not None:
            self.fenced.set()
        control = read_control(store, self._run)
        if control is not None and control.want == "stop":
            self.want_stop.set()

    def _is_away(self, problem: str) -> None:
        self.problem = problem
        if self._away_at is None:
            self._away_at = time.monotonic()

    def _is_there(self) -> None:
        away_at, problem = self._away_at, self.problem
        self._away_at, self.problem = None, ""
        if away_at is not None and self._back is not None:
            self._back(time.monotonic() - away_at, problem)

    def _loop(self) -> None:
        # Beat and look together cost three requests; every two seconds is often enough where they are.
        pause_s = 2 * self._store.pace_s
        beat_s, look_s = max(BEAT_S, pause_s), max(LOOK_S, pause_s)
        nudge_s = max(NUDGE_S, self._store.pace_s)
        beaten_at = looked_at = float("-inf")
        while not self._closing.is_set():
            nudged = self._nudge.is_set()
            self._nudge.clear()
            # A hundredth of slack: waiting for a time may end a little early.
            if nudged or time.monotonic() - beaten_at > beat_s - 0.01:
                beaten_at = time.monotonic()
                self.beat()
            if time.monotonic() - looked_at > look_s - 0.01:
                looked_at = time.monotonic()
                self.look()
            self._closing.wait(nudge_s)
            self._nudge.wait(look_s - nudge_s)
        with contextlib.suppress(InsideError):  # a history without its last minute is one, too
            self._keep_usage(is_last=True)


def read_control(store: Store, run: str) -> Optional[Control]:
    """What the user wants now; None when nothing was ever written or it is being replaced."""
    try:
        return Control.from_bytes(store.get(layout.control_key(run)))
    except InsideError:
        return None
