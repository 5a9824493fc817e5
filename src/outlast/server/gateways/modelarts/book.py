"""Which run a training job is: the table of jobs that came in at this door."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from outlast.inside.contracts.modelarts import job_id
from outlast.server.accounts.people import Actor
from outlast.server.database import Database
from outlast.server.gateways.modelarts.refusing import Refusal, job_not_found
from outlast.server.schema import modelarts_jobs as jobs


@dataclass(frozen=True)
class JobRow:
    """A training job, or one version of a job of the first generation."""

    number: int  # version_id
    id: str
    generation: str
    job: int  # job_id
    version: int
    name: str
    owner: str
    run_id: str
    is_free: bool
    description: str
    body: dict[str, Any]
    notices: tuple[str, ...]
    created_at: float

    @property
    def version_name(self) -> str:
        return f"V{self.version:04d}"

    @property
    def created_ms(self) -> int:
        return int(self.created_at * 1000)


@dataclass(frozen=True)
class NewJob:
    """What is known of a job before its run exists."""

    generation: str
    name: str
    owner: str
    run_id: str
    is_free: bool
    description: str
    body: dict[str, Any]
    notices: tuple[str, ...] = ()
    after: JobRow | None = None  # the newest version so far; None: a job of its own


class JobBook:
    """The jobs of one server. What somebody may not see does not exist for them."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, new: NewJob, is_open: Callable[[JobRow], bool]) -> JobRow:
        """Write a job down before its run starts: then its name finds it, however that ends.

        Refuses a name that its owner uses already, and a second free job while the first goes on.
        """
        values: dict[str, Any] = {
            "id": job_id(new.run_id), "generation": new.generation, "job": 0, "version": 1, "name": new.name,
            "owner": new.owner, "run_id": new.run_id, "is_free": new.is_free, "description": new.description,
            "body": json.dumps(new.body), "notices": json.dumps(new.notices), "created_at": self._clock(),
        }  # fmt: skip
        with self._database.write() as connection:
            mine = _rows(connection, jobs.c.generation == new.generation, jobs.c.owner == new.owner)
            _require_free_name(new, mine)
            if new.is_free:
                _require_one_free(connection, new.owner, is_open)
            if new.after is not None:
                family = [row.version for row in mine if row.job == new.after.job]
                values |= {"job": new.after.job, "version": max(family, default=new.after.version) + 1}
            (number,) = connection.execute(sa.insert(jobs).values(values).returning(jobs.c.number)).one()
            if new.after is None:
                connection.execute(sa.update(jobs).where(jobs.c.number == number).values(job=number))
            return _rows(connection, jobs.c.number == number)[0]

    def find(self, actor: Actor, job: str) -> JobRow:
        """A job of the second generation by its id."""
        return _seen(actor, self._some(jobs.c.generation == "v2", jobs.c.id == job), job)[0]

    def versions(self, actor: Actor, job: int) -> list[JobRow]:
        """Every version of a job of the first generation, newest first."""
        return _seen(actor, self._some(jobs.c.generation == "v1", jobs.c.job == job), job)

    def version(self, actor: Actor, job: int, version_id: int) -> JobRow:
        which = (jobs.c.generation == "v1", jobs.c.job == job, jobs.c.number == version_id)
        return _seen(actor, self._some(*which), version_id)[0]

    def by_id(self, job: str) -> JobRow | None:
        """A job of either generation, whoever asks: for links that carry their own proof."""
        return next(iter(self._some(jobs.c.id == job)), None)

    def by_number(self, number: int) -> JobRow | None:
        """A job of either generation, whoever asks: for the server's own work."""
        return next(iter(self._some(jobs.c.number == number)), None)

    def add_notice(self, row: JobRow, words: str) -> None:
        """Something that the job's owner should know; it is told as a Warning event."""
        with self._database.write() as connection:
            values = {"notices": json.dumps([*row.notices, words])}
            connection.execute(sa.update(jobs).where(jobs.c.number == row.number).values(values))

    def all(self, actor: Actor, generation: str) -> list[JobRow]:
        """Every job that `actor` may see, newest first."""
        return [row for row in self._some(jobs.c.generation == generation) if actor.may_see(row.owner)]

    def describe(self, row: JobRow, description: str) -> None:
        same = (jobs.c.number == row.number) if row.generation == "v2" else (jobs.c.job == row.job)
        with self._database.write() as connection:
            where = sa.and_(jobs.c.generation == row.generation, same)
            connection.execute(sa.update(jobs).where(where).values(description=description))

    def remove(self, row: JobRow) -> None:
        with self._database.write() as connection:
            connection.execute(sa.delete(jobs).where(jobs.c.number == row.number))

    def rename_run(self, row: JobRow, run_id: str) -> None:
        """The run got another id than was wished for."""
        with self._database.write() as connection:
            values = {"run_id": run_id, "id": job_id(run_id)}
            connection.execute(sa.update(jobs).where(jobs.c.number == row.number).values(values))

    def _some(self, *conditions: sa.ColumnElement[bool]) -> list[JobRow]:
        with self._database.read() as connection:
            return _rows(connection, *conditions)


def _rows(connection: sa.Connection, *conditions: sa.ColumnElement[bool]) -> list[JobRow]:
    found = connection.execute(sa.select(jobs).where(*conditions).order_by(jobs.c.number.desc()))
    return [
        JobRow(**(dict(row._mapping) | {"body": json.loads(row.body), "notices": tuple(json.loads(row.notices))}))
        for row in found
    ]


def _seen(actor: Actor, rows: list[JobRow], shown: object) -> list[JobRow]:
    found = [row for row in rows if actor.may_see(row.owner)]
    if not found:
        raise job_not_found(shown)
    return found


def _require_free_name(new: NewJob, mine: list[JobRow]) -> None:
    if new.after is None and any(row.name == new.name for row in mine):
        code = "2751" if new.generation == "v2" else "0103"
        raise Refusal(code, f"a job called {new.name!r} exists already", solution="choose another name, or delete it")


def _require_one_free(connection: sa.Connection, owner: str, is_open: Callable[[JobRow], bool]) -> None:
    free = _rows(connection, jobs.c.owner == owner, jobs.c.is_free)
    going = next((row for row in free if is_open(row)), None)
    if going is not None:
        raise Refusal("2833", f"the job {going.name!r} uses the free flavor, and one user has one such job at a time",
                      solution="wait for it to end, or stop it")  # fmt: skip
