"""Is a file already there? Decided by what both sides know without reading, or by reading when asked to."""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

from .base import Item, Tree

_SECOND_NS = 1_000_000_000


def looks_unchanged(source: Item, target: Item, target_is_local: bool) -> bool:
    """True when size and digest, or size and time, say that the target is a copy of the source.

    A local copy carries its source's time. Other places stamp a file when it arrives, so there a file that is not
    older than its source was copied after the last change.
    """
    if source.size_bytes != target.size_bytes or source.kind != target.kind:
        return False
    if comparable(source.digest, target.digest):
        return source.digest == target.digest
    if not source.modified_ns or not target.modified_ns:
        return False
    if not target_is_local:
        return target.modified_ns >= source.modified_ns
    if target.modified_ns == source.modified_ns:
        return True
    # File systems that keep only whole seconds.
    return target.modified_ns % _SECOND_NS == 0 and target.modified_ns == source.modified_ns // _SECOND_NS * _SECOND_NS


def comparable(one: str, other: str) -> bool:
    """True for two digests of the same kind."""
    return bool(one and other) and one.partition(":")[0] == other.partition(":")[0]


def is_same(source: Item, tree: Tree, target: Item, target_tree: Tree) -> bool:
    """Compare by checksum. A side that does not know its digest is read."""
    if source.size_bytes != target.size_bytes or source.kind != target.kind:
        return False
    if comparable(source.digest, target.digest):
        return source.digest == target.digest
    kind = (target.digest or source.digest or "crc32:").partition(":")[0]
    return _digest(source, tree, kind) == _digest(target, target_tree, kind)


def _digest(item: Item, tree: Tree, kind: str) -> str:
    if item.digest.startswith(kind + ":"):
        return item.digest
    return digest_of(tree, item.path, kind)


def digest_of(tree: Tree, path: str, kind: str) -> str:
    """Read a file and return its `md5:…` or `crc32:…`."""
    if kind == "crc32":
        value = 0
        for piece in tree.read(path):
            value = zlib.crc32(piece, value)
        return "crc32:%08x" % value
    sum_of: Any = hashlib.new(kind)
    for piece in tree.read(path):
        sum_of.update(piece)
    return "%s:%s" % (kind, sum_of.hexdigest())
