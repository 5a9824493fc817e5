"""Check for pickles (`.pkl`, `.pdparams`, torch files from before 1.6): followed, never executed."""

from __future__ import annotations

from typing import BinaryIO

from .base import Cut, Verdict, read_at, torn, unknown, whole

_LEGACY_TORCH = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_LEGACY_TORCH_PICKLES = 5  # magic number, protocol, system, object, storage keys; then the storages themselves
_MAX_OPCODES = 100_000  # about 50 ms
_LINE_BYTES = 1 << 20

# Opcodes by what follows them: nothing, a fixed number of bytes, a count and so many bytes, lines.
_NO_ARGUMENT = frozenset(b"(012NQRab}del]ost)u\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98")
_FIXED = {
    **dict.fromkeys(b"Khq\x80\x82", 1),
    **dict.fromkeys(b"M\x83", 2),
    **dict.fromkeys(b"Jrj\x84", 4),
    **dict.fromkeys(b"G\x95", 8),
}
_COUNTED = {
    **dict.fromkeys(b"U\x8a\x8cC", 1),
    **dict.fromkeys(b"TXB\x8b", 4),
    **dict.fromkeys(b"\x8d\x8e\x96", 8),
}
_LINES = {**dict.fromkeys(b"FILSVPgp", 1), **dict.fromkeys(b"ci", 2)}
_STOP = ord(".")


class _NotFollowed(Exception):
    """Not plain pickle code, or too much of it."""


def check_pickle(file: BinaryIO, size: int) -> Verdict:
    """Follow the opcodes to the STOP that must be the last byte.

    Where they cannot be followed (raw arrays between them, as joblib writes; more than 100,000) the last byte alone
    is judged, which can only count against the file. Old torch files end with raw storages: never more than unknown.
    """
    legacy = read_at(file, 0, min(size, len(_LEGACY_TORCH))) == _LEGACY_TORCH
    pickles = end = 0
    try:
        while end < size and not (legacy and pickles == _LEGACY_TORCH_PICKLES) and _begins_pickle(file, end):
            end = _follow(file, end, size)
            pickles += 1
    except Cut:
        if legacy or read_at(file, size - 1, 1) != b".":
            return torn("pickle", "ends before the end of the pickle")
        return unknown("pickle")
    except _NotFollowed:
        if not legacy and read_at(file, size - 1, 1) != b".":
            return torn("pickle", "ends before the end of the pickle")
        return unknown("pickle")
    if legacy:
        enough = pickles == _LEGACY_TORCH_PICKLES
        return unknown("torch-legacy") if enough else torn("torch-legacy", "ends before its storages")
    return whole("pickle") if pickles == 1 and end == size else unknown("pickle")


def _begins_pickle(file: BinaryIO, at: int) -> bool:
    head = read_at(file, at, 2)
    return head[0] == 0x80 and 2 <= head[1] <= 5


def _follow(file: BinaryIO, start: int, size: int) -> int:
    """The position after the STOP of the pickle that begins at `start`."""
    file.seek(start)
    at = start
    for _ in range(_MAX_OPCODES):
        code = file.read(1)
        if not code:
            raise Cut
        at += 1
        number = code[0]
        if number == _STOP:
            return at
        if number not in _NO_ARGUMENT:
            at += _argument_length(file, number)
            if at > size:
                raise Cut
            file.seek(at)
    raise _NotFollowed


def _argument_length(file: BinaryIO, number: int) -> int:
    """Length of an opcode's argument, its own count included; the file stands right behind the opcode."""
    if number in _FIXED:
        return _FIXED[number]
    if number in _COUNTED:
        width = _COUNTED[number]
        count = file.read(width)
        if len(count) != width:
            raise Cut
        return width + int.from_bytes(count, "little")
    if number in _LINES:
        length = 0
        for _ in range(_LINES[number]):
            line = file.readline(_LINE_BYTES)
            if not line.endswith(b"\n"):
                raise Cut
            length += len(line)
        return length
    raise _NotFollowed
