"""The table of logs that are still to be brought to the places that their jobs named."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import sqlalchemy as sa

from outlast.server.database import Database
from outlast.server.schema import modelarts_logs as logs

#: A process that has carried a log for so long is gone: another one may.
LOST_S = 900.0


class Export(NamedTuple):
    """One job's log that waits, or is on its way."""

    number: int  # of the job
    target: str  # obs://bucket/folder
    tries: int
    due_at: float


class Exports:
    """The logs that wait. Several processes share them, and each is carried by one of these at a time."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, number: int, target: str) -> None:
        with self._database.write() as connection:
            values = {"number": number, "target": target, "tries": 0, "due_at": self._clock()}
            connection.execute(sa.insert(logs).values(values))

    def due(self) -> list[Export]:
        """Those that nobody carries and that need not wait any longer, oldest first."""
        with self._database.read() as connection:
            rows = connection.execute(sa.select(logs).where(logs.c.due_at <= self._clock()).order_by(logs.c.number))
            return [Export(*row) for row in rows]

    def claim(self, export: Export) -> bool:
        """Whether it is ours to carry; False when another process was quicker."""
        return self._change(export, due_at=self._clock() + LOST_S)

    def postpone(self, export: Export, wait_s: float) -> None:
        """A try that failed."""
        with self._database.write() as connection:
            values = {"tries": export.tries + 1, "due_at": self._clock() + wait_s}
            connection.execute(sa.update(logs).where(logs.c.number == export.number).values(values))

    def remove(self, number: int) -> None:
        """It has arrived, or never will."""
        with self._database.write() as connection:
            connection.execute(sa.delete(logs).where(logs.c.number == number))

    def _change(self, export: Export, **values: float) -> bool:
        same = (logs.c.number == export.number, logs.c.due_at == export.due_at)
        with self._database.write() as connection:
            return connection.execute(sa.update(logs).where(*same).values(values)).rowcount > 0
