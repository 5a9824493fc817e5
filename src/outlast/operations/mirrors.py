"""Removing what runs left in the stores of their platforms.

A store that is away when its run is removed is remembered in the home folder, and `outlast gc` tries again. Runs that
this home does not know are left alone: others may use the same store.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from outlast.errors import OutlastError
from outlast.inside.errors import InsideError
from outlast.inside.records import Order
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses
from outlast.keeper.home import Home
from outlast.keeper.mirror import remove_mirror
from outlast.keeper.mirror_doors import Doors
from outlast.platforms.accounts import Accounts
from outlast.platforms.registry import create
from outlast.settings import Settings
from outlast.store.registry import outside_errors


def remove_mirrors(settings: Settings, run: str, orders: Iterable[Order]) -> None:
    """Remove a run from every mirror that its orders name; those that cannot be reached now are remembered."""
    named = {(order.platform, order.store) for order in orders if order.store}
    left = [pair for pair in sorted(named) if not _remove(settings, run, *pair)]
    note = _notes(settings) / f"{run}.json"
    if left:
        note.parent.mkdir(mode=0o700, exist_ok=True)
        note.write_text(json.dumps(left), encoding="utf-8")
    else:
        note.unlink(missing_ok=True)


def retry_removals(settings: Settings) -> list[str]:
    """Try again what could not be removed earlier; returns the addresses that still cannot be reached."""
    for note in sorted(_notes(settings).glob("*.json")):
        run = note.stem
        pairs = json.loads(note.read_text(encoding="utf-8"))
        remove_mirrors(settings, run, [Order(run, 0, "", platform, store=store) for platform, store in pairs])
    kept = [json.loads(note.read_text(encoding="utf-8")) for note in sorted(_notes(settings).glob("*.json"))]
    return sorted({store for pairs in kept for _, store in pairs})


def mirror_stores(settings: Settings) -> Iterator[tuple[str, Store]]:
    """The stores of this home's accounts, as far as they can be opened: they hold blobs that nothing may name."""
    doors = _doors(settings)
    seen: set[str] = set()
    for account in Accounts(settings.home).all():
        with contextlib.suppress(OutlastError):
            address = create(account.name, settings).store
            if address and address not in seen:
                seen.add(address)
                yield address, doors.open_store(Order("", 0, "", account.name, store=address))


def _remove(settings: Settings, run: str, platform: str, store: str) -> bool:
    try:
        with outside_errors():
            remove_mirror(_doors(settings).open_store(Order(run, 0, "", platform, store=store)), run)
    except (OutlastError, InsideError):
        return False
    return True


def _doors(settings: Settings) -> Doors:
    return Doors(Accesses(Home(settings.home)), lambda name: create(name, settings))


def _notes(settings: Settings) -> Path:
    return settings.home / "unremoved"
