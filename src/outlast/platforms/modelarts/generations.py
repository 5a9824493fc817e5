"""The two generations of the training API behind one set of questions."""

from __future__ import annotations

import abc
from collections.abc import Collection, Iterator
from typing import Any, ClassVar

from outlast.model.hearsay import Happening
from outlast.platforms.base import Offer
from outlast.platforms.modelarts import wire, wirev1
from outlast.platforms.modelarts.faults import ENDED_ALREADY, NO_LOG, NO_METRICS, NO_SUCH_JOB, Said
from outlast.platforms.modelarts.session import Session
from outlast.platforms.modelarts.wire import Found, Wish

#: Beyond so many pages of other jobs a name is asked for by itself.
_MOST_PAGES = 5
_LOG_LINES = "500"
_PAGE_V1 = 100
#: The latest events of a job tell why it ended; the first ones are the same for all.
_EVENTS = "50"


def _shared(names: Collection[str]) -> str:
    """What all the names begin with."""
    first, last = min(names), max(names)
    same = (a == b for a, b in zip(first, last, strict=False))
    return first[: next((place for place, each in enumerate(same) if not each), min(len(first), len(last)))]


class Generation(abc.ABC):
    """One generation of the API. Names are those of `wire.name_of`; ids are what `Found.id` holds."""

    name: ClassVar[str]

    def __init__(self, session: Session) -> None:
        self._session = session
        self._untold: set[str] = set()  # what this account may not ask, or the service does not have

    def find(self, names: Collection[str]) -> dict[str, Found]:
        """Those of these jobs that the service lists: one search for all, by what their names have in common."""
        wanted, found = set(names), dict[str, Found]()
        if not wanted:
            return found
        for count, page in enumerate(self.pages(_shared(wanted)), 1):
            for each in page:
                if each.name in wanted:
                    found.setdefault(each.name, each)
            if len(found) == len(wanted):
                return found
            if count == _MOST_PAGES:
                rest = (next(self.pages(name), []) for name in sorted(wanted - found.keys()))
                return found | {each.name: each for page in rest for each in page if each.name in wanted - found.keys()}
        return found

    def show(self, job: str) -> Found | None:
        """One job; None when there is no such job."""
        try:
            return self._show(job)
        except Said as said:
            if said.code in NO_SUCH_JOB:
                return None
            raise

    def stop(self, job: str) -> None:
        """End a job; one that has ended, or is gone, is left alone."""
        self._unless(ENDED_ALREADY | NO_SUCH_JOB, lambda: self._stop(job))

    def delete(self, job: str) -> None:
        """Remove the record of a job; one that is gone is gone."""
        self._unless(NO_SUCH_JOB, lambda: self._delete(job))

    def log(self, job: str) -> str:
        """The end of what the job printed; empty before there is anything."""
        return str(self._unless(NO_LOG | NO_SUCH_JOB, lambda: self._log(job)) or "")

    def events(self, job: str) -> list[Happening]:
        """What happened to a job, newest last, as far as the service tells."""
        return list(self._aside("events", NO_SUCH_JOB, lambda: self._events(job)) or ())

    def use(self, job: str) -> dict[str, tuple[float | None, ...]]:
        """How busy a job was, minute by minute, by series; empty before there is anything."""
        return dict(self._aside("metrics", NO_METRICS | NO_SUCH_JOB, lambda: self._use(job)) or {})

    def _aside(self, what: str, codes: frozenset[str], act: Any) -> Any:
        """Ask for what is good to know. Refused for good it is not asked for again: that could lock the key."""
        try:
            return None if what in self._untold else self._unless(codes, act)
        except Said as said:
            if said.is_busy:
                raise
            self._untold.add(what)
            return None

    @staticmethod
    def _unless(codes: frozenset[str], act: Any) -> Any:
        try:
            return act()
        except Said as said:
            if said.code not in codes:
                raise
            return None

    @abc.abstractmethod
    def create(self, wish: Wish) -> str:
        """Create a job and return its id. Asked once: `Unheard` leaves open whether there is one now."""

    @abc.abstractmethod
    def pages(self, text: str) -> Iterator[list[Found]]:
        """Jobs whose name holds a text, newest first, page by page."""

    @abc.abstractmethod
    def offers(self) -> list[Offer]:
        """The flavors."""

    @abc.abstractmethod
    def usage(self) -> str:
        """How many jobs there are, and how many there may be: `3 of 10000 jobs`."""

    @abc.abstractmethod
    def waiting(self) -> int:
        """How many of our jobs wait in the queue."""

    @abc.abstractmethod
    def _show(self, job: str) -> Found: ...

    @abc.abstractmethod
    def _stop(self, job: str) -> None: ...

    @abc.abstractmethod
    def _delete(self, job: str) -> None: ...

    @abc.abstractmethod
    def _log(self, job: str) -> str: ...

    @abc.abstractmethod
    def _events(self, job: str) -> list[Happening]: ...

    @abc.abstractmethod
    def _use(self, job: str) -> dict[str, tuple[float | None, ...]]: ...


class Second(Generation):
    """`/v2`: one run for each job, phases with names."""

    name = "v2"

    def create(self, wish: Wish) -> str:
        return wire.read_job(self._ask("POST", "/training-jobs", wire.job_body(wish), once=True)).id

    def pages(self, text: str) -> Iterator[list[Found]]:
        offset, step, seen = 0, 1, set[str]()
        while True:
            rows = self._search(text, offset).get("items") or []
            page = [each for each in map(wire.read_job, rows) if each.id not in seen]
            if rows and offset and step == 1 and len(page) == 1 < len(rows):
                step = wire.PAGE  # `offset` counts rows here, not pages as it is documented
            seen.update(each.id for each in page)
            yield page
            if len(rows) < wire.PAGE:
                return
            offset = len(seen) if step > 1 else offset + 1

    def offers(self) -> list[Offer]:
        return [wire.read_flavor(each) for each in self._ask("GET", "/training-job-flavors").get("flavors") or ()]

    def usage(self) -> str:
        rows = self._ask("GET", "/training-quotas", query=[("resource", "job-num")]).get("quotas") or ()
        return next((f"{each.get('used')} of {each.get('quota')} jobs" for each in rows), "")

    def waiting(self) -> int:
        return int(wire.number(self._search(wire.PREFIX, 0, ("Creating", "Pending"), 1).get("count")))

    def _search(self, text: str, offset: int, phases: tuple[str, ...] = (), limit: int = wire.PAGE) -> dict[str, Any]:
        body = wire.search_body(text, offset, phases, limit)
        return self._ask("POST", "/training-job-searches", body) or {}

    def _show(self, job: str) -> Found:
        return wire.read_job(self._ask("GET", f"/training-jobs/{job}"))

    def _stop(self, job: str) -> None:
        self._ask("POST", f"/training-jobs/{job}/actions", {"action_type": "terminate"})

    def _delete(self, job: str) -> None:
        self._ask("DELETE", f"/training-jobs/{job}")

    def _log(self, job: str) -> str:
        found = self._ask("GET", f"/training-jobs/{job}/tasks/{wire.TASK}/logs/preview") or {}
        return str(found.get("content") or found.get("context") or "")  # its older name

    def _events(self, job: str) -> list[Happening]:
        query = [("limit", _EVENTS), ("order", "desc")]
        return wire.read_events(self._session.ask_aside(self.name, f"/training-jobs/{job}/events", query) or {})

    def _use(self, job: str) -> dict[str, tuple[float | None, ...]]:
        found = self._session.ask_aside(self.name, f"/training-jobs/{job}/metrics/{wire.TASK}") or {}
        return wire.read_use(found.get("metrics"))

    def _ask(self, method: str, path: str, body: Any = None, query: Any = (), *, once: bool = False) -> Any:
        return self._session.ask(method, self.name, path, body, query, once=once)


class First(Generation):
    """`/v1`: jobs with versions, statuses with numbers. A stint's job has one version."""

    name = "v1"

    def create(self, wish: Wish) -> str:
        engine = wirev1.find_engine(self._ask("GET", "/job/ai-engines", query=[("job_type", "train")]), wish.engine)
        if engine is None:
            raise Said(400, "ModelArts.2780", f"there is no engine {wish.engine!r}")
        return wirev1.read_job(self._ask("POST", "/training-jobs", wirev1.job_body(wish, engine), once=True)).id

    def pages(self, text: str) -> Iterator[list[Found]]:
        number = 0
        while True:
            number += 1
            rows = self._list(text, number).get("jobs") or []
            yield [wirev1.read_job(each) for each in rows]
            if len(rows) < _PAGE_V1:
                return

    def offers(self) -> list[Offer]:
        found = self._ask("GET", "/job/resource-specs", query=[("job_type", "train")])
        return [wirev1.read_spec(each) for each in found.get("specs") or ()]

    def usage(self) -> str:
        found = self._list("", 1)
        return f"{found.get('job_total_count', 0)} of {found.get('quotas', '?')} jobs"

    def waiting(self) -> int:
        return sum(each.job.detail.startswith("waits") for each in next(self.pages(wire.PREFIX), []))

    def _list(self, text: str, page: int) -> dict[str, Any]:
        query = [("per_page", str(_PAGE_V1)), ("page", str(page)), ("sortBy", "create_time"), ("order", "desc")]
        return self._ask("GET", "/training-jobs", query=[*query, ("search_content", text)]) or {}

    def _show(self, job: str) -> Found:
        return wirev1.read_job(self._ask("GET", self._path(job)))

    def _stop(self, job: str) -> None:
        self._ask("POST", self._path(job) + "/stop")

    def _delete(self, job: str) -> None:
        self._ask("DELETE", f"/training-jobs/{job.partition('/')[0]}")

    def _log(self, job: str) -> str:
        names = self._ask("GET", self._path(job) + "/log/file-names").get("log_file_list") or ()
        if not names:
            return ""
        query = [("log_file", str(names[0])), ("lines", _LOG_LINES)]
        return str((self._ask("GET", self._path(job) + "/aom-log", query=query) or {}).get("content") or "")

    def _events(self, job: str) -> list[Happening]:
        return []  # this generation tells none

    def _use(self, job: str) -> dict[str, tuple[float | None, ...]]:
        return wirev1.read_use(self._ask("GET", self._path(job)))

    def _ask(self, method: str, path: str, body: Any = None, query: Any = (), *, once: bool = False) -> Any:
        return self._session.ask(method, self.name, path, body, query, once=once)

    @staticmethod
    def _path(job: str) -> str:
        number, _, version = job.partition("/")
        return f"/training-jobs/{number}/versions/{version}"
