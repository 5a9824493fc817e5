"""Checks for containers: zip (torch, npz, keras), gzip and JSON."""

from __future__ import annotations

import json
import struct
import zlib
from typing import BinaryIO, List, NamedTuple, Optional, Tuple

from .base import Cut, Verdict, read_at, torn, unknown, whole

_SMALL_BYTES = 1 << 20
_JSON_BYTES = 8 << 20
_GZIP_BYTES = 4 << 20
_INFLATED_BYTES = 64 << 20  # a small archive may unfold to this much while it is checked
_DIRECTORY_BYTES = 64 << 20
_ALL_ONES_16, _ALL_ONES_32 = 0xFFFF, 0xFFFFFFFF


class _Entry(NamedTuple):
    name: bytes
    offset: int
    packed: int
    flags: int
    method: int
    crc: int


# ---- zip


def check_zip(file: BinaryIO, size: int) -> Verdict:
    """The directory at the end is there, parses, and every file it names lies before it."""
    try:
        found = _find_directory(file, size)
        if found is None:
            return torn("zip", "zip directory is missing")
        start, length, count = found
        if length > _DIRECTORY_BYTES:
            return unknown("zip")
        entries = _read_directory(read_at(file, start, length), count)
        bodies = [_body_of(file, entry, start) for entry in entries]
    except (Cut, struct.error):
        return torn("zip", "zip directory does not match the file")
    if size < _SMALL_BYTES and not _is_torch(entries):
        for entry, body in zip(entries, bodies):
            if not _crc_matches(file, entry, body):
                return torn("zip", "%s in it is damaged" % entry.name.decode("utf-8", "replace"))
    return whole("zip")


def _is_torch(entries: List[_Entry]) -> bool:
    # torch.serialization.set_crc32_options(False) writes arbitrary checksums into files that are whole.
    return any(entry.name.endswith(b"/data.pkl") for entry in entries)


def _find_directory(file: BinaryIO, size: int) -> Optional[Tuple[int, int, int]]:
    """(start, length, number of entries) of the central directory, or None."""
    tail_length = min(size, 22 + _ALL_ONES_16)
    tail = read_at(file, size - tail_length, tail_length)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < 22:
        return None
    _, _, _, count, length, start, comment = struct.unpack("<HHHHIIH", tail[at + 4 : at + 22])
    if at + 22 + comment != len(tail):
        return None
    end = size - tail_length + at
    if count == _ALL_ONES_16 or _ALL_ONES_32 in (length, start):
        start, length, count, end = _find_large_directory(file, end)
    if start + length > end:
        raise Cut
    return start, length, count


def _find_large_directory(file: BinaryIO, end: int) -> Tuple[int, int, int, int]:
    locator = read_at(file, end - 20, 20)
    if locator[:4] != b"PK\x06\x07":
        raise Cut
    (record_at,) = struct.unpack("<Q", locator[8:16])
    record = read_at(file, record_at, 56)
    if record[:4] != b"PK\x06\x06":
        raise Cut
    count, length, start = struct.unpack("<QQQ", record[32:56])
    return start, length, count, record_at


def _read_directory(data: bytes, count: int) -> List[_Entry]:
    entries: List[_Entry] = []
    at = 0
    while at < len(data) and data[at : at + 4] == b"PK\x01\x02":
        (flags, method, _, crc, packed, plain, name_length, extra_length, comment_length, _, _, _, offset) = (
            struct.unpack("<HHIIIIHHHHHII", data[at + 8 : at + 46])
        )
        name = data[at + 46 : at + 46 + name_length]
        extra = data[at + 46 + name_length : at + 46 + name_length + extra_length]
        packed, offset = _large_values(extra, plain, packed, offset)
        entries.append(_Entry(name, offset, packed, flags, method, crc))
        at += 46 + name_length + extra_length + comment_length
    if len(entries) != count or at > len(data):
        raise Cut
    return entries


def _large_values(extra: bytes, plain: int, packed: int, offset: int) -> Tuple[int, int]:
    """Sizes beyond 4 GiB stand in an extra field, only those that did not fit and in this order."""
    if _ALL_ONES_32 not in (plain, packed, offset):
        return packed, offset
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack("<HH", extra[at : at + 4])
        if kind == 1:
            values = [value for (value,) in struct.iter_unpack("<Q", extra[at + 4 : at + 4 + length // 8 * 8])]
            if plain == _ALL_ONES_32:
                values.pop(0)
            if packed == _ALL_ONES_32 and values:
                packed = values.pop(0)
            if offset == _ALL_ONES_32 and values:
                offset = values.pop(0)
            return packed, offset
        at += 4 + length
    raise Cut


def _body_of(file: BinaryIO, entry: _Entry, end: int) -> int:
    """Where an entry's bytes begin; `Cut` when they do not lie before the directory."""
    header = read_at(file, entry.offset, 30)
    if header[:4] != b"PK\x03\x04":
        raise Cut
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    body = entry.offset + 30 + int(name_length) + int(extra_length)
    if body + entry.packed > end:
        raise Cut
    return body


def _crc_matches(file: BinaryIO, entry: _Entry, body: int) -> bool:
    """Compare a checksum where that is possible; an unknown way of packing is nothing against the file."""
    if entry.flags & 1 or entry.method not in (0, 8):
        return True
    data = read_at(file, body, entry.packed)
    if entry.method == 8:
        inflater = zlib.decompressobj(-15)
        try:
            data = inflater.decompress(data, _INFLATED_BYTES)
        except zlib.error:
            return False
        if inflater.unconsumed_tail:
            return True
        if not inflater.eof:
            return False
    return zlib.crc32(data) == entry.crc


# ---- gzip


def check_gzip(file: BinaryIO, size: int) -> Verdict:
    """Small files are unfolded, which checks their trailer; of a large one only the trailer's presence is known."""
    if size < 18:
        return torn("gzip", "gzip trailer is missing")
    if size >= _GZIP_BYTES:
        return unknown("gzip")
    data = read_at(file, 0, size)
    unfolded = 0
    while data.strip(b"\0"):
        inflater = zlib.decompressobj(31)
        try:
            unfolded += len(inflater.decompress(data, _INFLATED_BYTES))
        except zlib.error:
            return torn("gzip", "gzip data is damaged")
        if inflater.unconsumed_tail or unfolded >= _INFLATED_BYTES:
            return unknown("gzip")
        if not inflater.eof:
            return torn("gzip", "gzip data ends too early")
        data = inflater.unused_data
    return whole("gzip")


# ---- JSON


def check_json(file: BinaryIO, size: int) -> Verdict:
    """One JSON value, or one per line; of a file beyond 8 MiB only the last character is judged."""
    if size >= _JSON_BYTES:
        tail = read_at(file, size - 1024, 1024).rstrip()
        return unknown("json") if tail[-1:] in (b"}", b"]", b"") else torn("json", "JSON ends too early")
    data = read_at(file, 0, size)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        # Several projects keep a log of JSON lines under a .json name.
        return unknown("json-lines") if _is_lines(data) else torn("json", "not JSON: %s" % error)
    # A number cut short is still a number.
    return whole("json") if isinstance(value, (dict, list)) else unknown("json")


def _is_lines(data: bytes) -> bool:
    lines = [line for line in data.splitlines() if line.strip()]
    try:
        return len(lines) > 1 and all(isinstance(json.loads(line), (dict, list)) for line in lines)
    except (ValueError, RecursionError):
        return False
