"""From one look at a run to what shall be done: tend the open stint, or follow the end of the last one."""

from __future__ import annotations

from outlast.model.quantities import format_duration
from outlast.model.states import EndReason, RunState, StintState
from outlast.relay.choose import Choice
from outlast.relay.seen import (
    Action,
    Cancel,
    Decision,
    Job,
    RunSeen,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
)
from outlast.relay.verdict import judge, resume_words, stopped_words

_LEAVING = ("handing-over", "committing")


def decide(seen: RunSeen) -> Decision:
    """What the run is now and what to do, in this order. Pure; see the package for what may be relied on."""
    stints = _real_stints(seen)
    mending = _mend(seen, stints)
    if stints and stints[-1].is_open:
        state, actions, message = _tend(seen, stints[-1])
    else:
        state, actions, message = _follow(seen, stints)
    last = stint_state(stints[-1]) if stints else None
    return Decision(state, (*mending, *actions), message, last)


def run_state(seen: RunSeen) -> RunState:
    """The state alone, as `decide` gives it."""
    return decide(seen).state


def stint_state(stint: StintSeen) -> StintState:
    """Where one stint is."""
    if stint.end is not None:
        return StintState.ENDED
    if stint.claimed:
        if stint.phase in _LEAVING:
            return StintState.HANDING_OVER
        return StintState.RUNNING if stint.phase == "running" else StintState.PREPARING
    if stint.job is Job.QUEUED:
        return StintState.QUEUED
    if stint.job is Job.RUNNING:
        return StintState.RUNNING if stint.is_silent else StintState.PREPARING
    known = stint.since_submit_s is not None or stint.job is Job.ENDED
    return StintState.SUBMITTED if known else StintState.PLANNED


def next_checkpoint(seen: RunSeen) -> str | None:
    """Where the next stint starts: its order's `resume_from`.

    The highest checkpoint since the run was last resumed; before there is one, what the user chose; otherwise the
    highest of all. Damaged ones are passed over, and a damaged choice falls back to what came before it.
    """
    usable = sorted((c for c in seen.checkpoints if c not in seen.damaged), key=_order)
    fresh = [c for c in usable if _order(c)[0] >= seen.since_stint]
    if fresh:
        return fresh[-1]
    if seen.resume_from is not None:
        usable = [c for c in usable if _order(c) <= _order(seen.resume_from)]
    return usable[-1] if usable else None


def _order(checkpoint: str) -> tuple[int, int]:
    stint, _, number = checkpoint.partition("-")
    return int(stint), int(number)


def _real_stints(seen: RunSeen) -> tuple[StintSeen, ...]:
    """Without folders whose order is not there (yet): their number is given out again, put-if-absent decides."""
    return tuple(stint for stint in seen.stints if stint.ordered or stint.end is not None)


def _mend(seen: RunSeen, stints: tuple[StintSeen, ...]) -> list[Action]:
    """Fence what has no end although a later order exists, and cancel jobs that outlive their stint's end."""
    actions: list[Action] = []
    for stint in stints[:-1]:
        if stint.is_open:
            words = f"stint {stint.number} was given up when stint {stints[-1].number} was ordered"
            actions.append(WriteEnd(stint.number, EndReason.LOST, words))
    for stint in stints:
        if stint.end is None or stint.job not in (Job.QUEUED, Job.RUNNING):
            continue
        # A runner that wrote its own end is about to leave; one that was fenced does not know it yet.
        if stint.end.by != "runner" or stint.end.ago_s >= seen.policy.linger_s:
            actions.append(Cancel(stint.number))
    return actions


Step = tuple[RunState, tuple[Action, ...], str]


def _follow(seen: RunSeen, stints: tuple[StintSeen, ...]) -> Step:
    """Every stint has ended: the run is over, or the next stint is due, now or after a delay."""
    counted = [stint for stint in stints if stint.number >= seen.since_stint and not stint.was_refused]
    delay_s, message = 0.0, "resumed" if stints else "starts"
    if counted:
        verdict = judge(seen, counted)
        if verdict.state is not None:
            return verdict.state, (), verdict.message
        delay_s, message = verdict.delay_s, verdict.message
    if stints and stints[-1].end is not None and stints[-1].was_refused:
        message = stints[-1].end.message or message
    if seen.want == "stop":
        return RunState.STOPPED, (), stopped_words(seen)
    if seen.policy.max_stints is not None and len(counted) >= seen.policy.max_stints:
        limit = seen.policy.max_stints
        words = f"reached the limit of {limit} stint{'' if limit == 1 else 's'}; {resume_words(seen)}"
        return RunState.STOPPED, (), words
    state = RunState.RUNNING if _has_started(stints) else RunState.QUEUED
    if seen.hold and not counted:
        return state, (Wait(None, seen.hold),), seen.hold
    end = counted[-1].end if counted else None
    left_s = delay_s - end.ago_s if end is not None else 0.0
    if left_s > 0:
        return state, (Wait(left_s, f"next stint in {format_duration(left_s)}"),), message
    choice = seen.choice or Choice()
    if seen.choice is not None and not choice.platform:
        return state, (Wait(choice.wait_s, choice.why),), choice.why
    number = max((stint.number for stint in stints), default=0) + 1
    order = WriteOrder(number, next_checkpoint(seen), choice.platform, choice.why)
    return state, (order, Submit(number)), message


def _has_started(stints: tuple[StintSeen, ...]) -> bool:
    return any(
        stint.claimed
        or (stint.is_silent and stint.job is Job.RUNNING)
        or (stint.end is not None and not stint.was_refused)
        for stint in stints
    )


def _tend(seen: RunSeen, stint: StintSeen) -> Step:
    """The last stint is open: launch it, watch it, or fence it when its runner is gone."""
    state = RunState.RUNNING if _has_started(seen.stints) else RunState.QUEUED
    if seen.want == "stop":
        return (state, *_stop(seen, stint))
    if stint.job is Job.ABSENT and not stint.claimed:
        return (state, *_launch(seen, stint))
    if stint.is_gone:
        return (state, *_bury(seen, stint))
    if stint.job is Job.RUNNING:
        return (state, *_listen(seen, stint))
    return (state, *_queue(seen, stint))


def _queue(seen: RunSeen, stint: StintSeen) -> tuple[tuple[Action, ...], str]:
    """No machine yet. Another platform is tried when there is one and the patience is over; otherwise we wait."""
    message, waited_s = f"stint {stint.number} is queued", stint.waiting_s or 0.0
    patience_s = seen.policy.unheard_patience_s if stint.unheard else seen.policy.queue_patience_s
    where = f"{stint.platform} {stint.unheard}" if stint.unheard else ""
    if not seen.elsewhere:
        return (Wait(None, message),), where or message
    if waited_s < patience_s:
        return (Wait(patience_s - waited_s, message),), where or message
    words = where or f"stint {stint.number} waited {format_duration(waited_s)} in the queue of {stint.platform}"
    return _fence(stint, EndReason.REFUSED, words), words


def _launch(seen: RunSeen, stint: StintSeen) -> tuple[tuple[Action, ...], str]:
    """Ordered, not claimed, and the platform shows no such job."""
    policy, missing_s = seen.policy, stint.gone_s or 0.0
    message = f"stint {stint.number} is submitted"
    if stint.refused:
        return _fence(stint, EndReason.REFUSED, stint.refused), stint.refused
    if stint.since_submit_s is None:
        return (Submit(stint.number),), message
    if stint.unheard:  # whether it has the job is not known
        return _queue(seen, stint)
    if missing_s >= policy.launch_silence_s:
        where = stint.platform or "the platform"
        words = f"{where} was asked for stint {stint.number} and shows no job for {format_duration(missing_s)}"
        return _fence(stint, EndReason.REFUSED, words), words
    # Some schedulers list a job only after a while; asking again at once could start it twice.
    if missing_s < policy.resubmit_s:
        return (Wait(policy.resubmit_s - missing_s, "the platform does not show the job yet"),), message
    return (Submit(stint.number),), message


def _bury(seen: RunSeen, stint: StintSeen) -> tuple[tuple[Action, ...], str]:
    """The job is gone without an end; the end record may still become visible for a moment."""
    gone_s = stint.gone_s or 0.0
    if gone_s < seen.policy.settle_s:
        why = f"stint {stint.number}'s job is gone; its end may still appear"
        return (Wait(seen.policy.settle_s - gone_s, why),), why
    if stint.preempted:
        why = f" ({stint.job_words})" if stint.job_words else ""
        words = f"the platform took the machine of stint {stint.number}{why}"
        return _fence(stint, EndReason.PREEMPTED, words), words
    words = f"the job of stint {stint.number} {_how_it_went(stint)}"
    return _fence(stint, EndReason.LOST, words), words


def _how_it_went(stint: StintSeen) -> str:
    if stint.job is Job.QUEUED:
        return "was put back into the queue"
    when = "ended without a word" if stint.claimed else "ended before its runner came up"
    code, words = stint.job_exit, stint.job_words
    exit_words = "" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
    said = words if exit_words in words else ", ".join(filter(None, (exit_words, words)))
    return f"{when} ({said})" if said else when


def _listen(seen: RunSeen, stint: StintSeen) -> tuple[tuple[Action, ...], str]:
    """The job runs: is there a sign of life?"""
    policy = seen.policy
    if stint.is_silent:
        message = f"stint {stint.number} is {stint_state(stint)}"
        return (Wait(None, message),), message
    if stint.silent_s is not None:
        quiet_s, limit_s = stint.silent_s, policy.silence_limit_s
        words = f"no sign of life from stint {stint.number} for {format_duration(quiet_s)}"
    else:
        quiet_s = stint.running_s or 0.0
        # The claim may have come at the last moment; its first beat is due one silence later.
        limit_s = policy.launch_silence_s + (policy.silence_limit_s if stint.claimed else 0.0)
        words = f"stint {stint.number} has a machine for {format_duration(quiet_s)}, but its runner never came up"
    if quiet_s >= limit_s:
        return _fence(stint, EndReason.LOST, words), words
    message = f"stint {stint.number} is {stint_state(stint)}"
    return (Wait(limit_s - quiet_s, message),), message


def _stop(seen: RunSeen, stint: StintSeen) -> tuple[tuple[Action, ...], str]:
    """The user asked to stop. A runner reads that itself and saves; what has no runner is ended here."""
    policy, message = seen.policy, f"stint {stint.number} is asked to stop"
    if stint.job is Job.RUNNING:
        asked_s = seen.asked_stop_s or 0.0
        if asked_s < policy.stop_patience_s:
            return (Wait(policy.stop_patience_s - asked_s, message),), message
        words = f"stopped as asked; the script had not left after {format_duration(asked_s)}"
        return (Cancel(stint.number), WriteEnd(stint.number, EndReason.STOPPED, words)), message
    gone_s = stint.gone_s or 0.0
    if stint.is_gone and gone_s < policy.settle_s:
        return (Wait(policy.settle_s - gone_s, message),), message
    # Cancelled even if it was never submitted, as far as this keeper knows: the one before it may have asked.
    return _fence(stint, EndReason.STOPPED, "stopped as asked"), message


def _fence(stint: StintSeen, reason: EndReason, words: str) -> tuple[Action, ...]:
    # The end first: from then on the old runner commits nothing, whether or not the cancelling works.
    return WriteEnd(stint.number, reason, words), Cancel(stint.number)
