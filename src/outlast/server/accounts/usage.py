"""What the runs of a group use right now, for the quotas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from outlast.inside import layout
from outlast.inside.errors import InsideError, NotFound
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.observe import read_spec
from outlast.operations.locate import open_index, open_run_store
from outlast.server.accounts.people import Group
from outlast.server.accounts.quotas import Use
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.keeper.index import RunRow


def accelerators_of(spec: dict[str, Any]) -> int:
    """How many cards each stint of a run takes."""
    return cards_of(spec.get("resources") or {})


def cards_of(resources: Mapping[str, Any]) -> int:
    """Cards of all nodes together."""
    return int(resources.get("nodes") or 1) * (int(resources.get("gpus") or 0) + int(resources.get("npus") or 0))


def measure(settings: Settings, groups: Iterable[Group]) -> list[tuple[Group, Use]]:
    """Each group with what its members use. Open runs are read for their cards; stores only where bytes are limited.

    A run whose folder cannot be read now counts with what the index knows: a stint, no cards, no bytes.
    """
    groups = list(groups)
    if not groups:
        return []
    home = Home(settings.home)
    index = open_index(settings)
    try:
        rows = index.all_runs() if any(_limits_bytes(group) for group in groups) else index.open_runs()
    finally:
        index.close()
    return [(group, _use(home, [row for row in rows if row.user in group.members], group)) for group in groups]


def _limits_bytes(group: Group) -> bool:
    return group.quota.stored_bytes is not None


def _use(home: Home, rows: list[RunRow], group: Group) -> Use:
    open_rows = [row for row in rows if row.open]
    cards = 0
    if group.quota.accelerators is not None:
        cards = sum(_cards(home, row) for row in open_rows)
    blobs: dict[str, int] = {}
    if _limits_bytes(group):
        for row in rows:
            blobs.update(_blobs(home, row))
    return Use(len(open_rows), cards, sum(blobs.values()))


def _cards(home: Home, row: RunRow) -> int:
    try:
        return accelerators_of(read_spec(open_run_store(home, row.store, row.id), row.id))
    except InsideError:
        return 0


def _blobs(home: Home, row: RunRow) -> dict[str, int]:
    """Place and digest → size of everything that a run keeps; what several runs share counts once."""
    try:
        store = open_run_store(home, row.store, row.id)
        keys = [entry.key for entry in store.list(layout.checkpoints_prefix(row.id))]
        manifests = [_document(store, key) for key in [*keys, layout.outputs_key(row.id)]]
    except InsideError:
        return {}
    files = [file for each in manifests for file in each.get("files", {}).values()]
    return {f"{row.store} {file['sha256']}": int(file["size"]) for file in files}


def _document(store: Store, key: str) -> dict[str, Any]:
    try:
        body = json.loads(store.get(key))
    except (NotFound, ValueError):
        return {}
    return body if isinstance(body, dict) else {}
