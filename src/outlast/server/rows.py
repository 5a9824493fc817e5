"""Reading the index beside whoever writes to it: plain SQL that both databases understand."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

from sqlalchemy import exc

from outlast.errors import HomeError, PlatformError
from outlast.keeper.engines import open_engine
from outlast.keeper.home import Home
from outlast.keeper.index import Index
from outlast.settings import Settings, without_password

#: The values of one parameter, a JSON list. As JSON: older SQLite takes 999 variables in one statement.
_LIST = "SELECT value FROM json_each(?)"
#: A change whose writer was killed before it told is seen after so long.
_UNTOLD_S = 1.0


class Rows(Protocol):
    """Questions to the index, with `?` for values and `ONE_OF` for a list of them."""

    #: Whether `version` costs next to nothing, so that it may be asked on the event loop.
    is_instant: bool

    def version(self) -> Hashable:
        """Differs whenever anything was written since."""

    def fetch(self, query: str, values: Sequence[Any] = ()) -> list[Any]: ...

    def close(self) -> None: ...


ONE_OF = f"({_LIST})"


def open_rows(settings: Settings, index: Index) -> Rows:
    """A reader of the index that `index` has opened."""
    return _PostgresRows(settings.database, index) if settings.shares_index else _SqliteRows(Home(settings.home))


class _SqliteRows:
    """Its own connection: reading through `Index` would wait for every writer, and hold them up."""

    is_instant = True

    def __init__(self, home: Home) -> None:
        try:
            with contextlib.closing(Index(home.index)):
                pass  # the tables are there from now on
            self._reader = sqlite3.connect(f"{home.index.as_uri()}?mode=ro", uri=True, check_same_thread=False)
        except sqlite3.Error as error:
            hint = "rebuild it: outlast reindex"
            raise HomeError(f"the index {home.index} cannot be read: {error}", hint=hint) from None

    def version(self) -> Hashable:
        (version,) = self._reader.execute("PRAGMA data_version").fetchone()
        return int(version)

    def fetch(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._reader.execute(query, values).fetchall()

    def close(self) -> None:
        self._reader.close()


class _PostgresRows:
    is_instant = False

    def __init__(self, url: str, index: Index) -> None:
        self._index = index
        self._shown = without_password(url)
        self._engine = open_engine(url, self._shown).execution_options(isolation_level="AUTOCOMMIT")

    def version(self) -> Hashable:
        return self._index.version(), int(time.monotonic() / _UNTOLD_S)

    def fetch(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        query = query.replace(_LIST, "SELECT jsonb_array_elements_text(?::jsonb)").replace("?", "%s")
        try:
            with self._engine.connect() as connection:
                return [tuple(row) for row in connection.exec_driver_sql(query, tuple(values))]
        except exc.DBAPIError as error:
            words = (str(error.orig).splitlines() or [""])[0]
            message = f"the index {self._shown} cannot be read: {words}"
            raise PlatformError(message, hint="check the setting database") from None

    def close(self) -> None:
        self._engine.dispose()
