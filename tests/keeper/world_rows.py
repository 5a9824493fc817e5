"""What a test reads of a world: its index, its orders, its stints; and a word for its runs."""

from __future__ import annotations

from outlast.inside import layout
from outlast.inside.records import Control, Order
from outlast.keeper.index import Index, RunRow


def row_of(world, run: str) -> RunRow:
    index = Index(world.settings.home / "index.db")
    try:
        found = index.get(run)
        assert found is not None
        return found
    finally:
        index.close()


def order_of(world, run: str, stint: int) -> Order:
    return Order.from_bytes(world.store.get(layout.order_key(run, stint)))


def stints_of(world, run: str) -> list[int]:
    keys = [entry.key for entry in world.store.list(layout.stints_prefix(run))]
    return sorted(int(key.split("/")[3]) for key in keys if key.endswith("order.json"))


def ask(world, run: str, **control) -> None:
    world.store.put(layout.control_key(run), Control(**control).to_bytes())
