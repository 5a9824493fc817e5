"""How the index's databases are opened: the one spot that knows SQLite from PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from outlast.errors import HomeError

#: Any number, the same in every version: whoever makes or upgrades the tables holds the lock of that number.
_TABLES_LOCK = 0x6F757469


def open_engine(address: Path | str, shown: str) -> sa.Engine:
    """The engine of a file or of a URL; `shown` is the address as it may be shown."""
    try:
        if isinstance(address, Path):
            engine = sa.create_engine(f"sqlite:///{address}")
        else:
            engine = sa.create_engine(address, pool_pre_ping=True)  # the server may have been restarted meanwhile
    except ModuleNotFoundError as error:
        hint = "pip install 'outlast[postgres]'"
        raise HomeError(f"the database {shown} needs the package {error.name}", hint=hint) from None
    except exc.ArgumentError:
        raise HomeError("the setting database cannot be read as an address", hint="outlast config") from None
    if engine.dialect.name == "sqlite":
        _tune_sqlite(engine)
    return engine


def lock_tables(connection: sa.Connection) -> None:
    """Until the transaction ends nobody else makes tables; SQLite's transactions see to that themselves."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_TABLES_LOCK)))


def shared_clock() -> sa.ColumnElement[float]:
    """The time of PostgreSQL's own machine, in seconds."""
    return sa.func.date_part("epoch", sa.func.clock_timestamp(), type_=sa.Float)


def _tune_sqlite(engine: sa.Engine) -> None:
    """A log instead of a rollback file, and transactions that hold for tables too."""

    @sa.event.listens_for(engine, "connect")
    def _connected(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # the driver would otherwise not begin before ALTER TABLE
        cursor = connection.cursor()
        try:
            cursor.execute("PRAGMA busy_timeout=10000")
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.execute("PRAGMA synchronous=NORMAL")  # a lost last row is found again in the store
        finally:
            cursor.close()

    @sa.event.listens_for(engine, "begin")
    def _begun(connection: sa.Connection) -> None:
        # IMMEDIATE: a reader that turns into a writer could otherwise fail at once instead of waiting.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
