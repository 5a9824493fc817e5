"""Records of TensorBoard's event files, with the standard library: the framing, its checksums, and the scalars.

A record is its length, a checksum of that, the payload, and a checksum of the payload. The payload is a protobuf
message `Event`; of it only what a curve needs is read.
"""

from __future__ import annotations

import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

HEAD_BYTES = 12
TAIL_BYTES = 4
#: Scalars take a hundred bytes. Images, histograms and graphs beyond this are stepped over unread.
PAYLOAD_CAP_BYTES = 64 * 1024

_LENGTH = struct.Struct("<QI")
_CRC = struct.Struct("<I")
_DOUBLE, _FLOAT, _HALF = struct.Struct("<d"), struct.Struct("<f"), struct.Struct("<e")
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")

#: `TensorProto.dtype`: how its `tensor_content` is packed, and the field that holds single values.
_CONTENT = {1: _FLOAT, 2: _DOUBLE, 3: _INT, 9: _LONG, 19: _HALF}
_VALUE_FIELD = {1: 5, 2: 6, 3: 7, 9: 10, 19: 13}


class DamagedRecord(Exception):
    """What lies in the file is no record, or one whose bytes have changed."""


class Scalar(NamedTuple):
    """One value of one tag. `wall_s` is the writer's clock, in seconds since 1970."""

    tag: str
    step: int
    wall_s: float
    value: float


def records(data: bytes) -> Iterator[Tuple[int, Optional[bytes]]]:
    """Every whole record of `data` as its end and its payload, None for one that is too large to hold scalars.

    The last end may lie beyond `data`: that record can be skipped. A torn record at the end is left for later;
    `DamagedRecord` ends the file.
    """
    at = 0
    while at + HEAD_BYTES <= len(data):
        size, crc = _LENGTH.unpack_from(data, at)
        if masked_crc(data[at : at + 8]) != crc:
            raise DamagedRecord("the length of a record")
        body = at + HEAD_BYTES
        end = body + size + TAIL_BYTES
        if size > PAYLOAD_CAP_BYTES:
            yield end, None
        elif end > len(data):
            return
        else:
            payload = data[body : body + size]
            if masked_crc(payload) != _CRC.unpack_from(data, body + size)[0]:
                raise DamagedRecord("a record")
            yield end, payload
        at = end


def scalars(payload: bytes) -> List[Scalar]:
    """The scalars of one event; `DamagedRecord` when it is no message at all."""
    try:
        event = _fields(payload)
        wall_s = _DOUBLE.unpack(event[1][-1])[0] if 1 in event else 0.0
        step = _signed(event[2][-1]) if 2 in event else 0
        found: List[Scalar] = []
        for summary in event.get(5, []):
            for message in _fields(summary).get(1, []):
                value = _fields(message)
                number = _number(value)
                if number is not None and 1 in value:
                    found.append(Scalar(value[1][-1].decode("utf-8", "replace"), step, wall_s, number))
        return found
    except (struct.error, IndexError, TypeError, AttributeError, ValueError) as error:
        raise DamagedRecord("an event: %s" % error) from None


def _number(value: Dict[int, List[Any]]) -> Optional[float]:
    """The number of a `Summary.Value`: `simple_value`, or a tensor of one number."""
    if 2 in value:
        return float(_FLOAT.unpack(value[2][-1])[0])
    if 8 not in value:
        return None
    tensor = _fields(value[8][-1])
    kind = tensor.get(1, [0])[-1]
    if kind not in _CONTENT or not _is_single(tensor.get(2, [])):
        return None
    packing = _CONTENT[kind]
    if 4 in tensor and len(tensor[4][-1]) == packing.size:
        return float(packing.unpack(tensor[4][-1])[0])
    held = tensor.get(_VALUE_FIELD[kind], [])
    return _held(held[-1], kind) if len(held) == 1 else None


def _held(value: Any, kind: int) -> Optional[float]:
    """A number in one of a tensor's repeated fields, packed or not."""
    if kind in (1, 2):
        return float(_CONTENT[kind].unpack(value)[0]) if len(value) == _CONTENT[kind].size else None
    number = value
    if isinstance(value, bytes):
        number, end = _varint(value, 0)
        if end != len(value):
            return None  # several
    if kind == 19:
        return float(_HALF.unpack(struct.pack("<H", number & 0xFFFF))[0])
    return float(_signed(number))


def _is_single(shapes: List[bytes]) -> bool:
    """No dimension, or only dimensions of one."""
    for shape in shapes:
        for dimension in _fields(shape).get(2, []):
            if _fields(dimension).get(1, [0])[-1] != 1:
                return False
    return True


def _fields(message: bytes) -> Dict[int, List[Any]]:
    """A protobuf message as field number → values: whole numbers, or the bytes of everything else."""
    found: Dict[int, List[Any]] = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        value: Any
        if wire == 0:
            value, at = _varint(message, at)
        else:
            if wire == 2:
                size, at = _varint(message, at)
            elif wire in (1, 5):
                size = 8 if wire == 1 else 4
            else:
                raise ValueError("a field of kind %d" % wire)
            value = message[at : at + size]
            if len(value) < size:
                raise ValueError("a field is cut off")
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(data: bytes, at: int) -> Tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without an end")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _table() -> Tuple[int, ...]:
    found = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # noqa: PLW2901 - the shift register
        found.append(byte)
    return tuple(found)


_CRC_TABLE = _table()


def crc32c(data: bytes) -> int:
    """The Castagnoli checksum."""
    crc = 0xFFFFFFFF
    table = _CRC_TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """CRC32C as TensorFlow stores it: rotated, and a constant added."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
