"""Pages of runs as ready bytes.

The index keeps each run's short view as JSON text, so a page is made by joining texts, and stays valid until the
index changes: SQLite tells that in microseconds, PostgreSQL in one question. Views of open runs are as old as the
keeper's last look at them, about a second.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from outlast.errors import NotFoundError, UsageError
from outlast.keeper.home import Home
from outlast.keeper.inbox import absorb
from outlast.keeper.index import RunRow
from outlast.keeper.opening import index_of
from outlast.keeper.view import view_from_json
from outlast.keeper.wake import ensure_keeper, keeper_is_there
from outlast.model.query import FIELDS, RunQuery, sort_key, using
from outlast.operations.listing import choose_hits
from outlast.server.paging import read_cursor, write_cursor
from outlast.server.rows import ONE_OF, open_rows
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.hub.tenures import Tenure
    from outlast.keeper.search import Hit
    from outlast.server.auth import Actor

#: Pages and orders of runs that are remembered until the index changes.
_REMEMBERED = 256
#: How often it is made sure that a keeper looks after open runs.
KEEPER_S = 5.0
_AS_WRITTEN = '"state"'


class Asked(NamedTuple):
    """One page: whose runs (None: everybody's), which of them, and after which cursor."""

    owners: frozenset[str] | None
    query: RunQuery
    rows: int
    cursor: str = ""


class ReadyRuns:
    """The runs of one home, read from its index. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._home = Home(settings.home)
        self._lock = threading.RLock()
        self._open()
        self._pages: OrderedDict[Asked, bytes] = OrderedDict()
        self._orders: OrderedDict[tuple[frozenset[str] | None, RunQuery], list[Hit]] = OrderedDict()
        self._version: Hashable = None
        self._inbox_at = -1
        self._keeper_at = float("-inf")

    def _open(self) -> None:
        self._index = index_of(self._settings, self._home)
        self._reader = open_rows(self._settings, self._index)

    def close(self) -> None:
        with self._lock:
            self._reader.close()
            self._index.close()

    def known_page(self, asked: Asked) -> bytes | None:
        """A page that was made before and still holds; never waits for anything."""
        if not self._reader.is_instant or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._pages.get(asked) if self._is_current() else None
        finally:
            self._lock.release()

    def page(self, asked: Asked) -> bytes:
        """`{"runs": […], "next": …}`; `next` is null on the last page."""
        with self._lock:
            self._bring_up_to_date()
            found = self._pages.get(asked)
            if found is None:
                found = self._pages[asked] = self._make(asked)
                _forget_oldest(self._pages)
            return found

    def used(self, asked: Asked, tenures: Sequence[Tenure]) -> bytes:
        """A page of the runs that used a repository, newest first, under any name at the time that it had it."""
        with self._lock:
            self._bring_up_to_date()
            found = {
                hit for each in tenures for hit in self._ordered(asked.owners, using(each.asset))
                if each.holds(hit.created_at)
            }  # fmt: skip
            return _page(*self._cut(choose_hits(list(found), asked.query), asked))

    def find(self, actor: Actor, ref: str) -> RunRow:
        """The run that `ref` means among those that `actor` may see: an id, a name, or the beginning of an id."""
        with self._lock:
            self._bring_up_to_date()
            found = [row for row in (self._index.find(ref) if ref else []) if actor.may_see(row.user)]
        exact = [row for row in found if row.id == ref] or [row for row in found if row.name == ref][-1:]
        chosen = exact or found
        if not chosen:
            raise NotFoundError(f"no run {ref!r}", hint="list the runs: GET /api/v1/runs")
        if len(chosen) > 1:
            ids = ", ".join(row.id for row in chosen[-8:])
            raise UsageError(f"{len(chosen)} runs begin with {ref!r}: {ids}", hint="write more of the id")
        return chosen[0]

    def row(self, run: str) -> RunRow | None:
        """The run of that very id, whoever it belongs to."""
        with self._lock:
            self._bring_up_to_date()
            return self._index.get(run)

    def views(self, runs: Collection[str]) -> dict[str, dict[str, Any]]:
        """The last view of each of these runs that exists, whoever they belong to."""
        with self._lock:
            self._bring_up_to_date()
            found = self._index.views(runs)
        return {run: body for run, body in found.items() if "state" in body}

    def stores(self) -> frozenset[str]:
        """Every store that holds a run."""
        with self._lock:
            return frozenset(store for (store,) in self._reader.fetch("SELECT DISTINCT store FROM runs"))

    # ---- keeping up with the index

    def keep_up(self) -> None:
        """What every question does first. Without one, a keeper that was killed would not be missed."""
        with self._lock:
            self._bring_up_to_date()

    def _is_current(self) -> bool:
        return self._inbox_mtime() == self._inbox_at and self._now() == self._version

    def _now(self) -> Hashable:
        """Changes whenever somebody has written to the index, and when its file was replaced."""
        return self._reader.version(), self._index.was_replaced()

    def _inbox_mtime(self) -> int:
        return self._home.inbox.stat().st_mtime_ns

    def _bring_up_to_date(self) -> None:
        if self._index.was_replaced():
            self._reader.close()
            self._index.close()
            self._open()
        marked_at = self._inbox_mtime()
        if marked_at != self._inbox_at:
            absorb(self._home, self._index, take=False)
            self._inbox_at = marked_at
        now = self._now()
        if now != self._version:
            self._pages.clear()
            self._orders.clear()
            self._version = now
        if time.monotonic() - self._keeper_at >= KEEPER_S:
            self._keeper_at = time.monotonic()
            if not keeper_is_there(self._home) and self._index.kept_runs():
                ensure_keeper(self._home)

    # ---- making a page

    def _make(self, asked: Asked) -> bytes:
        query = asked.query
        is_plain = query.sort.removeprefix("-") == "created" and not query.name and not query.where
        texts, following = self._newest(asked) if is_plain else self._chosen(asked)
        return _page(texts, following)

    def _newest(self, asked: Asked) -> tuple[list[bytes], str | None]:
        """By time, straight from the index on it: one page costs the same whether ten or a million runs exist."""
        sign, order = ("<", "DESC") if asked.query.descending else (">", "ASC")
        fits, values = ["true"], list[Any]()
        if asked.query.states:
            fits.append(_one_of("state", asked.query.states, values))
        if asked.owners is not None:
            fits.append(_one_of("user", sorted(asked.owners), values))
        if asked.cursor:
            fits.append(f"(created_at, id) {sign} (?, ?)")
            values += read_cursor(asked.cursor, 2)
        found = self._reader.fetch(
            f"SELECT created_at, id, view_json FROM runs WHERE {' AND '.join(fits)} "
            f"ORDER BY created_at {order}, id {order} LIMIT ?",
            (*values, asked.rows + 1),
        )
        page = found[: asked.rows]
        following = write_cursor(*page[-1][:2]) if len(found) > asked.rows else None
        return [_ready(text) for _, _, text in page if _AS_WRITTEN in text], following

    def _chosen(self, asked: Asked) -> tuple[list[bytes], str | None]:
        """By anything else: all that fit are put in order once, and their pages are cut from that."""
        return self._cut(self._ordered(asked.owners, asked.query), asked)

    def _cut(self, hits: list[Hit], asked: Asked) -> tuple[list[bytes], str | None]:
        start = 0
        if asked.cursor:
            *_, last = read_cursor(asked.cursor, 2)
            start = next((place + 1 for place, hit in enumerate(hits) if hit.id == last), -1)
            if start < 0:
                raise UsageError("the run at this cursor is gone", hint="begin again without a cursor")
        page = hits[start : start + asked.rows]
        following = write_cursor("", page[-1].id) if start + asked.rows < len(hits) else None
        return self._texts([hit.id for hit in page]), following

    def _ordered(self, owners: frozenset[str] | None, query: RunQuery) -> list[Hit]:
        known = self._orders.get((owners, query))
        if known is None:
            hits = self._decided(self._index.search(query), query)
            if owners is not None:
                theirs = self._ids_of(owners)
                hits = [hit for hit in hits if hit.id in theirs]
            known = self._orders[owners, query] = choose_hits(hits, query)
            _forget_oldest(self._orders)
        return known

    def _decided(self, hits: list[Hit], query: RunQuery) -> list[Hit]:
        """`search` gives every open run: whoever asked may look at it anew. Here its last view decides."""
        bodies = self._index.views([hit.id for hit in hits if hit.open])
        views = {run: view_from_json(body) for run, body in bodies.items() if "state" in body}
        word = query.sort.removeprefix("-")
        found = []
        for hit in hits:
            view = views.get(hit.id)
            if view is not None and query.matches(view):
                found.append(hit if word in FIELDS else hit._replace(key=sort_key(view, word)))
            elif not hit.open:
                found.append(hit)
        return found

    def _ids_of(self, owners: frozenset[str]) -> set[str]:
        values: list[str] = []
        query = f"SELECT id FROM runs WHERE {_one_of('user', sorted(owners), values)}"
        return {run for (run,) in self._reader.fetch(query, values)}

    def _texts(self, ids: Sequence[str]) -> list[bytes]:
        values: list[str] = []
        query = f"SELECT id, view_json FROM runs WHERE {_one_of('id', ids, values)}"
        found = dict(self._reader.fetch(query, values))
        return [_ready(found[run]) for run in ids if _AS_WRITTEN in found.get(run, "")]


def _page(texts: Iterable[bytes], following: str | None) -> bytes:
    return b'{"runs":[%s],"next":%s}' % (b",".join(texts), orjson.dumps(following))


def _one_of(column: str, wanted: Iterable[str], values: list[str]) -> str:
    """The condition, its values added to `values` as one."""
    values.append(json.dumps([str(value) for value in wanted]))
    return f'"{column}" IN {ONE_OF}'


def _ready(text: str) -> bytes:
    """A row's view as JSON that every reader takes: Python also writes NaN, which JSON does not know."""
    if "NaN" in text or "Infinity" in text:
        return orjson.dumps(json.loads(text))
    return text.encode()


def _forget_oldest(remembered: OrderedDict[Any, Any]) -> None:
    while len(remembered) > _REMEMBERED:
        remembered.popitem(last=False)
