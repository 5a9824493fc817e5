"""An input at an address, as it is listed now. Imports the mover; only runs that have such inputs pay for it."""

from __future__ import annotations

import hashlib
import os
from typing import List, Mapping, Optional

from .move.address import Address, parse
from .move.base import FILE, FOLDER, Item, Tree
from .move.packed import is_packed
from .move.plan import Place, identify
from .move.trees import open_tree
from .stores.access import Access


class Source:
    """One file or folder somewhere. `NotFound` when there is nothing; folders are listed completely."""

    def __init__(self, address: Address, tree: Tree, endpoint: str = "") -> None:
        self.place = Place(address, tree)
        item = identify(self.place, single=False)
        self.is_folder = item.kind == FOLDER
        self.items: List[Item] = list(tree.walk(item.path)) if self.is_folder else [item]
        self.is_packed = self.is_folder and is_packed(tree, item.path)
        self._endpoint = endpoint

    @classmethod
    def open(cls, text: str, accesses: Mapping[str, Access], maps: Optional[Mapping[str, str]] = None) -> Source:
        """`maps` are folders that play buckets: what lies in one of those comes from there."""
        address = parse(text)
        access = accesses.get(address.root)
        return cls(address, open_tree(address, access, maps), access.endpoint if access else "")

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in self.items)

    @property
    def file_count(self) -> int:
        return sum(1 for item in self.items if item.kind == FILE)

    @property
    def key(self) -> str:
        """Another one as soon as anything there is added, removed or rewritten."""
        address = self.place.address
        digest = hashlib.sha256(("%s\0%s\0%s\n" % (self._endpoint, address.authority, address.path)).encode("utf-8"))
        for item in self.items:
            state = item.digest or item.tag or str(item.modified_ns)
            line = "%s\0%s\0%d\0%s\n" % (item.path, item.kind, item.size_bytes, state)
            digest.update(line.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:32]

    def relative(self, item: Item) -> str:
        """The path of one of the items below the folder; empty for a file that stands for itself."""
        return item.path[len(self.place.address.path) :].lstrip("/") if self.is_folder else ""


def cache_folder(cache: str, source: Source) -> str:
    """Where a source is kept once it was fetched."""
    return os.path.join(cache, "inputs", source.key)


def is_cached(cache: str, source: Source) -> bool:
    """Whether a cache holds all of a source already."""
    return os.path.exists(os.path.join(cache_folder(cache, source), "whole"))
