"""A job together with its run: looking at it, stopping it, deleting it. What both generations' routes share."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from outlast.errors import NotFoundError
from outlast.keeper.observe import RunFolder
from outlast.operations.locate import Located, locate
from outlast.operations.runs import remove_run, stop_run
from outlast.server.gateways.modelarts.access import Caller
from outlast.server.gateways.modelarts.book import JobBook, JobRow
from outlast.server.gateways.modelarts.phases import STOPPABLE, Progress, look, without_run
from outlast.server.gateways.modelarts.refusing import Refusal
from outlast.settings import Settings

TASK = "worker-0"


@dataclass(frozen=True)
class SeenJob:
    """A job as it is now. `found` and `folder` are None while, or because, its run is not there."""

    row: JobRow
    progress: Progress
    found: Located | None = None
    folder: RunFolder | None = None

    @property
    def nodes(self) -> int:
        """How many machines the job asked for."""
        resource, config = (self.row.body.get("spec") or {}).get("resource") or {}, self.row.body.get("config") or {}
        return int(resource.get("node_count") or config.get("worker_server_num") or 1)

    @property
    def tasks(self) -> list[str]:
        """One for each machine; the first is the job's own."""
        return [f"worker-{node}" for node in range(self.nodes)]

    def node_of(self, task: str) -> int:
        """The machine of a task; ModelArts.2788 when the job has none of that name."""
        if task not in self.tasks:
            raise Refusal("2788", f"no task {task[:64]!r}; this job has {', '.join(self.tasks)}")
        return self.tasks.index(task)


class Unseen:
    """A job that is looked at when that is needed: of a thousand jobs a page shows ten."""

    def __init__(self, settings: Settings, row: JobRow) -> None:
        self._settings = settings
        self.row = row

    @functools.cached_property
    def seen(self) -> SeenJob:
        return see(self._settings, self.row)

    @property
    def progress(self) -> Progress:
        return self.seen.progress


def see(settings: Settings, row: JobRow) -> SeenJob:
    """Look at a job's run."""
    try:
        found = locate(settings, row.run_id)
        folder = found.folder()
    except NotFoundError:
        return SeenJob(row, without_run(row.created_at))
    return SeenJob(row, look(settings, folder), found, folder)


def as_created(row: JobRow) -> SeenJob:
    """A job as the answer to its creation has it, however fast its run is."""
    return SeenJob(row, Progress("Creating"))


def stop(caller: Caller, row: JobRow) -> SeenJob:
    """Ask a job to stop; ModelArts.2796 when it is too late for that."""
    caller.require_member()
    caller.actor.require_change(row.owner, "job")
    seen = see(caller.holding.settings, row)
    if seen.progress.phase not in STOPPABLE or seen.folder is None:
        raise Refusal("2796", f"the job is {seen.progress.phase} and cannot be terminated", status=409)
    stop_run(caller.holding.settings, row.run_id)
    caller.state.accounts.audit.add(caller.actor.name, "run.stop", row.run_id)
    return see(caller.holding.settings, row)


def delete(caller: Caller, row: JobRow) -> None:
    """Delete a job and its run. One that goes on is stopped first."""
    caller.require_member()
    caller.actor.require_change(row.owner, "job")
    try:
        remove_run(caller.holding.settings, row.run_id, force=True)
        caller.state.accounts.audit.add(caller.actor.name, "run.remove", row.run_id)
    except NotFoundError:
        pass  # removed by another door; the job goes now
    JobBook(caller.state.database).remove(row)


def describe(caller: Caller, row: JobRow, text: object) -> None:
    """Give a job another description."""
    caller.require_member()
    caller.actor.require_change(row.owner, "job")
    if not isinstance(text, str) or len(text) > 256:
        raise Refusal("2788", "the description must be a text of at most 256 characters")
    JobBook(caller.state.database).describe(row, text)
