"""How a keeper gets at the mirrors of its runs: whose keys open their stores, and which inputs must go there too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from outlast.inside.move.address import parse
from outlast.inside.move.plan import Place
from outlast.inside.move.trees import open_tree
from outlast.inside.net.retry import HURRIED
from outlast.inside.place import ACCESSES
from outlast.inside.records import Order
from outlast.inside.stores.access import Access
from outlast.inside.stores.base import Store
from outlast.keeper.accesses import Accesses, decode, is_played
from outlast.keeper.transit import Told, copy_input, input_key
from outlast.platforms.base import Platform
from outlast.store.registry import open_store, outside_errors


class Doors:
    """The stores that the platforms of one keeper work on."""

    def __init__(self, accesses: Accesses, platform_of: Callable[[str], Platform]) -> None:
        self._accesses = accesses
        self._platform_of = platform_of

    def open_store(self, order: Order) -> Store:
        """The store that a stint works on, with the account's own keys or those that are known here."""
        access = self._platform_of(order.platform).store_access()
        if access is not None:
            return open_store(order.store, access, HURRIED)
        return self._accesses.open(order.store, order.run)

    def send_inputs(self, spec: Mapping[str, Any], order: Order, say: Told) -> dict[str, str]:
        """Copy the inputs to the mirror that the platform cannot reach where they are; their addresses there."""
        platform, maps = self._platform_of(order.platform), spec.get("maps") or {}
        unseen = [
            given
            for given in spec.get("inputs") or ()
            if not platform.sees(given["source"]) or is_played(given["source"], maps)
        ]
        found = {}
        for given in unseen:
            address = f"{order.store.rstrip('/')}/{input_key(given['source'])}"
            with outside_errors():
                copy_input(
                    given["name"], self._place(given["source"], order, maps),
                    self._place(address, order, {}, platform.store_access()), say,
                )  # fmt: skip
            found[given["name"]] = address
        return found

    def _place(self, url: str, order: Order, maps: Mapping[str, str], access: Access | None = None) -> Place:
        address = parse(url)
        if access is None and not is_played(url, maps):
            known = decode(self._accesses.secrets_of(order.run, [url]).get(ACCESSES, "{}"))
            access = known[address.root].access if address.root in known else None
        return Place(address, open_tree(address, access, maps))
