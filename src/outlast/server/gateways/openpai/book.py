"""Which run a job is: OpenPAI knows jobs by `user~name`, and no name twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from outlast.openpai.names import framework_name
from outlast.server.database import Database

#: A submit that takes longer was killed: its name is free again.
_CLAIM_S = 600.0

_metadata = sa.MetaData()
_jobs = sa.Table(
    "openpai_jobs",
    _metadata,
    sa.Column("framework", sa.String(400), primary_key=True),
    sa.Column("user_name", sa.String(64), nullable=False),
    sa.Column("run_id", sa.String(80), nullable=False),
    sa.Column("is_started", sa.Boolean, nullable=False),
    sa.Column("is_asked_to_stop", sa.Boolean, nullable=False),
    sa.Column("facts", sa.Text, nullable=False),  # JSON of `JobFacts`
    sa.Column("config", sa.Text, nullable=False),  # JSON, as it was submitted; without secrets
    sa.Column("tags", sa.Text, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
    sa.Index("openpai_jobs_by_user", "user_name", "created_at"),
)


@dataclass(frozen=True)
class RoleFacts:
    """What is shown of a task role."""

    name: str
    instances: int
    gpus: int


@dataclass(frozen=True)
class JobFacts:
    """What is known of a job from its document."""

    user: str
    name: str
    generation: str  # yarn or k8s: which document it was
    virtual_cluster: str
    roles: tuple[RoleFacts, ...]

    @property
    def framework(self) -> str:
        return framework_name(self.user, self.name)

    @property
    def task_count(self) -> int:
        return sum(role.instances for role in self.roles)

    @property
    def gpu_count(self) -> int:
        return sum(role.instances * role.gpus for role in self.roles)


@dataclass(frozen=True)
class JobRow:
    """A job and its run."""

    facts: JobFacts
    run: str
    created_at: float
    is_asked_to_stop: bool = False
    tags: tuple[str, ...] = ()
    config: dict[str, Any] = field(default_factory=dict, repr=False)


class JobBook:
    """The jobs of one server; all its processes share them."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def prepare(self) -> None:
        """Make the table when it is missing."""
        with self._database.write() as connection:
            _metadata.create_all(connection)

    def claim(self, row: JobRow, is_there: Callable[[str], bool]) -> bool:
        """Take a name before its run is made; False when it is taken. A name whose run was removed is free."""
        with self._database.write() as connection:
            found = connection.execute(sa.select(_jobs).where(_named(row.facts.framework))).first()
            if found is not None:
                is_coming = not found.is_started and self._clock() - found.created_at < _CLAIM_S
                if is_coming or is_there(found.run_id):
                    return False
                connection.execute(sa.delete(_jobs).where(_named(row.facts.framework)))
            connection.execute(sa.insert(_jobs).values(_values(row)))
        return True

    def settle(self, framework: str, run: str) -> None:
        """The run of a claimed name exists, and this is its id."""
        self._change(framework, run_id=run, is_started=True)

    def drop(self, framework: str) -> None:
        with self._database.write() as connection:
            connection.execute(sa.delete(_jobs).where(_named(framework)))

    def find(self, framework: str) -> JobRow | None:
        """The job of that name. Whether its run exists is for the caller to see: it may be coming, or removed."""
        with self._database.read() as connection:
            found = connection.execute(sa.select(_jobs).where(_named(framework))).first()
        return None if found is None else _row(found)

    def all(self, users: Iterable[str] | None) -> list[JobRow]:
        """As `find`: jobs of these users, of everybody with None; newest first."""
        theirs = [] if users is None else [_jobs.c.user_name.in_(list(users))]
        chosen = sa.select(_jobs).where(*theirs).order_by(_jobs.c.created_at.desc())
        with self._database.read() as connection:
            return [_row(found) for found in connection.execute(chosen)]

    def note_stop(self, framework: str) -> None:
        self._change(framework, is_asked_to_stop=True)

    def set_tags(self, framework: str, tags: Iterable[str]) -> None:
        self._change(framework, tags=json.dumps(list(tags)))

    def _change(self, framework: str, **values: Any) -> None:
        with self._database.write() as connection:
            connection.execute(sa.update(_jobs).where(_named(framework)).values(**values))


def _named(framework: str) -> sa.ColumnElement[bool]:
    return _jobs.c.framework == framework


def _values(row: JobRow) -> dict[str, Any]:
    facts = row.facts
    body = {
        "name": facts.name, "generation": facts.generation, "virtual_cluster": facts.virtual_cluster,
        "roles": [[role.name, role.instances, role.gpus] for role in facts.roles],
    }  # fmt: skip
    return {
        "framework": facts.framework, "user_name": facts.user, "run_id": row.run, "is_started": False,
        "is_asked_to_stop": False, "facts": json.dumps(body), "config": json.dumps(row.config), "tags": "[]",
        "created_at": row.created_at,
    }  # fmt: skip


def _row(found: sa.Row[Any]) -> JobRow:
    body = json.loads(found.facts)
    roles = tuple(RoleFacts(*each) for each in body.pop("roles"))
    facts = JobFacts(user=found.user_name, roles=roles, **body)
    tags, config = json.loads(found.tags), json.loads(found.config)
    return JobRow(facts, found.run_id, found.created_at, found.is_asked_to_stop, tuple(tags), config)
