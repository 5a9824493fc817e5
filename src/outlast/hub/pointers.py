"""LFS pointer files: the few lines that git keeps in place of a large file. Standard library only, for the hook."""

from __future__ import annotations

import re
from typing import NamedTuple

#: A pointer is shorter, by the specification.
POINTER_BYTES = 1024
_VERSION = "version https://git-lfs.github.com/spec/v1"
_POINTER = re.compile(
    re.escape(_VERSION) + r"\n(?:ext-[^\n]*\n)*oid sha256:(?P<oid>[0-9a-f]{64})\nsize (?P<size>[0-9]{1,18})\n?"
)
OID = re.compile(r"[0-9a-f]{64}")


class Pointer(NamedTuple):
    """Which bytes a file stands for."""

    oid: str
    size_bytes: int


def read_pointer(data: bytes) -> Pointer | None:
    """The pointer that a file's content is, or None."""
    if len(data) >= POINTER_BYTES:
        return None
    match = _POINTER.fullmatch(data.decode("utf-8", "replace"))
    return Pointer(match["oid"], int(match["size"])) if match else None


def write_pointer(pointer: Pointer) -> bytes:
    return f"{_VERSION}\noid sha256:{pointer.oid}\nsize {pointer.size_bytes}\n".encode()
