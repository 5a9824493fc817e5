"""Which index a home uses: the file in it, or the database that its settings name."""

from __future__ import annotations

import contextlib
import logging
from dataclasses import replace
from pathlib import Path

from outlast.keeper.home import Home
from outlast.keeper.index import Index, IndexDamaged
from outlast.settings import Settings

log = logging.getLogger("outlast.keeper")


def index_of(settings: Settings, home: Home) -> Index:
    """The index of a home. A database takes over the rows of the file that was used before it."""
    if not settings.shares_index:
        return Index(home.index)
    index = Index(settings.database, home=home.id)
    if home.index.exists():
        _move_rows(home, index)
    return index


def _move_rows(home: Home, index: Index) -> None:
    """Every row at least once, then the file goes aside: whoever is interrupted here begins again."""
    try:
        with contextlib.closing(Index(home.index)) as before:
            rows = before.all_runs()
    except IndexDamaged:
        rows = []  # outlast reindex finds them again
    for row in rows:
        index.add(replace(row, home=home.id))
    log.info("%d runs moved from %s to %s", len(rows), home.index, index.address)
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{home.index}{suffix}").rename(f"{home.index}.moved{suffix}")
