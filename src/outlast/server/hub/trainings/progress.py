"""A training as it is now: its run, worded as Xihe words it."""

from __future__ import annotations

import datetime
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from outlast.errors import NotFoundError
from outlast.keeper.observe import RunFolder
from outlast.keeper.view import decide_from_folder
from outlast.model.states import EndReason, RunState
from outlast.operations.locate import Located, locate
from outlast.server.hub.trainings.book import Training
from outlast.server.logtext import LogText
from outlast.settings import Settings

SCHEDULING, SCHEDULE_FAILED, RUNNING = "scheduling", "schedule_failed", "Running"
COMPLETED, FAILED, TERMINATED, TERMINATING = "Completed", "Failed", "Terminated", "Terminating"
DONE = frozenset({SCHEDULE_FAILED, COMPLETED, FAILED, TERMINATED})
#: A training without a run is being made, for so long.
_BEING_MADE_S = 120.0
#: The newest part of a log that an answer carries.
LOG_BYTES = 5 << 20
_AT_LIMIT = (EndReason.TIME_LIMIT, EndReason.HAND_OVER)


@dataclass(frozen=True)
class Seen:
    """A training and its run; `found` is None while, or because, that is not there."""

    training: Training
    status: str
    duration_s: int = 0
    error: str = ""
    found: Located | None = field(default=None, compare=False)  # opened anew at every look

    @property
    def is_done(self) -> bool:
        return self.status in DONE

    def summary(self) -> dict[str, Any]:
        """As lists show it."""
        day = datetime.datetime.fromtimestamp(self.training.created_at, datetime.UTC).strftime("%Y-%m-%d")
        return {
            "id": self.training.id, "name": self.training.name, "desc": self.training.body["desc"],
            "error": self.error, "status": self.status, "created_at": day, "is_done": self.is_done,
            "duration": self.duration_s,
        }  # fmt: skip

    def detail(self) -> dict[str, Any]:
        """Everything about it; `run`, `commit`, `notices` and `config` are ours."""
        body = self.training.body
        aim_path = "aim" if body["enable_aim"] and self.status == COMPLETED else ""
        return {
            **self.summary(), "compute": body["compute"], "enable_aim": body["enable_aim"], "aim_path": aim_path,
            "log": self.log(), "run": self.training.run if self.found is not None else "",
            "commit": self.training.commit, "notices": self.training.notices, "config": body,
        }  # fmt: skip

    def log(self) -> str:
        """The output, or the newest megabytes of a long one."""
        text = self.log_text()
        if text is None:
            return ""
        start = max(0, text.size_bytes - LOG_BYTES)
        found = bytearray()
        while start + len(found) < text.size_bytes:
            piece = text.get(start + len(found), text.size_bytes - start - len(found))
            if not piece:
                break
            found += piece
        left_out = f"… {start} bytes before this are in the file of the log\n" if start else ""
        return left_out + found.decode("utf-8", "replace")

    def log_text(self) -> LogText | None:
        """The output so far; None before there is any."""
        text = LogText.read(self.found) if self.found is not None else None
        return text if text is not None and text.size_bytes else None


def see(settings: Settings, training: Training) -> Seen:
    """Look at a training's run."""
    if training.error:
        return Seen(training, SCHEDULE_FAILED, error=training.error)
    try:
        found = locate(settings, training.run)
        folder = found.folder()
    except NotFoundError:
        if time.time() - training.created_at < _BEING_MADE_S:
            return Seen(training, SCHEDULING)
        return Seen(training, SCHEDULE_FAILED, error="the run of this training was removed, or never made")
    return _look(settings, training, found, folder)


def _look(settings: Settings, training: Training, found: Located, folder: RunFolder) -> Seen:
    decision = decide_from_folder(folder, settings)
    last = folder.ends.get(folder.last)
    reason = EndReason(last.reason) if last is not None else None
    status = judge(decision.state, reason, stopping=folder.control.want == "stop", planned=folder.last > 0)
    starts = [_seconds(claim.claimed_at) for claim in folder.claims.values() if claim.claimed_at]
    until = _seconds(last.at) if status in DONE and last is not None and last.at else time.time()
    duration_s = max(0, int(until - min(starts))) if starts else 0
    error = ""
    if status in (FAILED, TERMINATED) and decision.state is RunState.FAILED:
        error = _with_last_lines(decision.message, last.tail[-5:] if last is not None else [])
    return Seen(training, status, duration_s, error, found)


def _with_last_lines(message: str, tail: Sequence[str]) -> str:
    """Why it failed and what the script said last; a message that ends with those lines has them once."""
    told = {line.strip() for line in message.splitlines()}
    return "\n".join([message, *(line for line in tail if line.strip() not in told)]).strip()


def judge(state: RunState, reason: EndReason | None, *, stopping: bool, planned: bool) -> str:
    """The status of a run in the words of the wire."""
    if state is RunState.SUCCEEDED:
        return COMPLETED
    if state is RunState.STOPPED or (state is RunState.FAILED and reason in _AT_LIMIT):
        return TERMINATED  # whoever ended it, the user or the clock
    if state is RunState.FAILED:
        return FAILED
    if stopping:
        return TERMINATING
    return RUNNING if planned else SCHEDULING


def _seconds(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
