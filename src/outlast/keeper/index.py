"""The index: which runs there are and who looks after them. Only an index: the truth lies in the store.

SQLite by default, PostgreSQL by address: then several homes share it. Importing SQLAlchemy takes a third of a
second, so nothing on the way of `outlast run` may import this module.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from outlast.errors import HomeError, OutlastError, PlatformError
from outlast.keeper import schema
from outlast.keeper.engines import lock_tables, open_engine, shared_clock
from outlast.keeper.schema import changes, leases, run_values, runs
from outlast.keeper.search import Hit, read_view, select_hits, value_rows
from outlast.model.query import RunQuery
from outlast.settings import without_password

#: Values in one statement, of which older SQLite takes 999; for more, all rows are looked through.
_VARIABLES = 500
#: SQLite's words for a file that is no (longer a) database.
_DAMAGE = ("file is not a database", "malformed", "file is encrypted", "no such table", "no such column")
#: What SQLite writes before there is any table.
_FIRST_PAGE_BYTES = 4096


class IndexDamaged(HomeError):
    """The index cannot be read; it can be rebuilt from the store."""

    code = "bad_index"


@dataclass(frozen=True)
class RunRow:
    """One run as the index remembers it."""

    id: str
    name: str
    user: str
    state: str
    platform: str
    created_at: str
    store: str
    updated_at: str = ""
    open: bool = True  # a keeper looks after it
    view: dict[str, Any] = field(default_factory=dict)  # the short form of its RunView
    home: str = ""  # whose keeper; empty where one home has the index for itself


class Index:
    """Rows of runs and leases on them. Every method is one transaction and safe with other processes.

    `address` is a path (SQLite) or a database URL, `home` the id of the one that uses it when several share it. A
    damaged file raises `IndexDamaged`, a newer schema `HomeError`, a server that does not answer `PlatformError`.
    """

    def __init__(self, address: Path | str, clock: Callable[[], float] | None = None, home: str = "") -> None:
        self._path = address if isinstance(address, Path) else None
        self.address = without_password(str(address))
        self._engine = open_engine(address, self.address)
        self._is_shared = self._engine.dialect.name == "postgresql"
        self._clock = clock or (None if self._is_shared else time.time)
        self._home = home
        with self._begin() as connection:
            lock_tables(connection)
            found = schema.bring_up_to_date(connection)
        if found > schema.SCHEMA_VERSION:
            self.close()
            raise HomeError(
                f"the index {self.address} has schema {found}; this version of outlast reads up to "
                f"{schema.SCHEMA_VERSION}",
                hint="upgrade outlast, or set OUTLAST_HOME to another folder",
            )
        self._inode = self._inode_now()

    def close(self) -> None:
        self._engine.dispose()

    def was_replaced(self) -> bool:
        """Whether `reindex` moved this file aside since it was opened; then open it again."""
        return self._inode_now() != self._inode

    def open_runs(self) -> list[RunRow]:
        """Runs that a keeper looks after, this home's or another one's, oldest first."""
        return self._select(runs.c.open.is_(True))

    def kept_runs(self) -> list[RunRow]:
        """Runs that this home's keeper looks after, oldest first."""
        mine = [runs.c.home.in_(["", self._home])] if self._home else []
        return self._select(runs.c.open.is_(True), *mine)

    def changed_since(self, moment: str, users: Collection[str]) -> list[RunRow]:
        """Runs of some users that say they changed at `moment` or later, oldest first."""
        return self._select(runs.c.updated_at >= moment, runs.c.user.in_(list(users)))

    def version(self) -> int:
        """Grows after each change of a shared index; 0 for a file, whose readers can tell by themselves."""
        if not self._is_shared:
            return 0
        with self._begin() as connection:
            # A sequence that nobody has used stands where it stands after the first use: `is_called` tells.
            words = f"SELECT last_value + CASE WHEN is_called THEN 1 ELSE 0 END FROM {changes.name}"
            return int(connection.execute(sa.text(words)).scalar_one())

    def all_runs(self) -> list[RunRow]:
        return self._select()

    def get(self, run: str) -> RunRow | None:
        found = self._select(runs.c.id == run)
        return found[0] if found else None

    def search(self, query: RunQuery) -> list[Hit]:
        """The runs that a query may mean, in no order: see `Hit`."""
        with self._begin() as connection:
            found = connection.execute(select_hits(query)).all()
        return [Hit._make(each) for each in found if not query.name or query.fits_name(each[1])]

    def views(self, ids: Collection[str]) -> dict[str, dict[str, Any]]:
        """The short views of some runs as JSON; runs that were removed meanwhile are left out."""
        query = sa.select(runs.c.id, runs.c.view_json)
        if len(ids) <= _VARIABLES:
            query = query.where(runs.c.id.in_(list(ids)))
        wanted = set(ids)
        with self._begin() as connection:
            found = connection.execute(query).all()
        return {run: read_view(text) for run, text in found if run in wanted}

    def find(self, ref: str) -> list[RunRow]:
        """Runs whose id starts with `ref` or whose name equals it, oldest first."""
        return self._select(sa.or_(runs.c.id.startswith(ref, autoescape=True), runs.c.name == ref))

    def add(self, row: RunRow) -> bool:
        """Insert a run that is not there yet; False, and nothing changed, when it is."""
        try:
            with self._change() as connection:
                connection.execute(sa.insert(runs).values(home=row.home or self._home, **_columns(row)))
                _put_values(connection, row)
        except exc.IntegrityError:
            return False
        return True

    def put(self, row: RunRow) -> None:
        """Insert or replace a run."""
        if not self.update(row) and not self.add(row):
            self.update(row)

    def update(self, row: RunRow) -> bool:
        """Replace a run that is there; False, and nothing changed, when it was removed."""
        with self._change() as connection:
            changed = connection.execute(sa.update(runs).where(runs.c.id == row.id).values(_columns(row)))
            if changed.rowcount:
                _put_values(connection, row)
        return changed.rowcount > 0

    def set_open(self, run: str, value: bool) -> bool:
        """Say whether this home's keeper looks after a run; False when the index does not know it."""
        values = {"open": value} | ({"home": self._home} if value and self._home else {})
        with self._change() as connection:
            changed = connection.execute(sa.update(runs).where(runs.c.id == run).values(values))
        return changed.rowcount > 0

    def remove(self, run: str) -> None:
        with self._change() as connection:
            connection.execute(sa.delete(leases).where(leases.c.run_id == run))
            connection.execute(sa.delete(run_values).where(run_values.c.run_id == run))
            connection.execute(sa.delete(runs).where(runs.c.id == run))

    def take_lease(self, run: str, holder: str, ttl_s: float) -> bool:
        """Become, or stay, the one keeper that may act on a run for `ttl_s`; False while another one is.

        A lease that lasts longer than any lease can was written before the clock was set back: it is void.
        """
        now = self._now()
        mine = {"run_id": run, "holder": holder, "expires": now + ttl_s}
        free = sa.or_(leases.c.holder == holder, leases.c.expires < now, leases.c.expires > now + 10 * ttl_s)
        with self._begin() as connection:
            changed = connection.execute(sa.update(leases).where(leases.c.run_id == run, free).values(mine))
        if changed.rowcount:
            return True
        try:
            with self._begin() as connection:
                connection.execute(sa.insert(leases).values(mine))
        except exc.IntegrityError:
            return False
        return True

    def renew_lease(self, run: str, holder: str, ttl_s: float) -> bool:
        """Prolong a lease that is still ours; False when another keeper has taken it."""
        with self._begin() as connection:
            changed = connection.execute(
                sa.update(leases)
                .where(leases.c.run_id == run, leases.c.holder == holder)
                .values(expires=self._now() + ttl_s)
            )
        return changed.rowcount > 0

    def release_leases(self, holder: str) -> None:
        """Give back every lease of the keepers whose id starts with `holder`."""
        with self._begin() as connection:
            connection.execute(sa.delete(leases).where(leases.c.holder.startswith(holder, autoescape=True)))

    def _select(self, *conditions: sa.ColumnElement[bool]) -> list[RunRow]:
        query = sa.select(runs).where(*conditions).order_by(runs.c.created_at, runs.c.id)
        with self._begin() as connection:
            return [_row(found) for found in connection.execute(query)]

    def _now(self) -> Any:
        """By the database's clock where several machines share it: theirs differ, and a lease must mean one time."""
        return self._clock() if self._clock is not None else shared_clock()

    @contextlib.contextmanager
    def _change(self) -> Iterator[sa.Connection]:
        with self._begin() as connection:
            yield connection
        if self._is_shared:
            # After it holds: a reader that saw the number grow earlier could keep what was there before.
            with self._begin() as connection:
                connection.execute(sa.select(changes.next_value()))

    @contextlib.contextmanager
    def _begin(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except exc.IntegrityError:
            raise
        except exc.DBAPIError as error:
            raise self._explained(error) from None

    def _explained(self, error: exc.DBAPIError) -> OutlastError:
        words = (str(error.orig).splitlines() or [""])[0] if self._is_shared else str(error.orig)
        if self._is_shared:
            return PlatformError(f"the index {self.address} cannot be used: {words}", hint="check the setting database")
        if any(sign in words for sign in _DAMAGE):
            return IndexDamaged(
                f"the index {self.address} is damaged ({words})", hint="rebuild it with: outlast reindex"
            )
        if "disk I/O error" in words and self._holds_nothing():
            return IndexDamaged(
                f"the index {self.address} cannot be used: {words}",
                hint="if it was removed while a keeper had it open, rebuild it with: outlast reindex; otherwise check "
                "the disk, or set OUTLAST_HOME to another folder",
            )
        return HomeError(
            f"the index {self.address} cannot be used: {words}",
            hint="check the disk, or set OUTLAST_HOME to another folder",
        )

    def _holds_nothing(self) -> bool:
        """Whether the file is too small for our tables: so is the new one that SQLite makes where one was removed.

        While somebody has the old one open, their log does not fit to the new one: "disk I/O error".
        """
        return self._path is not None and (not self._path.exists() or self._path.stat().st_size <= _FIRST_PAGE_BYTES)

    def _inode_now(self) -> int:
        if self._path is None:
            return 0
        try:
            return self._path.stat().st_ino
        except OSError:
            return -1


def move_damaged_aside(path: Path) -> Path | None:
    """Rename a damaged SQLite index, so that a new one can be made; returns its new name."""
    for suffix in ("-wal", "-shm"):
        Path(str(path) + suffix).unlink(missing_ok=True)
    if not path.exists():
        return None
    aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
    return path.rename(aside)


def _columns(row: RunRow) -> dict[str, Any]:
    return {
        "id": row.id, "name": row.name, "user": row.user, "state": str(row.state), "platform": row.platform,
        "created_at": row.created_at, "updated_at": row.updated_at, "store": row.store, "open": row.open,
        "view_json": json.dumps(row.view, ensure_ascii=False),
    }  # fmt: skip


def _put_values(connection: sa.Connection, row: RunRow) -> None:
    connection.execute(sa.delete(run_values).where(run_values.c.run_id == row.id))
    found = value_rows(row.id, row.view)
    if found:
        connection.execute(sa.insert(run_values), found)


def _row(found: sa.Row[Any]) -> RunRow:
    body = found._asdict()
    view = read_view(body.pop("view_json"))
    return RunRow(**body, view=view)
