"""While the script runs: find its checkpoints, watch the deadline, listen to the user, and end it politely."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import verdict
from .checkpoints import Restored
from .child import Child
from .committer import CommitResult, Committer
from .crew import Crew
from .deadline import FLAG, GO, KILL, TERM, Advice
from .delivery import Courier, outputs_of
from .flag import StopFlag
from .measuring import Measuring
from .metrics import Point
from .points import Batch
from .pulse import Pulse
from .sampling import Sampler
from .seen import SeenFile, see
from .stint import Stint
from .tail import Tail
from .until import Until
from .watcher import Candidate, Watcher

TURN_S = 0.05
#: Half of what settles a save; scanning a folder of a thousand files this often stays below 2 % of one core.
SCAN_S = 0.1
#: How long commits may fail for want of space before the stint gives up.
FULL_PATIENCE_S = 10.0


class Fenced(Exception):
    """Another hand has ended this stint: leave without a trace."""


class Supervisor:
    """Looks after one running script until nothing of it is left and its last checkpoint is committed."""

    def __init__(self, stint: Stint, pulse: Pulse, flag: StopFlag, restored: Restored, crew: Crew) -> None:
        self._stint = stint
        self._pulse = pulse
        self._crew = crew
        self._flag = flag
        self._lock = threading.RLock()
        self._child: Optional[Child] = None
        self._measuring = Measuring(stint)
        self._base_s = stint.elapsed_s() - time.monotonic()  # from the clock that the script reads to the stint's own
        self.hear_out: Callable[[], None] = lambda: None  # takes what the script has tracked until now
        self.tail = Tail()
        self._until = Until.parse(stint.spec["until"]) if stint.spec.get("until") else None
        self._watcher = Watcher(stint.code_dir, stint.checkpoint_place, self._pids)
        self._watcher.baseline()
        self._committer = Committer(
            stint.store,
            stint.run,
            stint.number,
            stint.code_dir,
            stint.folder("scratch"),
            restored.checkpoint,
            self._must_not_commit,
            self._on_commit,
            restored.known,
        )
        self.courier = Courier(
            outputs_of(stint.spec, stint.code_dir, stint.place.is_borrowed),
            stint.accesses,
            stint.spec.get("maps"),
            stint.say,
        )
        self._tickets: Dict[int, Candidate] = {}
        self._asked = ""
        self._asked_why = ""
        self._asked_at_s = 0.0
        self._term_sent = False
        self._noticed = False
        self._acknowledged = False
        self._is_saving = False  # files of the checkpoint place are being exchanged
        self._full_since_s: Optional[float] = None
        self._last_scan_s = 0.0
        self._committed_after_ask = False
        self.preempted = threading.Event()

    # ---- what the desk calls, in its own thread

    def on_hello(self, message: Dict[str, Any]) -> None:
        """A process of the script has imported outlast; what it will use of it remains to be seen."""

    def on_points(self, batch: Batch) -> None:
        self._measuring.tracked(batch.names.values())
        self._stint.shipper.points(batch, self._base_s)
        self._stint.progress.measured_all(batch.values())
        self._started_speaking()

    def on_track(self, message: Dict[str, Any]) -> None:
        values = message.get("values", {})
        at_s = message["at"] + self._base_s
        point = Point(round(at_s, 3), message.get("epoch"), message.get("step"), values)
        self._measuring.tracked(values)
        self._stint.shipper.metric(point, "track")
        self._stint.progress.measured({k: v for k, v in values.items() if isinstance(v, (int, float))})
        self._started_speaking()

    def on_progress(self, message: Dict[str, Any]) -> None:
        now_s = self._stint.elapsed_s()
        self._stint.progress.from_script(now_s, message)
        if message.get("boundary"):
            self._stint.deadline.answers = True
            self._stint.deadline.boundary(now_s)
        elif message.get("epochs") is not None:
            # The loop begins: what came before it, imports and data, is not part of an epoch.
            self._stint.deadline.loop_started(now_s)
        self._started_speaking()
        self._stint.nudge()

    def on_listening(self, message: Dict[str, Any]) -> None:
        """The script reads the flag, so it can be asked by it."""
        self._stint.deadline.answers = True

    def on_noticed(self, message: Dict[str, Any]) -> None:
        """The script has read the raised flag."""
        self._noticed = True

    def on_saving(self, message: Dict[str, Any]) -> Dict[str, Any]:
        """The script is about to replace its checkpoint: what lies there in between is nobody's business."""
        with self._lock:
            self._is_saving = True
        return {"ok": True}

    def on_save(self, message: Dict[str, Any]) -> Dict[str, Any]:
        """The checkpoint place is whole now: take it, and let the script go on."""
        now_s = self._stint.elapsed_s()
        self._stint.deadline.answers = True
        progress = message.get("progress") or {}
        if progress:
            self._stint.progress.from_script(now_s, progress)
        with self._lock:
            candidate = self._watcher.final(True, time.monotonic())
            self._is_saving = False
            if candidate is None:
                return {"ok": True, "ticket": 0}
            ticket = self._take(candidate, progress)
        took_s = self._stint.elapsed_s() - now_s + message["writing_s"]
        self._stint.deadline.save_took(took_s)
        self._stint.phases.add("saving", took_s)
        return {"ok": True, "ticket": ticket}

    def on_ack(self, message: Dict[str, Any]) -> Dict[str, Any]:
        self._acknowledged = True
        self._stint.phases.enter("handing_over")  # it trains no more
        return {"ok": True}

    # ---- the script and its output

    def run(self, argv: List[str], env: Dict[str, str], sandboxed: bool) -> verdict.Facts:
        """Start the script and stay until it is gone and committed. `Fenced` when the stint is no longer ours."""
        stint = self._stint
        stint.enter("starting")
        memory = None if stint.place.gpus or stint.place.npus else stint.place.memory_bytes
        child = Child(argv, stint.code_dir, env, self._on_output, sandboxed, stint.place.cpu_list, memory)
        self._child = child
        self.courier.start()
        stint.deadline.script_started(stint.elapsed_s())
        sampler = Sampler(child.pids, stint.place.cpus, stint.place.memory_bytes, stint.place.gpus, stint.place.npus)
        stint.sample = sampler.sample
        try:
            while True:
                exit_code = child.wait(TURN_S)
                if exit_code is not None:
                    break
                self._turn(child, sampler)
        finally:
            child.kill()
            stint.sample = dict
        child.finish_output()
        self.hear_out()
        self._measuring.finish()
        self._started_speaking()
        if self._is_fenced():
            raise Fenced
        self._close(exit_code)
        elsewhere = self._see_off(exit_code)
        return verdict.Facts(
            exit_code=exit_code,
            asked=self._asked,
            asked_why=self._asked_why,
            acknowledged=self._acknowledged,
            noticed=self._noticed or self._term_sent,
            committed=stint.committed,
            place=stint.checkpoint_place,
            pending=self._watcher.pending(time.monotonic()) or "",
            limit_s=stint.order.limit_s,
            elsewhere=elsewhere,
            tail=self.tail.error_lines(),
        )

    def last_words(self, message: str) -> Tuple[List[str], str]:
        return self._crew.last_words(message, self.tail)

    def commit_outputs(self) -> None:
        """The final outputs, as one manifest."""
        self._committer.commit_outputs(self._outputs(skip=False))

    def close(self) -> None:
        self._committer.close()

    def _on_output(self, chunk: bytes) -> None:
        self._stint.shipper.log(chunk)
        self.tail.feed(chunk)
        self._started_speaking()
        self._measuring.read(chunk)

    def _started_speaking(self) -> None:
        if self._stint.phase == "starting":
            self._stint.enter("running")

    # ---- one turn of the loop

    def _turn(self, child: Child, sampler: Sampler) -> None:
        stint = self._stint
        now_s = stint.elapsed_s()
        if self._pulse.fenced.is_set():
            raise Fenced
        self._scan(now_s)
        self._measuring.look()
        if self._pulse.want_stop.is_set():
            self._ask(verdict.STOP, "the user asked to stop", now_s)
        elif self.preempted.is_set():
            self._ask(verdict.PREEMPTED, "the machine is being taken away", now_s)
        elif self._crew.trouble is not None:
            self._ask(self._crew.trouble.why, self._crew.trouble.sentence, now_s)
        elif self._until is not None and not self._asked and self._until.holds(stint.progress.values()):
            self._ask(verdict.UNTIL, str(stint.spec["until"]), now_s)
        over = sampler.over_memory()
        if over:
            self._ask(verdict.MEMORY, over, now_s)
            child.kill()
            return
        self._press(child, now_s)

    def _ask(self, why: str, sentence: str, now_s: float) -> None:
        """Ask the script to leave; the first asker stands, except that the user's word outranks a deadline."""
        if self._asked and not (self._asked == verdict.DEADLINE and why in (verdict.STOP, verdict.UNTIL)):
            return
        self._asked, self._asked_why, self._asked_at_s = why, sentence, now_s
        self._flag.raise_(why)
        # Shown as handing over, but counted as running: a script that leaves at a boundary still trains until then.
        self._stint.phase = "handing-over"
        self._stint.nudge()
        self._stint.say("asking the script to leave: %s" % sentence)

    def _press(self, child: Child, now_s: float) -> None:
        """Go as far as the deadline and the patience of whoever asked demand, and no further."""
        advice = self._stint.deadline.decide(now_s)
        if advice.action != GO and not self._asked:
            self._ask(verdict.DEADLINE, advice.why, now_s)
        if self._asked and self._asked != verdict.DEADLINE:
            advice = self._patience(now_s, advice)
        if advice.action == KILL:
            child.kill()
        elif advice.action == TERM and not self._term_sent:
            self._term_sent = child.terminate()

    def _patience(self, now_s: float, advice: Advice) -> Advice:
        """How long to wait for a script that was asked by somebody other than the clock."""
        if advice.action == KILL:
            return advice
        grace_s = self._stint.order.grace_s
        waited_s = now_s - self._asked_at_s
        if self._asked == verdict.UNTIL and not self._stint.deadline.answers and not self._committed_after_ask:
            # The condition was just printed; the checkpoint that belongs to it usually comes next.
            interval_s = self._stint.deadline.expected_interval_s
            polite_s = grace_s if interval_s is None else 1.5 * interval_s
        elif self._stint.deadline.answers and self._asked in (verdict.UNTIL, verdict.STOP):
            polite_s = grace_s
        elif self._asked in (verdict.NODE_LOST, verdict.NODE_FAILED):
            polite_s = grace_s  # the others may be gone because it is done and only writes its results
        else:
            polite_s = 0.0
        if waited_s >= polite_s + grace_s:
            return Advice(KILL, "the script did not leave within %g s" % (polite_s + grace_s))
        return Advice(TERM) if waited_s >= polite_s else Advice(FLAG)

    # ---- checkpoints

    def _scan(self, now_s: float) -> None:
        if now_s - self._last_scan_s < SCAN_S:
            return
        self._last_scan_s = now_s
        with self._lock:
            if self._is_saving:
                return
            candidate = self._watcher.scan(time.monotonic())
            if candidate is not None:
                self._take(candidate)
                return
            pending = self._watcher.pending(time.monotonic())
        if self._full_since_s is None:
            self._stint.notice = pending or self._pulse.problem

    def _take(self, candidate: Candidate, said: Optional[Dict[str, Any]] = None) -> int:
        """Snapshot a whole checkpoint; its bytes go up while the script goes on.

        `said` is what the script itself says about the checkpoint; the next stint's script gets all of it back.
        """
        stint = self._stint
        now_s = stint.elapsed_s()
        ticket = self._committer.submit(
            candidate.files,
            self._outputs(skip=True),
            dict(stint.progress.snapshot(), **(said or {})),
            dict(stint.progress.metrics),
            now_s,
            stint.phases.phases().get("running", 0.0),
            dict(stint.progress.best),
        )
        self._tickets[ticket] = candidate
        # Offered once: if the commit fails, `_on_commit` gives it back.
        self._watcher.committed(candidate)
        stint.deadline.checkpoint(now_s)
        return ticket

    def _outputs(self, skip: bool) -> List[SeenFile]:
        stint = self._stint
        place = stint.checkpoint_place if skip else ""
        found = [see(stint.code_dir, path) for path in stint.list_outputs(place)]
        return [seen for seen in found if seen is not None]

    def _on_commit(self, result: CommitResult) -> None:
        stint = self._stint
        with self._lock:
            candidate = self._tickets.pop(result.ticket, None)
            if result.kind == "committed" and result.checkpoint:
                stint.last_checkpoint = result.checkpoint
                stint.committed += 1
                stint.deadline.commit_took(result.seconds)
                stint.notice = ""
                self._full_since_s = None
                self._committed_after_ask = bool(self._asked)
                self.courier.nudge()
                stint.nudge()
                return
            if result.kind in ("changed", "full", "place") and candidate is not None:
                self._watcher.rejected(candidate)
        if result.kind in ("full", "place"):
            stint.notice = "checkpoint not committed: %s" % result.problem
            self._stint.say(stint.notice)
            now_s = stint.elapsed_s()
            self._full_since_s = now_s if self._full_since_s is None else self._full_since_s
            if now_s - self._full_since_s >= FULL_PATIENCE_S:
                self._ask(verdict.DISK, stint.notice, now_s)

    def _close(self, exit_code: int) -> None:
        """The script is gone: take its last checkpoint if it left a whole one, and wait for the bytes."""
        stint = self._stint
        stint.enter("committing")
        clean = exit_code in (0, verdict.COME_BACK) or self._acknowledged
        with self._lock:
            # A script that died while it exchanged its files left a mixture of two checkpoints.
            candidate = None if self._is_saving else self._watcher.final(clean, time.monotonic())
            if candidate is not None:
                self._take(candidate)
        left_s = stint.deadline.time_left_s(stint.elapsed_s())
        # Bytes that are on their way are worth more than the last second; the platform has the final word anyway.
        self._committer.drain(600.0 if left_s is None else max(5.0, left_s))

    def _see_off(self, exit_code: int) -> str:
        """Wait for the other nodes; returns how the script ended on one of them, when it failed there and here."""
        is_clean = bool(self._asked) or self._acknowledged or exit_code in (0, verdict.COME_BACK)
        trouble = self._crew.see_off(is_clean)
        if is_clean or trouble is None or trouble.why == verdict.NODE_FAILED:
            return trouble.sentence if trouble is not None and not is_clean else ""
        # A machine that goes breaks connections before anybody hears of it: the script here failed because of that.
        self._asked, self._asked_why = trouble.why, trouble.sentence
        return ""

    def _pids(self) -> List[int]:
        return self._child.pids() if self._child is not None else []

    def _must_not_commit(self) -> bool:
        """Asked right before a manifest is put. What was measured up to it goes first: a curve shall have no hole."""
        self.hear_out()
        self._stint.shipper.flush(2.0)
        self._pulse.ask(self._stint.store)
        return self._pulse.fenced.is_set()

    def _is_fenced(self) -> bool:
        self._pulse.look()
        return self._pulse.fenced.is_set()


def catch_preemption(supervisor: Supervisor) -> None:
    """SIGTERM to the runner means that the platform wants its machine back."""
    signal.signal(signal.SIGTERM, lambda *_: supervisor.preempted.set())
