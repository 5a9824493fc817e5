"""Node 0's view of the other nodes of its stint: it waits for them, watches them, and sees them off.

They share nothing but the run folder. What node 0 learns is one sentence: which node is in trouble, and how.
"""

from __future__ import annotations

import threading
import time
from typing import Callable, Dict, List, NamedTuple, Optional, Tuple, Type, TypeVar

from . import layout, verdict
from .errors import InsideError, NotFound, PlaceError, RequestError
from .meeting import free_port, is_gone, own_address
from .records import Beat, Claim, End, Meeting, Ready, Record
from .staging import Stopping
from .stint import Stint
from .stores.base import Store
from .tail import Tail

R = TypeVar("R", bound=Record)

#: A node that says nothing for so long is lost. Beats come every second, or every few where each is a request.
SILENT_S = 60.0
#: Machines of one job start minutes apart when an image has to be pulled first.
COMING_S = 1800.0
LOOK_S = 0.25
#: A node ends its script within seconds, then its last output has to go up.
_FAREWELL_S = 5.0


class Trouble(NamedTuple):
    """Why a stint cannot go on with all its nodes."""

    why: str  # one of the reasons to ask in `verdict`
    sentence: str
    tail: List[str]
    fingerprint: str


class Crew:
    """The nodes beside node 0; with one node there are none, and everything here is over at once."""

    def __init__(self, stint: Stint, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        """`store` should be one that gives up soon: while it is away nobody is lost."""
        self._stint = stint
        self._store = store
        self._clock = clock
        self._others = range(1, stint.place.nodes)
        self._claims: Dict[int, Claim] = {}
        self._beats: Dict[int, Beat] = {}
        self._heard_at: Dict[int, float] = {}
        self._over: Dict[int, Optional[End]] = {}  # None: lost
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="outlast-crew", daemon=True)
        self.trouble: Optional[Trouble] = None

    # ---- before the script

    def meet(self) -> Optional[Meeting]:
        """Wait until every node is ready and say where they meet; None for a stint of one node.

        `Stopping` when the stint ends meanwhile; `RequestError` or `PlaceError` when a node cannot get ready.
        """
        if not self._others:
            return None
        stint, began = self._stint, self._clock()
        ready: Dict[int, Ready] = {}
        while len(ready) < len(self._others):
            missing = [node for node in self._others if node not in ready]
            for node in missing:
                found = self._read(Ready, layout.ready_key(stint.run, stint.number, node))
                if found is not None:
                    ready[node] = found
                else:
                    self._check_comes(node)
            if stint.stopping():
                raise Stopping("the stint ends")
            if self._clock() - began > COMING_S:
                raise PlaceError("node %d did not get ready within %d min" % (missing[0], COMING_S // 60))
            stint.notice = "waits for node %d" % missing[0]
            self._closing.wait(self._pause_s)
        stint.notice = ""
        addresses = [own_address(stint.place), *(ready[node].address for node in self._others)]
        npus = [list(stint.place.npus), *(ready[node].npus for node in self._others)]
        meeting = Meeting(free_port(), addresses, npus)
        stint.store.put_if_absent(layout.meeting_key(stint.run, stint.number), meeting.to_bytes())
        self._thread.start()
        return meeting

    def _check_comes(self, node: int) -> None:
        end = self._read(End, self._key(layout.end_key, node))
        claim = self._claim(node)
        if end is not None:
            kind = RequestError if end.cause == "request" else PlaceError
            raise kind("node %d could not get ready: %s" % (node, end.message))
        if claim is not None and is_gone(claim):
            raise PlaceError("node %d ended before it was ready" % node)

    # ---- while it runs

    def _watch(self) -> None:
        while not self._closing.is_set() and len(self._over) < len(self._others):
            self.look()
            self._closing.wait(self._pause_s)

    def look(self) -> None:
        """Look once at every node that has not ended."""
        for node in self._others:
            if node not in self._over:
                self._look_at(node)

    def _look_at(self, node: int) -> None:
        try:
            # The claim first: a process that is gone has written its end before, if it wrote one at all.
            claim = self._claim(node)
            gone = claim is not None and is_gone(claim)
            end = self._get(End, self._key(layout.end_key, node))
            beat = self._get(Beat, self._key(layout.beat_key, node))
        except InsideError:
            self._heard_at.clear()  # the store is away: it says nothing of the node
            return
        if end is not None:
            self._over[node] = end
            self._note(_trouble_of(node, end))
        elif gone:
            self._lose(node, "its process is gone")
        else:
            self._listen(node, beat)

    def _listen(self, node: int, beat: Optional[Beat]) -> None:
        now, known = self._clock(), self._beats.get(node)
        if node not in self._heard_at or (beat is not None and (known is None or beat.count != known.count)):
            self._heard_at[node] = now
        if beat is not None:
            self._beats[node] = beat
            if beat.phase == "handing-over":
                self._note(Trouble(verdict.PREEMPTED, "the machine of node %d is being taken away" % node, [], ""))
        if now - self._heard_at[node] > SILENT_S:
            self._lose(node, "nothing was heard of it for %d s" % SILENT_S)

    def _lose(self, node: int, how: str) -> None:
        self._over[node] = None
        self._note(Trouble(verdict.NODE_LOST, "node %d was lost: %s" % (node, how), [], ""))

    def _note(self, trouble: Optional[Trouble]) -> None:
        """The first trouble stands, but a script that fails where a machine was taken failed because of that."""
        first = self.trouble
        if trouble is not None and (first is None or first.why == verdict.NODE_FAILED != trouble.why):
            self.trouble = trouble

    # ---- afterwards

    def see_off(self, is_clean: bool) -> Optional[Trouble]:
        """The script of node 0 has ended and the others know: wait until they have gone, within reason.

        When it did not end well, a silent node is waited for until it counts as lost: that may be the reason.
        """
        if not self._thread.is_alive():
            return self.trouble
        patience_s = self._stint.order.grace_s + _FAREWELL_S + 4 * self._pause_s
        if not is_clean:
            patience_s += SILENT_S
        left_s = self._stint.deadline.time_left_s(self._stint.elapsed_s())
        self._thread.join(patience_s if left_s is None else max(1.0, min(patience_s, left_s)))
        return self.trouble

    def last_words(self, sentence: str, own: Tail) -> Tuple[List[str], str]:
        """The last lines of what failed and their fingerprint: another node's when the stint ends for its sake."""
        trouble = self.trouble
        if trouble is not None and trouble.sentence == sentence and trouble.tail:
            return trouble.tail, trouble.fingerprint
        return own.error_lines(), own.fingerprint()

    def close(self) -> None:
        self._closing.set()

    # ---- reading

    @property
    def _pause_s(self) -> float:
        return max(LOOK_S, 2 * self._store.pace_s)

    def _key(self, key_of: Callable[[str, int, int], str], node: int) -> str:
        return key_of(self._stint.run, self._stint.number, node)

    def _claim(self, node: int) -> Optional[Claim]:
        if node not in self._claims:
            claim = self._read(Claim, self._key(layout.claim_key, node))
            if claim is None:
                return None
            self._claims[node] = claim
        return self._claims[node]

    def _read(self, kind: Type[R], key: str) -> Optional[R]:
        """A document, or None when it is not there or the store is away."""
        try:
            return self._get(kind, key)
        except InsideError:
            return None

    def _get(self, kind: Type[R], key: str) -> Optional[R]:
        try:
            return kind.from_bytes(self._store.get(key))
        except NotFound:
            return None


def _trouble_of(node: int, end: End) -> Optional[Trouble]:
    if end.reason == "preempted":
        return Trouble(verdict.PREEMPTED, "the machine of node %d was taken away" % node, [], "")
    if end.reason in ("script-error", "setup-error"):
        return Trouble(verdict.NODE_FAILED, "on node %d %s" % (node, end.message), end.tail, end.fingerprint)
    return None
