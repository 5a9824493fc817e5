"""What follows the end of a stint: one rule per end reason, and the words that explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from outlast.model.quantities import format_duration
from outlast.model.states import EndReason, RunState
from outlast.relay.fixes import suggest_fix
from outlast.relay.seen import EndSeen, RunSeen, StintSeen

_TAIL_LINES = 8

Stints = Sequence[StintSeen]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A final state, or None: then the next stint follows after the delay."""

    state: RunState | None
    message: str
    delay_s: float = 0.0


def judge(seen: RunSeen, stints: Stints) -> Verdict:
    """What follows, given the ended stints that count, in order; the last one's reason decides."""
    return _RULES[_end(stints[-1]).reason](seen, stints)


def has_progress(seen: RunSeen, stint: StintSeen) -> bool:
    """Whether a stint committed a checkpoint that can be restored."""
    return any(checkpoint not in seen.damaged for checkpoint in stint.checkpoints)


def resume_words(seen: RunSeen) -> str:
    return f"continue with: outlast resume {seen.run}"


def _end(stint: StintSeen) -> EndSeen:
    if stint.end is None:
        raise ValueError(f"stint {stint.number} has not ended")
    return stint.end


def _idle_row(seen: RunSeen, stints: Stints) -> list[StintSeen]:
    """The stints since the last new checkpoint, latest first."""
    row: list[StintSeen] = []
    for stint in reversed(stints):
        if has_progress(seen, stint):
            break
        row.append(stint)
    return row


def _count(row: Iterable[StintSeen], *reasons: EndReason) -> int:
    return sum(_end(stint).reason in reasons for stint in row)


def _backoff_s(seen: RunSeen, row: Sequence[StintSeen]) -> float:
    steps = seen.policy.backoff_s
    return steps[min(len(row), len(steps) - 1)] if steps else 0.0


def _place(seen: RunSeen) -> str:
    return f"'{seen.checkpoint_place}'" if seen.checkpoint_place else "its checkpoint place"


def _limit(seen: RunSeen) -> str:
    return f"its limit of {format_duration(seen.limit_s)}" if seen.limit_s is not None else "its time limit"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _finished(seen: RunSeen, stints: Stints) -> Verdict:
    count = sum(not stint.was_refused for stint in seen.stints)
    return Verdict(RunState.SUCCEEDED, f"finished after {_plural(count, 'stint')}")


def _stopped(seen: RunSeen, stints: Stints) -> Verdict:
    return Verdict(RunState.STOPPED, stopped_words(seen))


def stopped_words(seen: RunSeen) -> str:
    usable = any(checkpoint not in seen.damaged for checkpoint in seen.checkpoints)
    kept = "" if usable else "; nothing was saved, so it would start from the beginning"
    return f"{seen.why_stop or 'stopped as asked'}; {resume_words(seen)}{kept}"


def _hand_over(seen: RunSeen, stints: Stints) -> Verdict:
    last = stints[-1]
    if not has_progress(seen, last):
        return _time_limit(seen, stints)
    circling, certain = _circling(stints)
    if circling < seen.policy.no_progress_limit:
        return Verdict(None, f"stint {last.number} handed over at {last.checkpoints[-1]}")
    words = (
        f"the last {_plural(circling + 1, 'stint')} all ended at {_where(last)} or before: the script seems to start "
        f"from the beginning each time; it must load what it finds in {_place(seen)} when it starts"
    )
    return Verdict(RunState.FAILED if certain else None, words)


def _circling(stints: Stints) -> tuple[int, bool]:
    """How many hand-overs in a row got no further than an earlier one, and whether that is certain.

    A script that saves but never loads hands over for ever, at about the same place. Equal epochs without a step are
    only a suspicion: the training may be several stints into one long epoch. So are steps alone: some scripts count
    them from their own start.
    """
    row: list[StintSeen] = []
    for stint in reversed(stints):
        if _end(stint).reason is not EndReason.HAND_OVER:
            break
        row.append(stint)
    row.reverse()
    best: StintSeen | None = None
    count, certain = 0, True
    for stint in row:
        further = best is None or _is_further(stint, best)
        if further is not False:
            best, count, certain = stint, 0, True
        else:
            count += 1
            certain = certain and _is_surely_not_further(stint, best)
    return count, certain


def _is_further(stint: StintSeen, best: StintSeen) -> bool | None:
    """Whether a stint got beyond another; None when nothing tells."""
    if stint.epoch is not None and best.epoch is not None and stint.epoch != best.epoch:
        return stint.epoch > best.epoch
    if stint.step is not None and best.step is not None:
        return stint.step > best.step
    if stint.epoch is not None and best.epoch is not None:
        return False
    return None


def _is_surely_not_further(stint: StintSeen, best: StintSeen | None) -> bool:
    if best is None or stint.epoch is None or best.epoch is None or _is_further(stint, best) is not False:
        return False
    return stint.epoch != best.epoch or (stint.step is not None and best.step is not None)


def _where(stint: StintSeen) -> str:
    if stint.epoch is not None:
        return f"epoch {stint.epoch:g}"
    return f"step {stint.step}"


def _time_limit(seen: RunSeen, stints: Stints) -> Verdict:
    last = stints[-1]
    usable = [checkpoint for checkpoint in seen.checkpoints if checkpoint not in seen.damaged]
    if not usable:
        lost = f"; {_plural(len(seen.checkpoints), 'older one')} cannot be restored" if seen.checkpoints else ""
        return Verdict(
            RunState.FAILED,
            f"stint {last.number} reached {_limit(seen)} and left no checkpoint in {_place(seen)}{lost}, so the next "
            "one would start from nothing; name the place where the script saves with --checkpoint PATH, let it save "
            "more often, or call outlast.save in it",
        )
    row = _idle_row(seen, stints)
    count = _count(row, EndReason.TIME_LIMIT, EndReason.HAND_OVER)
    if count >= seen.policy.no_progress_limit:
        return Verdict(
            RunState.FAILED,
            f"{_plural(count, 'stint')} in a row reached {_limit(seen)} before the script saved again; let it save "
            f"more often, or give each stint longer: outlast resume {seen.run} --limit DURATION",
        )
    if has_progress(seen, last):
        return Verdict(None, f"stint {last.number} reached {_limit(seen)} after saving {last.checkpoints[-1]}")
    return Verdict(
        None,
        f"stint {last.number} reached {_limit(seen)} without a new checkpoint; tries again from the older one "
        f"({count} of {seen.policy.no_progress_limit})",
    )


def _lost(seen: RunSeen, stints: Stints) -> Verdict:
    last = stints[-1]
    row = _idle_row(seen, stints)
    count = _count(row, EndReason.LOST, EndReason.PREEMPTED)
    what = _end(last).message or f"stint {last.number} was {_end(last).reason}"
    if count < seen.policy.lost_limit:
        return Verdict(None, what, _backoff_s(seen, row))
    fix = suggest_fix((), last.job_exit) or "save more often, or try another platform"
    return Verdict(
        RunState.FAILED,
        f"{_plural(count, 'stint')} in a row were lost before a new checkpoint; the last: {what}; {fix}; "
        f"{resume_words(seen)}",
    )


def _setup_error(seen: RunSeen, stints: Stints) -> Verdict:
    last = stints[-1]
    end = _end(last)
    what = end.message or f"stint {last.number} could not be prepared"
    if end.cause == "request":
        return Verdict(RunState.FAILED, _with_tail(seen, what, end))
    row = _idle_row(seen, stints)
    count = _count(row, EndReason.SETUP_ERROR)
    if count < seen.policy.no_progress_limit:
        return Verdict(None, what, _backoff_s(seen, row))
    words = f"{_plural(count, 'stint')} in a row could not be prepared; the last: {what}; {resume_words(seen)}"
    return Verdict(RunState.FAILED, _with_tail(seen, words, end))


def _script_error(seen: RunSeen, stints: Stints) -> Verdict:
    last = stints[-1]
    end = _end(last)
    failed = f"the script failed in stint {last.number}{_exit_words(end.exit_code)}"
    row = _error_row(seen, stints)
    repeated = len(row) > 1 and bool(end.fingerprint) and _end(row[1]).fingerprint == end.fingerprint
    if not has_progress(seen, last):
        again = ", with the same error as before" if repeated else ""
        return Verdict(RunState.FAILED, _with_tail(seen, f"{failed} before it saved anything new{again}", end))
    if repeated and _is_further(last, row[1]) is False:
        words = f"{failed}, again at {_where(last)} with the same error"
        return Verdict(RunState.FAILED, _with_tail(seen, words, end))
    if len(row) > seen.policy.script_retries:
        times = f", {len(row)} times in a row" if len(row) > 1 else ""
        return Verdict(RunState.FAILED, _with_tail(seen, f"{failed}{times}; {resume_words(seen)}", end))
    words = f"{failed} after saving {last.checkpoints[-1]}; starts again from there"
    return Verdict(None, f"{words} (retry {len(row)} of {seen.policy.script_retries})")


def _error_row(seen: RunSeen, stints: Stints) -> list[StintSeen]:
    """The script errors in a row, latest first; a lost machine between two of them does not break the row."""
    row: list[StintSeen] = []
    for stint in reversed(stints):
        reason = _end(stint).reason
        if reason is EndReason.SCRIPT_ERROR:
            row.append(stint)
        elif reason not in _PASSING or has_progress(seen, stint):
            break
    return row


_PASSING = (EndReason.LOST, EndReason.PREEMPTED, EndReason.SETUP_ERROR)


def _exit_words(exit_code: int | None) -> str:
    if exit_code is None:
        return ""
    return f" (signal {-exit_code})" if exit_code < 0 else f" (exit code {exit_code})"


def _with_tail(seen: RunSeen, words: str, end: EndSeen) -> str:
    """The sentence, the script's last lines, and what may help."""
    lines = [words, *(f"  {line}" for line in end.tail[-_TAIL_LINES:])]
    fix = suggest_fix(end.tail, end.exit_code, seen.contract)
    if fix:
        lines.append(fix)
    return "\n".join(lines)


_RULES: dict[EndReason, Callable[[RunSeen, Stints], Verdict]] = {
    EndReason.FINISHED: _finished,
    EndReason.HAND_OVER: _hand_over,
    EndReason.TIME_LIMIT: _time_limit,
    EndReason.PREEMPTED: _lost,
    EndReason.LOST: _lost,
    EndReason.SCRIPT_ERROR: _script_error,
    EndReason.SETUP_ERROR: _setup_error,
    EndReason.STOPPED: _stopped,
}
