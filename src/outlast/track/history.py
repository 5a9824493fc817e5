"""Which part of each stint lives on: the line of checkpoints that leads to where the run is now."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from outlast.inside import layout
from outlast.inside.errors import Damaged, NotFound, RequestError
from outlast.inside.records import Manifest, Order
from outlast.store.base import Store


@dataclass(frozen=True)
class Kept:
    """How much of one stint its successors build on, in the stint's own time."""

    until_s: float  # since the runner's start; infinite for the newest stint, 0 when nothing was used
    running_s: float  # of the script's running time
    successor: int | None = None  # the stint that continued from there


def read_orders(store: Store, run: str) -> dict[int, Order]:
    """Every order of a run by stint; one that cannot be read is left out."""
    orders: dict[int, Order] = {}
    stint = 1
    while True:
        try:
            orders[stint] = Order.from_bytes(store.get(layout.order_key(run, stint)))
        except NotFound:
            return orders
        except (Damaged, RequestError):
            pass
        stint += 1


def read_manifests(store: Store, run: str) -> list[Manifest]:
    """Every checkpoint's manifest in the order of (stint, number); damaged ones are left out."""
    manifests: list[Manifest] = []
    for entry in store.list(layout.checkpoints_prefix(run)):
        if layout.checkpoint_of_key(entry.key) is None:
            continue
        try:
            manifests.append(Manifest.from_bytes(store.get(entry.key)))
        except (Damaged, RequestError, NotFound):
            continue
    return sorted(manifests, key=lambda manifest: (manifest.stint, manifest.number))


def trace_history(orders: Mapping[int, Order], manifests: Sequence[Manifest]) -> dict[int, Kept]:
    """For each stint, how much of it lives on. Follows what was restored from the newest stint back to the first.

    What a stint really restored is its first checkpoint's parent; only a stint that committed none is believed by
    its order.
    """
    by_id = {layout.checkpoint_id(manifest.stint, manifest.number): manifest for manifest in manifests}
    kept = {stint: Kept(0.0, 0.0) for stint in orders}
    stint, until_s, running_s, successor = max(orders, default=0), math.inf, math.inf, None
    while stint in kept:
        kept[stint] = Kept(until_s, running_s, successor)
        manifest = by_id.get(_restored(stint, orders[stint], manifests) or "")
        if manifest is None or manifest.stint >= stint:
            break
        stint, successor = manifest.stint, stint
        until_s, running_s = manifest.elapsed_s, manifest.running_s
    return kept


def _restored(stint: int, order: Order, manifests: Sequence[Manifest]) -> str | None:
    first = next((manifest for manifest in manifests if manifest.stint == stint), None)
    return order.resume_from if first is None else first.parent
