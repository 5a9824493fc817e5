"""The server's database: SQLite in the home folder, or PostgreSQL when several machines share it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from outlast.errors import HomeError, PlatformError
from outlast.server import schema
from outlast.settings import without_password

#: Any number, the same in every version: whoever writes to PostgreSQL holds the lock of that number.
_WRITERS_LOCK = 0x6F75746C


class Database:
    """Transactions on the server's tables, which are made or upgraded when it is opened.

    `HomeError` when they are newer than this version or cannot be used, `PlatformError` when no server answers.
    """

    def __init__(self, url: str) -> None:
        self.shown = without_password(url)
        try:
            self._engine = sa.create_engine(url, pool_pre_ping=not url.startswith("sqlite"))
        except ModuleNotFoundError as error:
            raise HomeError(
                f"the database {self.shown} needs the package {error.name}", hint="pip install 'outlast[postgres]'"
            ) from None
        except exc.ArgumentError:
            raise HomeError("the setting database cannot be read as an address", hint="outlast config") from None
        if self._engine.dialect.name == "sqlite":
            _make_private(Path(self._engine.url.database or ""))
            _tune_sqlite(self._engine)
        self._writer = self._engine.execution_options(writes=True)
        with self.write() as connection:
            found = schema.bring_up_to_date(connection)
        if found > schema.SCHEMA_VERSION:
            self.close()
            raise HomeError(
                f"the database {self.shown} has schema {found}; this version of outlast reads up to "
                f"{schema.SCHEMA_VERSION}",
                hint="upgrade outlast",
            )

    def close(self) -> None:
        self._engine.dispose()

    @contextlib.contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """One view of the database that nobody's writing disturbs."""
        with self._explained(), self._engine.begin() as connection:
            yield connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """One transaction: all of it holds, or none, and nobody else writes meanwhile.

        PostgreSQL would let writers pass each other; one at a time is what SQLite gives, and accounts change rarely.
        """
        with self._explained(), self._writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_WRITERS_LOCK)))
            yield connection

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except exc.DBAPIError as error:
            words = (str(error.orig).splitlines() or [""])[0]
            kind = PlatformError if self._engine.dialect.name == "postgresql" else HomeError
            hint = "check the setting database"
            raise kind(f"the database {self.shown} cannot be used: {words}", hint=hint) from None


def _make_private(path: Path) -> None:
    """Create the file before SQLite does, which would let the umask decide who may read it."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise HomeError(f"cannot open {path}: {error.strerror}", hint="check the setting database") from None


def _tune_sqlite(engine: sa.Engine) -> None:
    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # we begin ourselves, below
        for pragma in ("busy_timeout=10000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        # IMMEDIATE for writers: a reader that turns into one could otherwise fail at once instead of waiting.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
