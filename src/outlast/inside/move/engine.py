"""Carry out a plan: move what has to be moved, verify it, and name what could not be."""

from __future__ import annotations

import concurrent.futures
import posixpath
import threading
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Sequence, Tuple

from ..errors import InsideError, NotFound
from .aside import make_folders, sweep
from .base import FILE, FOLDER, LINK, Job, Report, run_jobs
from .local import LocalTree
from .names import shown
from .plan import Options, Place, Plan, Step, emptied
from .streaming import stream
from .survey import survey

_DELETE_AT_ONCE = 1000


class Failure(NamedTuple):
    """A file that is not at the destination."""

    path: str  # of the source, as a user would write it
    reason: str


class Outcome(NamedTuple):
    """What a copy did."""

    place: str  # what the copy is called, as a user would write it
    files: int  # moved, links included
    size_bytes: int
    skipped: int  # were there already
    skipped_bytes: int
    removed: int
    failures: List[Failure]
    notices: List[str]
    elapsed_s: float
    stopped: bool  # the user wanted no more; the same call goes on

    @property
    def complete(self) -> bool:
        return not self.failures and not self.stopped


class Listener(Report):
    """What happens during a whole copy. The default listens to nothing."""

    def looking(self, words: str) -> None:
        """What is being looked at, before anything moves."""

    def planned(self, plan: Plan) -> None:
        """Everything was looked at; the moving begins."""


def copy(sources: Sequence[Place], destination: Place, options: Options, listener: Listener) -> Outcome:
    """Copy files and folders; what is there already is skipped, and nothing is ever removed at a source.

    `RequestError` and `NotFound` come before anything moves. A file that cannot be copied does not stop the others:
    it is named in the outcome. Calling again after an interruption does the rest.
    """
    return carry_out(survey(sources, destination, options, listener.looking), listener)


def carry_out(plan: Plan, listener: Listener) -> Outcome:
    """Do what was planned, and afterwards remove the extras if everything was copied."""
    started = time.monotonic()
    ledger = Ledger(listener)
    listener.planned(plan)
    _prepare(plan)
    for origin, steps in _by_tree(plan.steps):
        ledger.name_of = _namer(origin, plan.destination)
        _move(origin, plan.destination, steps, plan.options, ledger)
    _make_links(plan, ledger)
    removed = _remove_extras(plan) if plan.extras and not ledger.failures and not ledger.stopping() else 0
    return ledger.outcome(plan, removed, time.monotonic() - started)


class Ledger(Report):
    """Counts what arrives and collects what does not, on the way to the listener."""

    def __init__(self, listener: Report) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._stopped = False
        self.files = self.size_bytes = 0
        self.failures: List[Failure] = []
        self.name_of: Callable[[Job], str] = lambda job: shown(job.path)

    def moved(self, count: int) -> None:
        self._listener.moved(count)

    def done(self, job: Job) -> None:
        with self._lock:
            self.files += 1
            self.size_bytes += job.size_bytes
        self._listener.done(job)

    def failed(self, job: Job, error: InsideError) -> None:
        if self.stopping():
            return  # it was asked to end: that is no fault of the file
        reason = "it is gone" if isinstance(error, NotFound) else str(error)
        with self._lock:
            self.failures.append(Failure(self.name_of(job), reason))
        self._listener.failed(job, error)

    def stopping(self) -> bool:
        self._stopped = self._stopped or self._listener.stopping()
        return self._stopped

    def outcome(self, plan: Plan, removed: int, elapsed_s: float) -> Outcome:
        skipped = [step.item for step in plan.skipped if step.item.kind != FOLDER]
        return Outcome(
            shown(str(plan.landing)), self.files, self.size_bytes, len(skipped),
            sum(item.size_bytes for item in skipped), removed, sorted(self.failures), plan.notices, elapsed_s,
            self.stopping(),
        )  # fmt: skip


def _by_tree(steps: Iterable[Step]) -> Iterable[Tuple[Place, List[Step]]]:
    groups: Dict[int, Tuple[Place, List[Step]]] = {}
    for step in steps:
        if step.item.kind == FILE:
            groups.setdefault(id(step.origin.tree), (step.origin, []))[1].append(step)
    return groups.values()


def _namer(origin: Place, destination: Place) -> Callable[[Job], str]:
    is_fetched = destination.is_local and not origin.is_local
    return lambda job: origin.show(job.path if is_fetched else job.local)


def _move(origin: Place, destination: Place, steps: Sequence[Step], options: Options, ledger: Ledger) -> None:
    if origin.is_local:
        destination.tree.send([_job(step.item.path, step.target, step) for step in steps], ledger, options.how)
    elif destination.is_local:
        origin.tree.fetch([_job(step.target, step.item.path, step) for step in steps], ledger, options.how)
    else:
        items = {step.target: step.item for step in steps}
        run_jobs(
            (_job(step.item.path, step.target, step) for step in steps),
            ledger,
            options.how.workers or 8,
            lambda job: stream(items[job.path], origin.tree, job.path, destination.tree, ledger, options.how),
        )


def _job(local: str, path: str, step: Step) -> Job:
    item = step.item
    return Job(local, path, item.size_bytes, item.modified_ns, item.digest, item.tag)


def _prepare(plan: Plan) -> None:
    """Make the folders that files need, and those that are wanted empty."""
    wanted = [step.target for step in plan.steps if step.item.kind == FOLDER]
    if plan.destination.is_local:
        above = {posixpath.dirname(step.target) for step in plan.steps if step.item.kind != FOLDER}
        for folder in sorted(above):
            make_folders(folder)
        sweep(above)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in pool.map(plan.destination.tree.make_folder, wanted):
            pass


def _make_links(plan: Plan, ledger: Ledger) -> None:
    tree = plan.destination.tree
    for step in plan.steps:
        if step.item.kind == LINK and isinstance(tree, LocalTree) and not ledger.stopping():
            job = _job(step.item.path, step.target, step)
            try:
                tree.make_link(step.target, step.item.target)
            except InsideError as error:
                ledger.failed(job, error)
            else:
                ledger.done(job)


def _remove_extras(plan: Plan) -> int:
    paths = [item.path for item in plan.extras]
    kept = [step.target for step in (*plan.steps, *plan.skipped)]
    folders = emptied(plan.extras, kept, plan.landing.path)
    for start in range(0, len(paths), _DELETE_AT_ONCE):
        plan.destination.tree.remove(paths[start : start + _DELETE_AT_ONCE])
    plan.destination.tree.remove(folders)
    return len(paths)
