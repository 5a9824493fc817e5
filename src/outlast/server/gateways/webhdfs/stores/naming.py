"""Which store a path means, and how a store is called among the paths. Pure.

HDFS has no colon in names, so that of a name node's port is written `_`, which no host has:
`/stores/hdfs/namenode_9870/data`. Other keys than the usual ones stand before an `@`, as in addresses.
"""

from __future__ import annotations

from typing import NamedTuple

from outlast.inside.move.address import BUCKETS, SCHEMES, Address, parse
from outlast.inside.move.names import is_below

STORES = "/stores"
FILE = "file"


class Spot(NamedTuple):
    """A place in a store: the address of the store's root, the path that it has here, and the rest of the path."""

    root: Address
    base: str
    inner: str

    def address(self, inner: str) -> str:
        """A path in the store, as people write it."""
        return str(self.root._replace(path=self.tree_path(inner), into=False))

    def tree_path(self, inner: str) -> str:
        """A path in the store, as its tree has it."""
        return inner[1:] if self.root.scheme in BUCKETS else inner


def is_in_stores(path: str) -> bool:
    return path == STORES or is_below(path, STORES)


def read_spot(path: str) -> Spot | None:
    """The place that a path below `/stores` means; None for the folders above the stores themselves.

    `InsideError` for what can be no store: an unknown kind, a bucket whose name no bucket has.
    """
    _, _, scheme, *rest = (*path.split("/", 4), "")[:5]
    if scheme == FILE:
        return Spot(parse("/"), f"{STORES}/{FILE}", path.removeprefix(f"{STORES}/{FILE}") or "/")
    if scheme not in SCHEMES or not rest or not rest[0]:
        return None
    profile, at, authority = rest[0].rpartition("@")
    base = f"{STORES}/{scheme}/{rest[0]}"
    root = parse(f"{scheme}://{profile}{at}{authority.replace('_', ':')}/")
    return Spot(root, base, path.removeprefix(base) or "/")


def name_of(authority: str, profile: str = "") -> str:
    """The folder of a bucket or name node, among those of its kind."""
    return (f"{profile}@" if profile else "") + authority.replace(":", "_")
