"""One stint from claim to end record: the order of things, and what happens when one of them fails."""

from __future__ import annotations

import json
import os
import socket
import sys
import traceback
from typing import Any, Callable, Dict, Optional

from . import layout
from .crew import Crew
from .delivery import Courier
from .desk import Desk
from .errors import Damaged, InsideError, NotFound, PlaceError, RequestError
from .flag import StopFlag
from .net.retry import HURRIED, STEADFAST
from .place import Place, access_for, accesses_from
from .prepare import Prepared, prepare
from .progress import Progress
from .pulse import Pulse
from .records import Claim, End, Order, now_text
from .staging import Stopping
from .stint import Stint
from .stores import open_store
from .stores.base import Store
from .supervise import Fenced, Supervisor, catch_preemption
from .verdict import Verdict, judge

#: An outage shorter than this is not worth a line in the log.
_WORTH_SAYING_S = 3.0


def run_place(place: Place) -> int:
    """Do the part of a stint that this place has: all of it, or that of a further node."""
    if not place.node:
        return run_stint(place)
    from .node import run_node

    return run_node(place)


def run_stint(place: Place) -> int:
    """Do what the order says and record how it ended. Returns the runner's exit code.

    0: an end is recorded (or the stint was never ours). 1: not even that was possible; the keeper will notice.
    """
    try:
        access = access_for(place.store, accesses_from(os.environ))
        store = open_store(place.store, access, STEADFAST)
        stint = _claim(place, store)
    except InsideError as error:
        sys.stderr.write("stint %d cannot begin: %s\n" % (place.stint, error))
        return 1
    if stint is None:
        return 0
    # Commits wait for a store that is away; the pulse must not, so it has a handle of its own.
    ears = open_store(place.store, access, HURRIED) if store.pace_s else store
    pulse = Pulse(ears, stint.run, stint.number, stint.compose_beat, _back(stint), stint.used)
    stint.nudge = pulse.nudge
    stint.stopping = lambda: pulse.want_stop.is_set() or pulse.fenced.is_set() or _is_late(stint)
    crew = Crew(stint, ears)
    stint.meet = crew.meet
    pulse.start()
    try:
        end = _carry_out(stint, pulse, crew)
    except Fenced:
        return 0
    finally:
        crew.close()
        pulse.close()
        stint.shipper.close(30.0)
    return 0 if _record(store, stint, end) else 1


def _back(stint: Stint) -> Callable[[float, str], None]:
    def say(seconds: float, problem: str) -> None:
        if seconds >= _WORTH_SAYING_S:
            stint.say("the store is back after %.0f s (%s); the script went on meanwhile" % (seconds, problem))

    return say


def _claim(place: Place, store: Store) -> Optional[Stint]:
    """Make the stint ours, or find out that it is not."""
    order = Order.from_bytes(store.get(layout.order_key(place.run, place.stint)))
    spec: Dict[str, Any] = json.loads(store.get(layout.spec_key(place.run)).decode("utf-8"))
    claim = Claim(token=order.token, host=socket.gethostname(), pid=os.getpid(), claimed_at=now_text())
    if order.token != place.token or store.head(layout.end_key(place.run, place.stint)) is not None:
        return None
    if not store.put_if_absent(layout.claim_key(place.run, place.stint), claim.to_bytes()):
        return None
    return Stint(place, store, order, spec)


def _carry_out(stint: Stint, pulse: Pulse, crew: Crew) -> End:
    supervisor: Optional[Supervisor] = None
    desk: Optional[Desk] = None
    try:
        flag_path = os.path.join(stint.folder("desk"), "flag")
        flag = StopFlag.create(flag_path)
        relay = _Relay()
        desk = Desk(os.path.join(stint.folder("desk"), "socket"), relay)
        prepared = _prepare(stint, pulse, desk.path, flag_path)
        _check_time_is_left(stint)
        _begin_progress(stint, prepared)
        supervisor = relay.target = Supervisor(stint, pulse, flag, prepared.restored, crew)
        supervisor.hear_out = desk.gather
        catch_preemption(supervisor)
        facts = supervisor.run(prepared.argv, prepared.env, prepared.sandboxed)
        verdict = _deliver(supervisor.courier, judge(facts))
        if verdict.reason == "finished":
            supervisor.commit_outputs()
        return _end(stint, verdict, facts.exit_code, supervisor)
    except Fenced:
        raise
    except Stopping:
        return _end(stint, Verdict("stopped", "stopped as asked, while its inputs were fetched"), None, supervisor)
    except RequestError as error:
        return _end(stint, Verdict("setup-error", str(error), "request"), None, supervisor)
    except (PlaceError, NotFound, Damaged, OSError) as error:
        return _end(stint, Verdict("setup-error", str(error), "place"), None, supervisor)
    except Exception as error:  # noqa: BLE001 - a bug of ours must end the stint with words, not with silence
        stint.shipper.log(traceback.format_exc().encode("utf-8", "replace"))
        message = "the runner failed: %s: %s" % (type(error).__name__, error)
        return _end(stint, Verdict("setup-error", message, "place"), None, supervisor)
    finally:
        if desk is not None:
            desk.close()
        if supervisor is not None:
            supervisor.close()


def _deliver(courier: Courier, verdict: Verdict) -> Verdict:
    """Bring named outputs where they belong, unless the next stint will; returns the verdict that then holds.

    A run whose results are not where they were asked for has not finished: the next stint tries again.
    """
    courier.close()
    if verdict.reason in ("stopped", "script-error"):
        courier.deliver()
    left = courier.deliver_patiently() if verdict.reason == "finished" else []
    return Verdict("setup-error", "the script has finished, but %s" % "; ".join(left), "place") if left else verdict


def _prepare(stint: Stint, pulse: Pulse, socket_path: str, flag_path: str) -> Prepared:
    try:
        return prepare(stint, socket_path, flag_path)
    except Stopping:
        if pulse.fenced.is_set():
            raise Fenced from None
        if not pulse.want_stop.is_set():
            _check_time_is_left(stint)
        raise


class _Relay:
    """Takes the desk's calls and passes them on once the supervisor exists; no script speaks before that."""

    target: Optional[Supervisor] = None

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("on_") or self.target is None:
            raise AttributeError(name)
        return getattr(self.target, name)


def _check_time_is_left(stint: Stint) -> None:
    """A limit that the preparation alone uses up can never work: say so before the script is started and killed.

    A run that has come further has started in time before: then this place was slow, and another start may not be.
    """
    if not _is_late(stint):
        return
    limit_s, used_s = stint.order.limit_s or 0.0, stint.elapsed_s()
    spent = ", ".join("%s %.1f s" % pair for pair in stint.phases.phases().items() if pair[1] >= 0.05)
    kind = RequestError if stint.order.resume_from is None else PlaceError
    raise kind(
        "the limit of %g s is shorter than the start-up, which took %.1f s (%s); give at least --limit %ds"
        % (limit_s, used_s, spent, int(used_s * 3) + 1)
    )


def _is_late(stint: Stint) -> bool:
    """Whether the script, started now, would have no time at all."""
    limit_s = stint.order.limit_s
    return limit_s is not None and stint.elapsed_s() >= stint.deadline.kill_at_s() - min(1.0, limit_s / 10)


def _begin_progress(stint: Stint, prepared: Prepared) -> None:
    manifest = prepared.restored.manifest
    if manifest is not None:
        stint.progress = Progress(manifest.progress)
        stint.progress.recall(manifest.metrics, manifest.best)


def _end(stint: Stint, verdict: Verdict, exit_code: Optional[int], supervisor: Optional[Supervisor]) -> End:
    failed = verdict.reason in ("script-error", "setup-error", "time-limit")
    tail, fingerprint = supervisor.last_words(verdict.message) if supervisor is not None and failed else ([], "")
    if verdict.message:
        stint.say("%s: %s" % (verdict.reason, verdict.message))
    progress = stint.progress
    return End(
        reason=verdict.reason,
        message=verdict.message,
        cause=verdict.cause,
        exit_code=exit_code,
        last_checkpoint=stint.last_checkpoint,
        checkpoints=stint.committed,
        phases={name: round(seconds, 4) for name, seconds in stint.phases.phases().items()},
        epoch=progress.epoch,
        step=progress.step,
        metrics=dict(progress.metrics),
        best=dict(progress.best),
        tail=tail,
        tasks=stint.tasks(),
        fingerprint=fingerprint,
        at=now_text(),
    )


def _record(store: Store, stint: Stint, end: End) -> bool:
    try:
        store.put_if_absent(layout.end_key(stint.run, stint.number), end.to_bytes())
    except InsideError as error:
        sys.stderr.write("the end of stint %d could not be recorded: %s\n" % (stint.number, error))
        return False
    return True
