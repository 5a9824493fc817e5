"""Who did what, and when. Rows are only ever added."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from outlast.server.accounts.people import moment
from outlast.server.database import Database
from outlast.server.schema import audit


@dataclass(frozen=True)
class Entry:
    """One thing that somebody did."""

    id: int
    at: float
    actor: str
    action: str
    target: str
    detail: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id, "at": moment(self.at), "actor": self.actor, "action": self.action, "target": self.target,
            "detail": self.detail,
        }  # fmt: skip


class Audit:
    """The log of what was done; newest first when it is read."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, actor: str, action: str, target: str = "", **detail: Any) -> None:
        """Note that `actor` did `action` (`user.add`, `run.stop`) to `target`. `detail` must hold no secret."""
        text = json.dumps(detail, ensure_ascii=False, default=str)
        values = {"at": self._clock(), "actor": actor[:64], "action": action, "target": target, "detail": text}
        with self._database.write() as connection:
            connection.execute(sa.insert(audit).values(values))

    def list(self, *, before: int | None = None, limit: int = 100) -> list[Entry]:
        """The newest entries, or those older than the entry `before`."""
        older = [audit.c.id < before] if before is not None else []
        chosen = sa.select(audit).where(*older).order_by(audit.c.id.desc()).limit(limit)
        with self._database.read() as connection:
            rows = connection.execute(chosen).all()
        return [Entry(row.id, row.at, row.actor, row.action, row.target, json.loads(row.detail)) for row in rows]
