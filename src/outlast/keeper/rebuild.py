"""Make the index anew from the run folders: the database holds nothing that the store does not."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from outlast.errors import CredentialError, StoreError
from outlast.inside.errors import AccessDenied, InsideError, PlaceError
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses
from outlast.keeper.home import Home
from outlast.keeper.index import Index, IndexDamaged, RunRow, move_damaged_aside
from outlast.keeper.observe import RunFolder
from outlast.keeper.opening import index_of
from outlast.keeper.view import decide_from_folder, short_view, useful_fraction
from outlast.settings import Settings

log = logging.getLogger("outlast.keeper")


@dataclass
class Rebuilt:
    """What a rebuild found."""

    runs: int = 0
    removed: list[str] = field(default_factory=list)  # rows whose folder is gone
    problems: list[str] = field(default_factory=list)  # one sentence per run or store that could not be read
    aside: str = ""  # where the damaged index went


def rebuild_index(home: Home, settings: Settings, stores: Iterable[str] = ()) -> Rebuilt:
    """Read every run folder of the home's store, of the stores its index knows and of `stores` into the index.

    A damaged index is moved aside first. Runs of another home are listed, but this home's keeper leaves them alone.
    """
    rebuilt = Rebuilt()
    index = _usable_index(home, settings, rebuilt)
    try:
        known = {row.id: row for row in index.all_runs()}
        urls = dict.fromkeys([settings.store, *(row.store for row in known.values()), *stores])
        accesses = Accesses(home)
        for url in urls:
            try:
                found = _read_store(accesses.open(url), url, home, settings, index, rebuilt)
            except (CredentialError, StoreError, PlaceError, AccessDenied) as error:
                # Not an empty store but an unreadable one: its runs stay in the list.
                rebuilt.problems.append(f"{url}: {error}")
                continue
            for run, row in known.items():
                if row.store == url and run not in found:
                    index.remove(run)
                    rebuilt.removed.append(run)
    finally:
        index.close()
    return rebuilt


def run_ids(store: Store) -> list[str]:
    """Every run that has a spec in a store, sorted."""
    keys = (entry.key.split("/") for entry in store.list("runs/"))
    return sorted({parts[1] for parts in keys if len(parts) == 3 and parts[2] == "spec.json"})


def _usable_index(home: Home, settings: Settings, rebuilt: Rebuilt) -> Index:
    try:
        return index_of(settings, home)
    except IndexDamaged:
        rebuilt.aside = str(move_damaged_aside(home.index) or "")
        return index_of(settings, home)


def _read_store(store: Store, url: str, home: Home, settings: Settings, index: Index, rebuilt: Rebuilt) -> set[str]:
    found = set()
    for run in run_ids(store):
        found.add(run)
        try:
            row = _row(store, url, run, home, settings)
            known = index.get(run)
            # A row is never closed here: the keeper may have opened it since the folder was read, and closes it itself.
            index.put(replace(row, open=row.open or (known is not None and known.open)))
            rebuilt.runs += 1
        except InsideError as error:
            rebuilt.problems.append(f"{run}: {error}")
            log.warning("reindex: %s: %s", run, error)
    return found


def _row(store: Store, url: str, run: str, home: Home, settings: Settings) -> RunRow:
    folder = RunFolder(store, run)
    folder.refresh()
    view = short_view(folder, decide_from_folder(folder, settings), useful_fraction=useful_fraction(folder))
    ours = folder.control.by in ("", home.id)
    if not ours and not view.state.is_final:
        view = replace(view, notice=f"another home looks after it; take it over with: outlast resume {run}")
    return RunRow(
        view.id, view.name, view.user, view.state.value, view.platform, view.created_at, url,
        updated_at=view.updated_at, open=ours and not view.state.is_final, view=view.to_json(),
        home="" if ours else folder.control.by,
    )  # fmt: skip
