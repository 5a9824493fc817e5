"""The answer that every check of a file gives, and exact reading that notices a file's end."""

from __future__ import annotations

import os
from typing import BinaryIO, NamedTuple, Optional


class Verdict(NamedTuple):
    """Whether a file is whole: yes, no, or nothing known against it."""

    ok: Optional[bool]
    kind: str
    problem: str = ""  # one phrase, when `ok` is False


class Cut(Exception):
    """The file ends before the bytes that its own headers promise."""


def whole(kind: str) -> Verdict:
    return Verdict(True, kind)


def torn(kind: str, problem: str) -> Verdict:
    return Verdict(False, kind, problem)


def unknown(kind: str) -> Verdict:
    return Verdict(None, kind)


def read_at(file: BinaryIO, start: int, length: int) -> bytes:
    """Exactly `length` bytes from `start`; `Cut` when the file does not have them. Moves no file position."""
    if start < 0 or length < 0:
        raise Cut
    data = os.pread(file.fileno(), length, start)
    if len(data) != length:
        raise Cut
    return data
