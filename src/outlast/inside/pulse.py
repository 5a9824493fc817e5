"""The heartbeat of a stint, and its ears: writes beat.json, notices a stop request and the fence."""

from __future__ import annotations

import threading
from typing import Callable, Optional

from . import layout
from .errors import InsideError
from .records import Beat, Control
from .stores.base import Store

BEAT_S = 1.0
#: The user waits for a stop and the display for an epoch; looking this often costs two stat calls.
LOOK_S = 0.25


class Pulse:
    """A thread that beats once a second and looks four times as often.

    `want_stop` is set when control.json asks to stop, `fenced` when another hand wrote this stint's end. A store
    that cannot be reached stops neither: the keeper decides by silence, the script goes on.
    """

    def __init__(self, store: Store, run: str, stint: int, compose: Callable[[int], Beat]) -> None:
        self._store = store
        self._run = run
        self._stint = stint
        self._compose = compose
        self._count = 0
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
            self._store.put_quick(layout.beat_key(self._run, self._stint), self._compose(self._count).to_bytes())
            self.problem = ""
        except InsideError as error:
            self.problem = "the store cannot be written: %s" % error

    def look(self) -> None:
        """Read what the other half wants."""
        try:
            if self._store.head(layout.end_key(self._run, self._stint)) is not None:
                self.fenced.set()
            control = read_control(self._store, self._run)
        except InsideError as error:
            self.problem = "the store cannot be read: %s" % error
            return
        if control is not None and control.want == "stop":
            self.want_stop.set()

    def _loop(self) -> None:
        looks_per_beat = round(BEAT_S / LOOK_S)
        turn = 0
        while not self._closing.is_set():
            nudged = self._nudge.is_set()
            self._nudge.clear()
            if nudged or turn % looks_per_beat == 0:
                self.beat()
            self.look()
            turn += 1
            # A script with twenty epochs a second nudges as often; nobody reads that fast.
            self._closing.wait(0.1)
            self._nudge.wait(LOOK_S - 0.1)


def read_control(store: Store, run: str) -> Optional[Control]:
    """What the user wants now; None when nothing was ever written or it is being replaced."""
    try:
        return Control.from_bytes(store.get(layout.control_key(run)))
    except InsideError:
        return None
