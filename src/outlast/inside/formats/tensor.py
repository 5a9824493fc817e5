"""Checks for files of numbers: safetensors, npy, HDF5 and MindSpore's protobuf."""

from __future__ import annotations

import ast
import json
import re
import struct
from typing import Any, BinaryIO, Dict, List, Optional, Tuple

from .base import Cut, Verdict, read_at, torn, unknown, whole

_SAFETENSORS_HEADER_BYTES = 100_000_000  # the format's own limit
_NPY = b"\x93NUMPY"
_NPY_HEADER_BYTES = 1 << 20
_HDF5 = b"\x89HDF\r\n\x1a\n"
_HDF5_BLOCKS = (0, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_MAX_FIELDS = 1_000_000

_ITEM = re.compile(r"[<>|=]?([a-zA-Z?])(\d*)(\[[^\]]*\])?")
_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "U16": 16, "I16": 16, "F16": 16,
    "BF16": 16, "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "C64": 64,
}  # fmt: skip

# ---- safetensors


def looks_like_safetensors(head: bytes, size: int) -> bool:
    """A header length that fits into the file, and a JSON object behind it."""
    if len(head) < 10 or head[8:9] != b"{" or head[9:10] not in (b'"', b"}", b" "):
        return False
    (length,) = struct.unpack("<Q", head[:8])
    return bool(2 <= length <= _SAFETENSORS_HEADER_BYTES and 8 + length <= size)


def check_safetensors(file: BinaryIO, size: int) -> Verdict:
    """Header length, JSON header, tensors side by side without a gap, and not a byte more or less."""
    try:
        (length,) = struct.unpack("<Q", read_at(file, 0, 8))
        if not 2 <= length <= _SAFETENSORS_HEADER_BYTES:
            return torn("safetensors", "header length %d is impossible" % length)
        header = json.loads(read_at(file, 8, length))
        end = _tensors_end(header)
    except Cut:
        return torn("safetensors", "ends within its header")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return torn("safetensors", "header is not what the format asks for")
    if end is None:
        return torn("safetensors", "tensors do not lie side by side")
    if 8 + length + end != size:
        return torn("safetensors", "has %d bytes, its header promises %d" % (size, 8 + length + end))
    return whole("safetensors")


def _tensors_end(header: Dict[str, Any]) -> Optional[int]:
    """Where the last tensor ends, or None when there is a gap, an overlap or a wrong size."""
    end = 0
    spans = [(value["data_offsets"], value) for name, value in header.items() if name != "__metadata__"]
    for (start, stop), tensor in sorted(spans, key=lambda span: (span[0][0], span[0][1])):
        if start != end or stop < start:
            return None
        if tensor["dtype"] in _BITS and _count(tensor["shape"]) * _BITS[tensor["dtype"]] != (stop - start) * 8:
            return None
        end = stop
    return int(end)


def _count(shape: Any) -> int:
    total = 1
    for length in shape:
        total *= int(length)
    return total


# ---- npy


def check_npy(file: BinaryIO, size: int) -> Verdict:
    """Header and exactly the bytes that its shape needs; `numpy.save` may have put several into one file."""
    at = arrays = 0
    try:
        while at < size:
            at, item = _npy_body(file, at)
            if item is None:
                # Objects are pickled behind the header; their length stands nowhere.
                ends = read_at(file, size - 1, 1) == b"."
                return unknown("npy") if ends and size > at else torn("npy", "ends before the end of its objects")
            at += item
            if at > size:
                return torn("npy", "has %d bytes, its header promises %d" % (size, at))
            arrays += 1
    except Cut:
        return torn("npy", "ends within a header")
    except (ValueError, TypeError, KeyError, SyntaxError, MemoryError, RecursionError):
        return torn("npy", "header is not what the format asks for")
    return whole("npy") if arrays == 1 else unknown("npy")


def _npy_body(file: BinaryIO, at: int) -> Tuple[int, Optional[int]]:
    """(start, length) of the array whose header begins at `at`; length None for objects."""
    head = read_at(file, at, 8)
    if head[:6] != _NPY:
        raise ValueError("not an npy header")
    width, code = (2, "<H") if head[6] == 1 else (4, "<I")
    (length,) = struct.unpack(code, read_at(file, at + 8, width))
    if length > _NPY_HEADER_BYTES:
        raise ValueError("header too long")
    text = read_at(file, at + 8 + width, length).decode("latin-1" if head[6] < 3 else "utf-8")
    header = ast.literal_eval(text.strip())
    item = _item_bytes(header["descr"])
    body = None if item is None else item * _count(header["shape"])
    return at + 8 + width + length, body


def _item_bytes(descr: Any) -> Optional[int]:
    """Bytes of one element: `<f4`, `<U10`, `<M8[ns]`, or fields one after the other; None for objects."""
    if isinstance(descr, tuple):
        inner = _item_bytes(descr[0])
        return None if inner is None else inner * _count(_as_shape(descr[1]))
    if isinstance(descr, list):
        sizes: List[Optional[int]] = []
        for field in descr:
            inner = _item_bytes(field[1])
            repeated = _count(_as_shape(field[2])) if len(field) > 2 else 1
            sizes.append(None if inner is None else inner * repeated)
        return None if None in sizes else sum(size or 0 for size in sizes)
    match = _ITEM.fullmatch(descr)
    if match is None:
        raise ValueError("unknown dtype %r" % (descr,))
    letter, digits = match.group(1), match.group(2)
    if letter == "O":
        return None
    width = int(digits) if digits else 1
    return width * 4 if letter == "U" else width


def _as_shape(value: Any) -> Any:
    return (value,) if isinstance(value, int) else value


# ---- HDF5


def check_hdf5(file: BinaryIO, size: int) -> Verdict:
    """The superblock says where the file ends. A file that is longer was not closed in order: nothing is known."""
    try:
        base = _find_superblock(file, size)
        if base is None:
            return torn("hdf5", "superblock is missing")
        end, in_use = _end_address(file, base)
    except Cut:
        return torn("hdf5", "ends within its superblock")
    if end is None:
        return unknown("hdf5")
    if in_use:
        return torn("hdf5", "is marked as open for writing")
    if end > size:
        return torn("hdf5", "has %d bytes, its superblock promises %d" % (size, end))
    return whole("hdf5") if end == size or base + end == size else unknown("hdf5")


def _find_superblock(file: BinaryIO, size: int) -> Optional[int]:
    for at in _HDF5_BLOCKS:
        if at + 8 <= size and read_at(file, at, 8) == _HDF5:
            return at
    return None


def _end_address(file: BinaryIO, base: int) -> Tuple[Optional[int], bool]:
    """(end-of-file address, still open for writing) of the superblock; None for a version we do not know."""
    version = read_at(file, base + 8, 1)[0]
    if version in (0, 1):
        width = read_at(file, base + 13, 1)[0]
        first, flags = base + (24 if version == 0 else 28), 0
        # The root group's entry follows; a superblock without it is cut.
        read_at(file, first + 4 * width, width)
    elif version in (2, 3):
        width = read_at(file, base + 9, 1)[0]
        first = base + 12
        flags = read_at(file, base + 11, 1)[0] if version == 3 else 0
        read_at(file, first + 4 * width, 4)
    else:
        return None, False
    # Addresses in order: base, extension or free space, end of file.
    return int.from_bytes(read_at(file, first + 2 * width, width), "little"), bool(flags & 1)


# ---- protobuf


def check_protobuf(file: BinaryIO, size: int) -> Verdict:
    """Field after field must end exactly at the file's end; one that ends between two fields cannot be told."""
    at = 0
    try:
        for _ in range(_MAX_FIELDS):
            if at == size:
                return unknown("protobuf")
            key, at = _varint(file, at, size)
            if key & 7 == 2:
                length, at = _varint(file, at, size)
                at += length
            elif key & 7 == 0:
                _, at = _varint(file, at, size)
            elif key & 7 in (1, 5):
                at += 8 if key & 7 == 1 else 4
            else:
                # Not protobuf, or what newer versions put behind it (a checksum).
                return unknown("checkpoint")
            if at > size:
                raise Cut
    except Cut:
        return torn("protobuf", "ends within a tensor")
    return unknown("protobuf")


def _varint(file: BinaryIO, at: int, size: int) -> Tuple[int, int]:
    data = read_at(file, at, min(10, max(0, size - at)))
    value = 0
    for index, byte in enumerate(data):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, at + index + 1
    raise Cut
