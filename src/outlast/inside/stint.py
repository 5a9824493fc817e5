"""What every part of a stint's runner shares: the order, the clock, the log, and where things are."""

from __future__ import annotations

import os
import time
from typing import Any, Callable, Dict, Iterable, List, Optional

from .deadline import Deadline
from .ledger import PhaseClock
from .place import Place, accesses_from
from .progress import Progress
from .records import Beat, Meeting, Order, now_text
from .shipper import Shipper
from .stores.access import Access
from .stores.base import Store
from .usage import Usage


class Stint:
    """One turn on one machine, from the runner's point of view."""

    def __init__(
        self,
        place: Place,
        store: Store,
        order: Order,
        spec: Dict[str, Any],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.place = place
        self.store = store
        self.order = order
        self.spec = spec
        self.code_dir = ""  # where the code lies and the script starts; known once it is fetched
        self.run: str = order.run
        self.number = order.stint
        self._clock = clock
        self._began = clock()
        self.phases = PhaseClock(clock)
        self.phase = "claimed"
        self.deadline = Deadline(order.limit_s, order.grace_s)
        self.progress = Progress({})
        self.last_checkpoint: Optional[str] = None
        self.committed = 0
        self.notice = ""
        self.sample: Callable[[], Dict[str, Any]] = dict
        self.usage = Usage()
        self.nudge: Callable[[], None] = lambda: None
        self.stopping: Callable[[], bool] = lambda: False  # the user wants no more, or the stint is not ours any more
        self.accesses = accesses_from(os.environ)  # how the stores of inputs are reached, by `Address.root`
        values = [*place.secret_values(os.environ).values(), *_keys(self.accesses.values())]
        secrets = [value.encode("utf-8", "surrogateescape") for value in values]
        copy = _log_copy(spec, place)
        self.shipper = Shipper(store, self.run, self.number, self.path("output.log"), secrets, copy, place.node)
        self.meet: Callable[[], Optional[Meeting]] = lambda: None  # waits for the other nodes, if there are any
        self.meeting: Optional[Meeting] = None

    def path(self, *parts: str) -> str:
        """A path in the stint's own folder."""
        return os.path.join(self.place.work, *parts)

    def folder(self, *parts: str) -> str:
        """The same, made if it is not there."""
        found = self.path(*parts)
        os.makedirs(found, exist_ok=True)
        return found

    @property
    def checkpoint_place(self) -> str:
        return str(self.spec["checkpoint"])

    @property
    def output_place(self) -> Optional[str]:
        return self.spec.get("output")

    def list_outputs(self, skip: str) -> List[str]:
        """Files of the output place and of the Aim repository, except those below `skip`."""
        found = set(list_files(self.code_dir, self.output_place, skip))
        return sorted(found.union(list_files(self.code_dir, self.spec.get("aim"), skip)))

    def elapsed_s(self) -> float:
        return self._clock() - self._began

    def deadline_on_clock(self) -> Optional[float]:
        """The deadline on the clock that the script shares with us."""
        return None if self.order.limit_s is None else self._began + self.order.limit_s

    def enter(self, phase: str) -> None:
        """Begin a phase; the ledger closes the one before."""
        self.phase = phase
        self.phases.enter(phase.replace("-", "_"))
        self.nudge()

    def say(self, sentence: str) -> None:
        """One line of ours in the script's log."""
        self.shipper.log(("[outlast] %s\n" % sentence).encode("utf-8", "replace"))

    def compose_beat(self, count: int) -> Beat:
        """The beat as of now."""
        now_s = self.elapsed_s()
        progress = self.progress
        device = self.sample()
        self.usage.add(now_s, device)
        return Beat(
            count=count,
            phase=self.phase,
            elapsed_s=round(now_s, 3),
            time_left_s=self.deadline.time_left_s(now_s),
            metrics=dict(progress.metrics),
            best=dict(progress.best),
            device=device,
            last_checkpoint=self.last_checkpoint,
            notice=self.notice,
            tasks=self.tasks(),
            phases=self.phases.phases(),
            at=now_text(),
            **progress.snapshot(),
            **progress.rate(),
        )

    def tasks(self) -> Dict[str, Any]:
        """How the instances of a job of OpenPAI stand; empty for everything else."""
        if self.spec.get("contract") != "openpai":
            return {}
        from .contracts.openpai.job import Job
        from .contracts.openpai.standing import read_standing

        return read_standing(self.path("desk", "job"), Job.from_json(self.spec["job"]))

    def used(self, is_last: bool) -> Optional[bytes]:
        """How busy the machine was so far, when that shall be written now."""
        return self.usage.due(self.elapsed_s(), is_last)


def _keys(accesses: Iterable[Access]) -> List[str]:
    """What of the accesses must never appear in the output, though the script is not given it."""
    return [secret for access in accesses for secret in access.secrets]


def _log_copy(spec: Dict[str, Any], place: Place) -> str:
    """Where the log appears a second time, under the name that the script's own system gives it; empty: nowhere."""
    if (
        spec.get("log_copy") and not place.node
    ):  # a platform that hears nothing else of its stint put it into the spec that travels
        return str(spec["log_copy"])
    folder = spec.get("log_folder")
    if not folder:
        return ""
    from .contracts.modelarts import first_log_name, log_name

    is_first = spec.get("contract") == "modelarts-v1"
    first = first_log_name(place.run, spec["name"], place.node)
    return os.path.join(folder, first if is_first else log_name(place.run, place.node))


def list_files(root: str, place: Optional[str], skip: str = "") -> List[str]:
    """Regular files below a place of the script's folder, as paths relative to that folder; links are not followed."""
    if not place:
        return []
    top = os.path.join(root, place)
    if os.path.isfile(top) and not os.path.islink(top):
        return [place]
    found = []
    for folder, _, names in os.walk(top):
        for name in names:
            full = os.path.join(folder, name)
            relative = os.path.relpath(full, root).replace(os.sep, "/")
            inside_skip = skip and (relative == skip or relative.startswith(skip + "/"))
            if os.path.isfile(full) and not os.path.islink(full) and not inside_skip:
                found.append(relative)
    return sorted(found)
