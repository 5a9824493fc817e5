"""What the relay is shown: stints that ended, runs as they were seen; and how its answers are read."""

from __future__ import annotations

from outlast.model.states import EndReason
from outlast.relay import (
    Cancel,
    EndSeen,
    Job,
    Policy,
    RunSeen,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
    decide,
)

E = EndReason


def ended(number: int, reason: EndReason, saved: int = 0, **facts: object) -> StintSeen:
    """A stint that ended with a reason after committing so many checkpoints."""
    place = {name: facts.pop(name) for name in ("epoch", "step") if name in facts}
    names = tuple(f"{number:04d}-{n:06d}" for n in range(1, saved + 1))
    end = EndSeen(reason, **facts)  # type: ignore[arg-type]
    return StintSeen(number, job=Job.ENDED, claimed=True, end=end, checkpoints=names, **place)


def seen(*stints: StintSeen, **facts: object) -> RunSeen:
    policy = facts.pop("policy", Policy())
    checkpoints = tuple(name for stint in stints for name in stint.checkpoints)
    facts.setdefault("run", "1115-quiet-otter-7kq")
    facts.setdefault("checkpoint_place", "ckpt")
    return RunSeen(policy=policy, stints=stints, checkpoints=checkpoints, **facts)  # type: ignore[arg-type]


def is_next(run: RunSeen, number: int, resume_from: str | None) -> bool:
    return decide(run).actions == (WriteOrder(number, resume_from), Submit(number))


def tend(**facts: object) -> tuple[object, ...]:
    want = {name: facts.pop(name) for name in ("want", "asked_stop_s") if name in facts}
    return decide(seen(StintSeen(1, **facts), **want)).actions  # type: ignore[arg-type]


def is_lost(actions: tuple[object, ...], reason: EndReason = E.LOST) -> bool:
    """The fence first, then the cancelling."""
    end, cancel = actions if len(actions) == 2 else (None, None)
    return isinstance(end, WriteEnd) and end.reason is reason and cancel == Cancel(1)


def is_refused(actions: tuple[object, ...]) -> bool:
    return is_lost(actions, E.REFUSED)


def is_wait(actions: tuple[object, ...]) -> bool:
    return len(actions) == 1 and isinstance(actions[0], Wait)
