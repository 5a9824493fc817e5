"""The two plain formats of arrays: idx, as MNIST has it, and npy. Their headers, and which bytes are which record."""

from __future__ import annotations

import ast
import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: read(start, length) of the uncompressed file
Read = Callable[[int, int], bytes]
_IDX_SIZES = {0x08: 1, 0x09: 1, 0x0B: 2, 0x0C: 4, 0x0D: 4, 0x0E: 8}
_DESCR = re.compile(r"[<>|=]?([biufcUSVmM?])(\d*)(\[\w+\])?")
_NPY = b"\x93NUMPY"


@dataclass(frozen=True)
class Array:
    """An array that can be cut along its first axis."""

    count: int
    record_bytes: int
    offset: int  # of the first record
    is_flat: bool  # one number per record: labels look like that
    head: Callable[[int], bytes]  # the header for another count


def read_head(read: Read) -> Array | None:
    """Understand the header of an idx or npy file; None when it cannot be cut."""
    start = read(0, 12)
    if start[:6] == _NPY:
        return _npy(read, start)
    if len(start) >= 8 and start[:2] == b"\0\0" and start[2] in _IDX_SIZES and start[3] > 0:
        return _idx(read, start)
    return None


def _idx(read: Read, start: bytes) -> Array | None:
    dimensions = start[3]
    raw = read(4, 4 * dimensions)
    if len(raw) < 4 * dimensions:
        return None
    shape = struct.unpack(f">{dimensions}I", raw)

    def head(count: int) -> bytes:
        return start[:4] + struct.pack(f">{dimensions}I", count, *shape[1:])

    size = _IDX_SIZES[start[2]] * math.prod(shape[1:])
    return Array(shape[0], size, 4 + 4 * dimensions, dimensions == 1, head)


def _npy(read: Read, start: bytes) -> Array | None:
    wide = start[6] > 1
    (length,) = struct.unpack("<I", start[8:12]) if wide else struct.unpack("<H", start[8:10])
    offset = (12 if wide else 10) + length
    try:
        fields: dict[str, Any] = ast.literal_eval(read(offset - length, length).decode("latin-1"))
        shape, descr = tuple(fields["shape"]), fields["descr"]
    except (ValueError, SyntaxError, KeyError, TypeError):
        return None
    known = _DESCR.fullmatch(descr) if isinstance(descr, str) else None
    if known is None or not shape or (fields.get("fortran_order") and len(shape) > 1):
        return None
    item = int(known[2] or 1) * (4 if known[1] == "U" else 1)

    def head(count: int) -> bytes:
        text = repr({"descr": descr, "fortran_order": False, "shape": (count, *shape[1:])}).encode("latin-1")
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        return _NPY + b"\1\0" + struct.pack("<H", len(text)) + text

    return Array(shape[0], item * math.prod(shape[1:]), offset, len(shape) == 1 and known[1] in "biu", head)


def cut(array: Array, read: Read, chosen: list[int]) -> bytes:
    """The file with only those records. Neighbours are read together."""
    pieces = [array.head(len(chosen))]
    at = 0
    while at < len(chosen):
        end = at + 1
        while end < len(chosen) and chosen[end] == chosen[end - 1] + 1:
            end += 1
        pieces.append(read(array.offset + chosen[at] * array.record_bytes, (end - at) * array.record_bytes))
        at = end
    return b"".join(pieces)


def labels_of(array: Array, read: Read) -> list[bytes]:
    """The records of a flat array, as bytes: enough to tell classes apart."""
    size = array.record_bytes
    data = read(array.offset, array.count * size)
    return [data[at : at + size] for at in range(0, len(data), size)]
