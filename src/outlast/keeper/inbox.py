"""Markers by which a command tells the keeper to look at a run, without opening the database.

A marker is written after everything it speaks of lies in the store. Only the keeper takes markers away.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from outlast.errors import OutlastError
from outlast.inside.errors import InsideError, NotFound
from outlast.keeper.home import Home

if TYPE_CHECKING:
    from outlast.keeper.index import Index, RunRow


@dataclass(frozen=True)
class Marker:
    """One run to look at, and where its folder is."""

    run: str
    store: str


def drop_marker(home: Home, run: str, store: str) -> None:
    """Ask the keeper to look after a run from now on. The marker appears whole or not at all."""
    temporary = home.inbox / f".{run}.{os.getpid()}-{threading.get_ident()}"
    with home.explained():
        temporary.write_text(json.dumps({"store": store}), encoding="utf-8")
        temporary.replace(home.inbox / run)


def markers(home: Home) -> list[Marker]:
    """What is waiting, oldest name first; unreadable markers are left out."""
    found = []
    for path in sorted(home.inbox.iterdir()):
        if path.name.startswith("."):
            continue
        try:
            found.append(Marker(path.name, str(json.loads(path.read_bytes())["store"])))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def absorb(home: Home, index: Index, *, take: bool) -> list[str]:
    """Make sure that each marked run has a row; returns the runs. With `take` (the keeper) markers go away.

    A store that cannot be reached leaves the marker for the next time.
    """
    absorbed = []
    for marker in markers(home):
        try:
            if index.get(marker.run) is None:
                index.add(first_row(home, marker))
        except NotFound:
            if take:  # a run that was removed in the meantime
                (home.inbox / marker.run).unlink(missing_ok=True)
            continue
        except (InsideError, OutlastError):
            continue
        if take:
            index.set_open(marker.run, True)
            (home.inbox / marker.run).unlink(missing_ok=True)
        absorbed.append(marker.run)
    return absorbed


def first_row(home: Home, marker: Marker) -> RunRow:
    """The row of a run that no keeper has looked at yet, from its spec alone."""
    from outlast.keeper.accesses import Accesses
    from outlast.keeper.index import RunRow
    from outlast.keeper.observe import read_spec
    from outlast.model.first_view import first_view

    view = first_view(read_spec(Accesses(home).open(marker.store, marker.run), marker.run))
    return RunRow(
        view.id, view.name, view.user, view.state, view.platform, view.created_at, marker.store,
        updated_at=view.updated_at, open=True, view=view.to_json(),
    )  # fmt: skip
