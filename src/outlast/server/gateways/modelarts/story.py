"""The events of a job, told from its run folder in the order of the console, in English and Chinese."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from outlast.inside.ledger import PHASES
from outlast.keeper.observe import RunFolder
from outlast.model.quantities import format_duration
from outlast.model.states import EndReason
from outlast.server.gateways.modelarts.jobs import TASK, SeenJob
from outlast.server.gateways.modelarts.phases import exit_number, to_ms

INFO, WARNING, ERROR = "Info", "Warning", "Error"
JOB, TASK_SOURCE = "Job", "Task"

#: What is told → the words, in English and Chinese.
_WORDS = {
    "created": ("Training job created.", "训练作业创建成功。"),
    "queued": ("Training job is queuing.", "训练作业排队中。"),
    "running": ("Training job is running.", "训练作业运行中。"),
    "restarted": ("Training job restarted; it goes on from its last checkpoint.", "训练作业重启，从最后的检查点继续。"),
    "started": ("Training started.", "训练开始。"),
    "ended": ("Training finished with exit code {code}.", "训练结束，退出码 {code}。"),
    "succeeded": ("Training job succeeded.", "训练作业运行成功。"),
    "failed": ("Training job failed: {why}", "训练作业运行失败：{why}"),
    "stopped": ("Training job stopped by hand.", "训练作业被手动停止。"),
    "limit": (
        "Training job stopped: it ran for {limit}, the longest that its flavor or auto_stop allows.",
        "训练作业已停止：已达到规格或自动停止允许的最长运行时间 {limit}。",
    ),
    "lost": ("The machine of the training job was lost.", "训练作业所在的机器已丢失。"),
    "notice": ("{why}", "{why}"),
}
#: Phases of a stint that the console tells of, each with its beginning and its end.
_STEPS = {
    "fetching": ("Code download", "代码下载"),
    "environment": ("Dependencies: installation from pip-requirements.txt", "安装 pip-requirements.txt 中的依赖"),
    "staging": ("Input data download", "输入数据下载"),
    "restoring": ("Checkpoint download", "检查点下载"),
    "committing": ("Output upload", "输出数据上传"),
}


class Event(NamedTuple):
    """One thing that happened."""

    at_ms: int
    level: str
    source: str
    words: tuple[str, str]

    def body(self, chinese: bool) -> dict[str, Any]:
        return {
            "time": moment_of(self.at_ms), "level": self.level, "source": self.source,
            "message": self.words[chinese],
        }  # fmt: skip


def moment_of(at_ms: int) -> str:
    """A time as events and stages tell it."""
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).isoformat(timespec="milliseconds")


def events_of(seen: SeenJob) -> list[Event]:
    """Everything that happened to a job, oldest first."""
    made = seen.row.created_ms
    found = [_event(made, "created")]
    found += [_event(made, "notice", WARNING, why=notice) for notice in seen.row.notices]
    if seen.folder is not None:
        for number in sorted(seen.folder.orders):
            found += _stint(seen.folder, number)
        found += _outcome(seen, seen.progress.end_ms or max(event.at_ms for event in found))
    return sorted(found, key=lambda event: event.at_ms)  # stable: what happened at once stays in order


def _event(at_ms: int, what: str, level: str = INFO, source: str = JOB, **facts: object) -> Event:
    english, chinese = (words.format(**facts) for words in _WORDS[what])
    prefix = f"[{TASK}] " if source == TASK_SOURCE else ""
    return Event(at_ms, level, source, (prefix + english, prefix + chinese))


def _stint(folder: RunFolder, number: int) -> Iterator[Event]:
    order, claim, end = folder.orders[number], folder.claims.get(number), folder.ends.get(number)
    if order.created_at:
        yield _event(to_ms(order.created_at), "restarted" if number > 1 else "queued")
    if claim is None or not claim.claimed_at:
        return
    begun = to_ms(claim.claimed_at)
    yield _event(begun, "running")
    beat = folder.beat(number)
    seconds = end.phases if end is not None else beat.phases if beat is not None else {}
    # The phases were measured, not dated: they must not go on beyond the end.
    over = to_ms(end.at) if end is not None and end.at else int(time.time() * 1000)
    for event in _phases(folder, number, begun, seconds):
        yield event._replace(at_ms=min(event.at_ms, over))


def _phases(folder: RunFolder, number: int, begun: int, seconds: Mapping[str, float]) -> Iterator[Event]:
    at_ms, end = float(begun), folder.ends.get(number)
    for phase in PHASES:
        if phase == "running" and phase in seconds:
            yield _event(int(at_ms), "started", source=TASK_SOURCE)
        if phase in seconds and _is_told(folder, number, phase):
            yield from _step(at_ms, phase, seconds[phase])
        at_ms += 1000 * seconds.get(phase, 0.0)
        if phase == "running" and end is not None and end.exit_code is not None:
            code = exit_number(end.exit_code, "")
            yield _event(int(at_ms), "ended", ERROR if code else INFO, TASK_SOURCE, code=code)


def _is_told(folder: RunFolder, number: int, phase: str) -> bool:
    """Only what there was to do: a job without inputs downloads none."""
    spec = folder.spec
    needed: dict[str, object] = {
        "fetching": True,
        "environment": spec.get("requirements") or spec.get("environment"),
        "staging": spec.get("inputs"),
        "restoring": folder.orders[number].resume_from,
        "committing": spec.get("outputs"),
    }
    return bool(needed.get(phase))


def _step(at_ms: float, phase: str, seconds: float) -> Iterator[Event]:
    english, chinese = _STEPS[phase]
    used = f"[time used: {seconds:.1f}s]"
    yield Event(int(at_ms), INFO, TASK_SOURCE, (f"[{TASK}] {english} started.", f"[{TASK}] {chinese}开始。"))
    over = int(at_ms + 1000 * seconds)
    yield Event(over, INFO, TASK_SOURCE, (f"[{TASK}]{used} {english} completed.", f"[{TASK}]{used} {chinese}完成。"))


def _outcome(seen: SeenJob, at_ms: int) -> list[Event]:
    progress, folder = seen.progress, seen.folder
    assert folder is not None
    if progress.phase == "Completed":
        return [_event(at_ms, "succeeded")]
    if progress.phase == "Failed":
        return [_event(at_ms, "failed", ERROR, why=progress.message)]
    if progress.phase == "Abnormal":
        return [_event(at_ms, "lost", ERROR)]
    if progress.phase != "Terminated":
        return []
    if progress.reason in (EndReason.TIME_LIMIT, EndReason.HAND_OVER) and folder.control.want != "stop":
        limit_s = folder.orders[folder.last].limit_s or 0.0
        return [_event(at_ms, "limit", WARNING, limit=format_duration(limit_s))]
    return [_event(at_ms, "stopped", WARNING)]
