"""A further node of a stint: it gets everything that node 0 gets, runs the script, and ends when node 0 does.

Only node 0 is asked to leave by the clock or the user, so that all processes of a training agree on its last step.
The others go on until its script has ended, and are ended then. What they save stays with them: node 0 alone commits.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from typing import Any, Dict, List, NamedTuple, Optional

from . import layout, verdict
from .child import Child
from .desk import Desk, DeskHandler
from .errors import InsideError, NotFound, RequestError
from .flag import StopFlag
from .meeting import claim_for, own_address
from .net.retry import HURRIED, STEADFAST
from .place import Place, access_for, accesses_from
from .prepare import Prepared, prepare
from .pulse import Pulse
from .records import Beat, End, Meeting, Order, Ready, now_text
from .sampling import Sampler
from .seen import SeenFile, see
from .staging import Stopping
from .stint import Stint, list_files
from .stores import open_store
from .stores.base import Store
from .tail import Tail

_TURN_S = 0.05
#: For a script that does not leave at once when node 0 has: nothing that it could still do would count.
_COURTESY_S = 2.0


class NodePulse(Pulse):
    """The pulse of a further node; it also listens to node 0."""

    def __init__(self, store: Store, stint: Stint) -> None:
        super().__init__(store, stint.run, stint.number, stint.compose_beat, used=stint.used, node=stint.place.node)
        self.leaving = threading.Event()  # the script of node 0 has ended

    def ask(self, store: Store) -> None:
        super().ask(store)
        try:
            beat = Beat.from_bytes(store.get(layout.beat_key(self._run, self._stint)))
        except NotFound:
            return
        if beat.phase == "committing":
            self.leaving.set()


class NodeDesk(DeskHandler):
    """What the script says here is heard and not recorded; a save is answered, so that nobody waits for it."""

    def __init__(self, stint: Stint) -> None:
        self._stint = stint
        self._has_said = False

    def on_save(self, message: Dict[str, Any]) -> Optional[Dict[str, Any]]:
        self.say_ignored()
        return {"ticket": 0}

    def say_ignored(self) -> None:
        if not self._has_said:
            self._has_said = True
            self._stint.say(
                "node %d saved a checkpoint, which is ignored: only node 0's are kept" % self._stint.place.node
            )


class _Left(NamedTuple):
    """How the script of this node ended, and who wanted it to."""

    exit_code: int
    asked: str  # "", "stop" when node 0 has ended, or as in `verdict`
    why: str


def run_node(place: Place) -> int:
    """Do this node's part of a stint. Returns 0 when its end is recorded, or when the part is not ours."""
    try:
        access = access_for(place.store, accesses_from(os.environ))
        store = open_store(place.store, access, STEADFAST)
        stint = _claim(place, store)
    except InsideError as error:
        sys.stderr.write("node %d of stint %d cannot begin: %s\n" % (place.node, place.stint, error))
        return 1
    if stint is None:
        return 0
    pulse = NodePulse(open_store(place.store, access, HURRIED) if store.pace_s else store, stint)
    stint.nudge = pulse.nudge
    stint.stopping = lambda: pulse.want_stop.is_set() or pulse.fenced.is_set()
    stint.meet = lambda: _meet(stint, pulse)
    pulse.start()
    try:
        end = _carry_out(stint, pulse)
    finally:
        pulse.close()
        stint.shipper.close(30.0)
    try:
        store.put_if_absent(layout.end_key(stint.run, stint.number, place.node), end.to_bytes())
    except InsideError as error:
        sys.stderr.write("the end of node %d could not be recorded: %s\n" % (place.node, error))
        return 1
    return 0


def _claim(place: Place, store: Store) -> Optional[Stint]:
    order = Order.from_bytes(store.get(layout.order_key(place.run, place.stint)))
    spec: Dict[str, Any] = json.loads(store.get(layout.spec_key(place.run)).decode("utf-8"))
    if order.token != place.token or store.head(layout.end_key(place.run, place.stint)) is not None:
        return None
    key = layout.claim_key(place.run, place.stint, place.node)
    return Stint(place, store, order, spec) if store.put_if_absent(key, claim_for(order.token).to_bytes()) else None


def _meet(stint: Stint, pulse: NodePulse) -> Meeting:
    """Say that this node is ready, and wait until node 0 says that all are."""
    ready = Ready(own_address(stint.place), list(stint.place.npus))
    store, run, number = stint.store, stint.run, stint.number
    store.put_if_absent(layout.ready_key(run, number, stint.place.node), ready.to_bytes())
    while True:
        try:
            return Meeting.from_bytes(store.get(layout.meeting_key(run, number)))
        except NotFound:
            if stint.stopping() or pulse.leaving.is_set():
                raise Stopping("the stint ends") from None
        pulse.fenced.wait(max(_TURN_S, store.pace_s))


def _carry_out(stint: Stint, pulse: NodePulse) -> End:
    handler, tail = NodeDesk(stint), Tail()
    desk: Optional[Desk] = None
    try:
        flag_path = os.path.join(stint.folder("desk"), "flag")
        flag = StopFlag.create(flag_path)
        desk = Desk(os.path.join(stint.folder("desk"), "socket"), handler)
        prepared = prepare(stint, desk.path, flag_path)
        before = _saved(stint)
        left = _Following(stint, pulse, flag, tail).run(prepared)
        if _saved(stint) != before:
            handler.say_ignored()
        return _end(stint, left, tail)
    except Stopping:
        return End("stopped", "the stint ended before its scripts started", at=now_text())
    except (InsideError, OSError) as error:
        cause = "request" if isinstance(error, RequestError) else "place"
        return End("setup-error", str(error), cause, at=now_text())
    except Exception as error:  # noqa: BLE001 - a bug of ours must end the node with words, not with silence
        stint.shipper.log(traceback.format_exc().encode("utf-8", "replace"))
        return End("setup-error", "the runner failed: %s: %s" % (type(error).__name__, error), "place", at=now_text())
    finally:
        if desk is not None:
            desk.close()


def _saved(stint: Stint) -> List[Optional[SeenFile]]:
    """What lies in the checkpoint place now."""
    return [see(stint.code_dir, path) for path in list_files(stint.code_dir, stint.checkpoint_place)]


def _end(stint: Stint, left: _Left, tail: Tail) -> End:
    if left.asked == verdict.STOP:
        reason, message = "stopped", left.why
    elif left.asked == verdict.PREEMPTED and left.exit_code != 0:
        reason, message = "preempted", left.why
    elif left.asked != verdict.MEMORY and left.exit_code in (0, verdict.COME_BACK):
        reason, message = "finished", ""
    else:
        reason, message = "script-error", left.why or "the script ended with %s" % verdict.describe_exit(left.exit_code)
    failed = reason == "script-error"
    if message:
        stint.say("%s: %s" % (reason, message))
    return End(
        reason, message, exit_code=left.exit_code, tail=tail.error_lines() if failed else [],
        fingerprint=tail.fingerprint() if failed else "", at=now_text(),
    )  # fmt: skip


class _Following:
    """Looks after this node's script while it runs."""

    def __init__(self, stint: Stint, pulse: NodePulse, flag: StopFlag, tail: Tail) -> None:
        self._stint = stint
        self._pulse = pulse
        self._flag = flag
        self._tail = tail
        self._taken = threading.Event()
        self._asked = self._why = ""
        self._asked_at_s = 0.0
        signal.signal(signal.SIGTERM, lambda *_: self._taken.set())

    def run(self, prepared: Prepared) -> _Left:
        stint, place = self._stint, self._stint.place
        stint.enter("starting")
        memory = None if place.gpus or place.npus else place.memory_bytes
        child = Child(
            prepared.argv, stint.code_dir, prepared.env, self._on_output, prepared.sandboxed, place.cpu_list, memory
        )
        sampler = Sampler(child.pids, place.cpus, place.memory_bytes, place.gpus, place.npus)
        stint.sample = sampler.sample
        try:
            while True:
                exit_code = child.wait(_TURN_S)
                if exit_code is not None:
                    break
                self._turn(child, sampler.over_memory())
        finally:
            child.kill()
            stint.sample = dict
        child.finish_output()
        return _Left(exit_code, self._asked, self._why)

    def _on_output(self, chunk: bytes) -> None:
        self._stint.shipper.log(chunk)
        self._tail.feed(chunk)
        if self._stint.phase == "starting":
            self._stint.enter("running")

    def _turn(self, child: Child, over_memory: Optional[str]) -> None:
        now_s = self._stint.elapsed_s()
        if over_memory:
            self._ask(verdict.MEMORY, over_memory, now_s)
            child.kill()
        elif self._pulse.fenced.is_set():
            self._ask(verdict.STOP, "the stint has ended", now_s)
            child.kill()
        elif self._pulse.leaving.is_set():
            if self._ask(verdict.STOP, "the script of node 0 has ended", now_s):
                child.terminate()
            elif now_s - self._asked_at_s >= min(_COURTESY_S, self._stint.order.grace_s):
                child.kill()
        elif self._taken.is_set() and self._ask(verdict.PREEMPTED, "the machine is being taken away", now_s):
            self._stint.enter("handing-over")  # node 0 reads it in the beat, and saves while all are still there

    def _ask(self, why: str, sentence: str, now_s: float) -> bool:
        """Raise the flag for a reason; False when it was raised for that one before."""
        if self._asked in (why, verdict.MEMORY):
            return False
        self._asked, self._why, self._asked_at_s = why, sentence, now_s
        if why != verdict.PREEMPTED:
            self._flag.raise_(why)
        return True
