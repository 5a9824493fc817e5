"""Points in bulk: the record that a script writes down for each value, and the block that a metrics segment holds.

`docs/design/points.md` tells the whole way. Everything is little-endian, as every machine that trains is.
"""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

#: at (the monotonic clock), epoch (nan: none), step (NO_STEP: none), value, mark (stands for the name; never 0).
RECORD = struct.Struct("<ddqdQ")
RECORD_BYTES = RECORD.size
NO_STEP = -(1 << 63)
#: The first step that a record cannot hold.
STEP_LIMIT = 1 << 63
#: A block must fit into one segment, even when nothing in it can be compressed.
BLOCK_POINTS = 8192
#: The same, where its points have so many names that these fill the block.
NAMES_IN_BLOCK = 512

#: 0xff begins no line of UTF-8.
MAGIC = b"\xffOP1"
_HEAD = struct.Struct("<4sIIII")  # magic, checksum of all that follows, bytes after the head, points, bytes of `about`
_CHECKED_FROM = 8
_ANEW = re.compile(rb"\xffOP1|(?<=\n)\{")

Row = Tuple[float, Optional[float], Optional[int], str, float]


class Batch(NamedTuple):
    """Records as a script wrote them, and what their marks stand for."""

    records: bytes
    names: Dict[int, str]

    def values(self) -> Dict[str, List[float]]:
        """The values of each name in their order."""
        words = memoryview(self.records)
        found: Dict[int, List[float]] = {}
        for mark, value in zip(words.cast("Q")[4::5].tolist(), words.cast("d")[3::5].tolist()):
            if mark in found:
                found[mark].append(value)
            else:
                found[mark] = [value]
        return {self.names[mark]: values for mark, values in found.items() if mark in self.names}

    def rows(self) -> Iterator[Row]:
        """One row for each value: at, epoch, step, name, value. A mark without a name has none."""
        for at, epoch, step, value, mark in RECORD.iter_unpack(self.records):
            name = self.names.get(mark)
            if name is not None:
                yield at, None if math.isnan(epoch) else epoch, None if step == NO_STEP else step, name, value


class Block(NamedTuple):
    """A block of a segment: the same records, byte by byte, for whoever can take them as columns."""

    base_s: float  # added to a record's `at` gives the seconds since the runner's start
    source: str
    names: Dict[int, str]
    points: int
    planes: bytes  # the first bytes of all records, then the second bytes, and so on

    def batch(self) -> Batch:
        """The records one after the other again."""
        records = bytearray(len(self.planes))
        for place in range(RECORD_BYTES):
            records[place::RECORD_BYTES] = self.planes[place * self.points : (place + 1) * self.points]
        return Batch(bytes(records), self.names)


def encode_block(records: bytes, names: Mapping[int, str], base_s: float, source: str = "track") -> bytes:
    """At most `BLOCK_POINTS` records as one block. Equal bytes of neighbours lie side by side, so it packs well."""
    marks = set(memoryview(records).cast("Q")[4::5].tolist())
    about = {
        "base_s": round(base_s, 6),
        "from": source,
        "names": {str(mark): names[mark] for mark in sorted(marks) if mark in names},
    }
    head = json.dumps(about, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
    planes = b"".join(records[place::RECORD_BYTES] for place in range(RECORD_BYTES))
    body = head + zlib.compress(planes, 1)
    sizes = struct.pack("<III", len(body), len(records) // RECORD_BYTES, len(head))
    return MAGIC + struct.pack("<I", zlib.crc32(sizes + body)) + sizes + body


def items(data: bytes) -> Iterator[Union[bytes, Block]]:
    """The lines and blocks of a segment in order; what is damaged is left out, and what follows it is found again."""
    at = 0
    while at < len(data):
        if data.startswith(MAGIC, at):
            end = _block_end(data, at)
            block = _decode(data[at:end]) if end else None
            if block is None:
                found = _ANEW.search(data, at + 1)
                at = found.start() if found else len(data)
                continue
            yield block
            at = end
        else:
            end = data.find(b"\n", at) + 1 or len(data)
            if data[at:end].strip():
                yield data[at:end]
            at = end


def whole_bytes(data: bytes) -> int:
    """How many leading bytes are complete lines and blocks; 0 when not even the first one is."""
    at = 0
    while at < len(data):
        end = _block_end(data, at) if data.startswith(MAGIC, at) else data.find(b"\n", at) + 1
        if not end:
            break
        at = end
    return at


def _block_end(data: bytes, at: int) -> int:
    """Where the block that begins at `at` ends; 0 when the data ends first."""
    if len(data) - at < _HEAD.size:
        return 0
    end = at + _HEAD.size + int(_HEAD.unpack_from(data, at)[2])
    return end if end <= len(data) else 0


def _decode(block: bytes) -> Optional[Block]:
    _, checksum, _, points, about_bytes = _HEAD.unpack_from(block)
    if zlib.crc32(memoryview(block)[_CHECKED_FROM:]) != checksum:
        return None
    body = block[_HEAD.size :]
    try:
        about: Dict[str, Any] = json.loads(body[:about_bytes].decode("utf-8"))
        names = {int(mark): str(name) for mark, name in about["names"].items()}
        planes = zlib.decompressobj().decompress(body[about_bytes:], points * RECORD_BYTES)
        if len(planes) != points * RECORD_BYTES:
            return None
        return Block(float(about["base_s"]), str(about["from"]), names, points, planes)
    except (ValueError, KeyError, TypeError, AttributeError, zlib.error):
        return None
