"""A run as ModelArts words it: phases, numbers of statuses, times. Pure; `look` alone reads a run folder."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass

from outlast.keeper.observe import RunFolder
from outlast.keeper.view import decide_from_folder
from outlast.model.states import EndReason, RunState
from outlast.settings import Settings

#: Numbers that the first generation uses. `INIT` for what is being made: its own client stops waiting at others.
STATUS_NUMBERS = {
    "Creating": 1, "Pending": 7, "Running": 8, "Terminating": 9, "Completed": 10, "Failed": 11, "Terminated": 12,
    "Abnormal": 14,
}  # fmt: skip
FINAL = frozenset({"Completed", "Failed", "Terminated", "Abnormal"})
STOPPABLE = frozenset({"Creating", "Pending", "Running"})
#: A job without a run is being made, for so long.
_BEING_MADE_S = 60.0
_AT_LIMIT = (EndReason.TIME_LIMIT, EndReason.HAND_OVER)
_SECONDARY = {"Pending": "Queuing"}


@dataclass(frozen=True)
class Progress:
    """Where a job is. Times are milliseconds since 1970, 0 before the start."""

    phase: str
    secondary: str = ""
    start_ms: int = 0
    end_ms: int = 0
    duration_ms: int = 0
    exit_code: int | None = None
    message: str = ""
    reason: str = ""  # of the last stint's end

    @property
    def secondary_phase(self) -> str:
        return self.secondary or _SECONDARY.get(self.phase, self.phase)

    @property
    def number(self) -> int:
        """The status of the first generation."""
        return STATUS_NUMBERS[self.phase]


def without_run(created_at: float, now: float | None = None) -> Progress:
    """A job whose run is not there: it is being made, or somebody removed it by another door."""
    age_s = (time.time() if now is None else now) - created_at
    if age_s < _BEING_MADE_S:
        return Progress("Creating")
    return Progress("Abnormal", "Lost", message="the run of this job was removed")


def look(settings: Settings, folder: RunFolder) -> Progress:
    """Where the job of a run is, from the run's folder."""
    decision = decide_from_folder(folder, settings)
    last = folder.ends.get(folder.last)
    starts = [to_ms(claim.claimed_at) for claim in folder.claims.values() if claim.claimed_at]
    start_ms = min(starts, default=0)
    reason = EndReason(last.reason) if last is not None else None
    phase, secondary = judge(decision.state, reason, stopping=folder.control.want == "stop", planned=folder.last > 0)
    end_ms = to_ms(last.at) if phase in FINAL and last is not None and last.at else 0
    until_ms = end_ms or (0 if phase in FINAL else int(time.time() * 1000))
    return Progress(
        phase, secondary, start_ms, end_ms, max(0, until_ms - start_ms) if start_ms else 0,
        exit_number(last.exit_code if last is not None else None, phase), decision.message if phase in FINAL else "",
        str(reason or ""),
    )  # fmt: skip


def judge(state: RunState, reason: EndReason | None, *, stopping: bool, planned: bool) -> tuple[str, str]:
    """(phase, secondary phase where it is not the same word)."""
    if state is RunState.SUCCEEDED:
        return "Completed", ""
    if state is RunState.STOPPED or (state is RunState.FAILED and reason in _AT_LIMIT):
        return "Terminated", ""  # whoever ended it, the user or the clock
    if state is RunState.FAILED:
        lost = reason in (EndReason.LOST, EndReason.PREEMPTED)
        return ("Abnormal", "Lost") if lost else ("Failed", "")
    if stopping:
        return "Terminating", ""
    if state is RunState.RUNNING:
        return "Running", ""
    return ("Pending", "") if planned else ("Creating", "")


def exit_number(code: int | None, phase: str) -> int | None:
    """An exit code as a shell tells it: a signal n is 128 + n."""
    if code is None:
        return 0 if phase == "Completed" else None
    return 128 - code if code < 0 else code


def to_ms(text: str) -> int:
    """A time of the run folder in milliseconds."""
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)
