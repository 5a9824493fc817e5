"""Rebuild the index from the store, when it was lost, damaged or left behind."""

from __future__ import annotations

from collections.abc import Iterable

from outlast.keeper.home import Home
from outlast.keeper.rebuild import Rebuilt, rebuild_index
from outlast.keeper.wake import ensure_keeper
from outlast.operations.faults import spoken
from outlast.operations.served import served
from outlast.settings import Settings
from outlast.store.registry import store_url


@served("house")
def reindex(settings: Settings, stores: Iterable[str] = ()) -> Rebuilt:
    """Read every run folder into the index, then let the keeper go on with the open ones."""
    home = Home(settings.home)
    with spoken("reindex"):
        rebuilt = rebuild_index(home, settings, [store_url(each) for each in stores])
    if rebuilt.runs:
        ensure_keeper(home)
    return rebuilt
