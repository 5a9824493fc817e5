"""The bytes in front of a member of a tar archive: ustar, with pax records only where ustar cannot say it.

Written by hand because `tarfile` takes about 100 us for a member, several times what reading a small file costs.
"""

from __future__ import annotations

from typing import List, Tuple

from .base import FILE, FOLDER, LINK

BLOCK_BYTES = 512
#: Two empty blocks close an archive.
END = bytes(2 * BLOCK_BYTES)

_TYPES = {FILE: b"0", LINK: b"2", FOLDER: b"5"}
_NAME_BYTES = 100
_OWNER = b"0000000\0" * 2
_TAIL = b"ustar\x0000" + bytes(64) + b"0000000\0" * 2 + bytes(167)
_LARGEST = 8**11 - 1  # what eleven octal digits hold: 8 GiB - 1, or the year 2242
# The checksum counts its own field as eight spaces.
_CONSTANT_SUM = sum(_OWNER) + sum(_TAIL) + 8 * 0x20


def padding(size_bytes: int) -> int:
    """How many bytes fill up the last block of a file of that size."""
    return -size_bytes % BLOCK_BYTES


def head_bytes(path: str, kind: str, size_bytes: int, mtime_s: int, mode: int, target: str = "") -> int:
    """How long `member_head` will be, mostly without making it."""
    if _is_plain(path, kind, size_bytes, mtime_s):
        return BLOCK_BYTES
    return len(member_head(path, kind, size_bytes, mtime_s, mode, target))


def member_head(path: str, kind: str, size_bytes: int, mtime_s: int, mode: int, target: str = "") -> bytes:
    """All blocks before the data of one member. The same arguments always give the same bytes."""
    if _is_plain(path, kind, size_bytes, mtime_s):
        return _block(path.encode("ascii"), b"0", size_bytes, mtime_s, mode, b"")
    return _with_records(path + "/" if kind == FOLDER else path, kind, size_bytes, mtime_s, mode, target)


def _is_plain(path: str, kind: str, size_bytes: int, mtime_s: int) -> bool:
    """True for nearly every file of a data set."""
    return (
        kind == FILE
        and len(path) <= _NAME_BYTES
        and path.isascii()
        and size_bytes <= _LARGEST
        and 0 <= mtime_s <= _LARGEST
    )


def _block(name: bytes, kind: bytes, size_bytes: int, mtime_s: int, mode: int, target: bytes) -> bytes:
    permissions = b"%07o\0" % mode
    numbers = b"%011o\0%011o\0" % (size_bytes, mtime_s)
    total = _CONSTANT_SUM + sum(name) + sum(permissions) + sum(numbers) + kind[0] + sum(target)
    return b"".join((
        name.ljust(_NAME_BYTES, b"\0"), permissions, _OWNER, numbers, b"%06o\0 " % total, kind,
        target.ljust(_NAME_BYTES, b"\0"), _TAIL,
    ))  # fmt: skip


def _with_records(name: str, kind: str, size_bytes: int, mtime_s: int, mode: int, target: str) -> bytes:
    """A member that may need pax records: long or non-ASCII names, large sizes, times before 1970 or after 2242."""
    records: List[Tuple[str, bytes]] = []
    short_name = _shortened("path", name, records)
    short_target = _shortened("linkpath", target, records)
    if size_bytes > _LARGEST:
        records.append(("size", b"%d" % size_bytes))
    if not 0 <= mtime_s <= _LARGEST:
        records.append(("mtime", b"%d" % mtime_s))
    size = min(size_bytes, _LARGEST)
    if not records:
        return _block(short_name, _TYPES[kind], size, mtime_s, mode, short_target)
    time = min(max(mtime_s, 0), _LARGEST)
    body = b"".join(_record(key, value) for key, value in _declared(records))
    return b"".join((
        _block((b"PaxHeaders/" + short_name)[:_NAME_BYTES], b"x", len(body), time, 0o644, b""),
        body, bytes(padding(len(body))),
        _block(short_name, _TYPES[kind], size, time, mode, short_target),
    ))  # fmt: skip


def _shortened(key: str, text: str, records: List[Tuple[str, bytes]]) -> bytes:
    """What fits into the field of the block; a record is added when that is not the whole truth."""
    raw = text.encode("utf-8", "surrogateescape")
    if len(raw) <= _NAME_BYTES and text.isascii():
        return raw
    records.append((key, raw))
    return text.encode("ascii", "replace")[:_NAME_BYTES]


def _declared(records: List[Tuple[str, bytes]]) -> List[Tuple[str, bytes]]:
    """Names that are not UTF-8 must be announced, or readers would guess."""
    for _, value in records:
        try:
            value.decode("utf-8")
        except UnicodeDecodeError:
            return [("hdrcharset", b"BINARY"), *records]
    return records


def _record(key: str, value: bytes) -> bytes:
    """`LENGTH key=value\\n`, where the length counts itself."""
    rest = b" " + key.encode("ascii") + b"=" + value + b"\n"
    length = len(rest) + len(str(len(rest)))
    if length != len(rest) + len(str(length)):
        length += 1
    return str(length).encode("ascii") + rest
