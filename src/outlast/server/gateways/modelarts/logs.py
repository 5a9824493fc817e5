"""Pages of a job's output. A cursor is a place in it, in bytes: a page costs the same in a log of any length."""

from __future__ import annotations

from typing import NamedTuple

from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.refusing import Refusal
from outlast.server.logtext import LogText

PREVIEW_BYTES = 5 << 20
#: How long a link to a log works.
LINK_S = 300
_STEP_BYTES = 1 << 16
#: A page ends here even if a line does not: nothing may fill the memory.
_MOST_BYTES = 1 << 20


class Page(NamedTuple):
    """Whole lines, oldest first, and where they begin and end."""

    start: int
    end: int
    data: bytes

    @property
    def lines(self) -> int:
        return self.data.count(b"\n") + (not self.data.endswith(b"\n") and bool(self.data))

    def body(self) -> dict[str, object]:
        text = self.data.decode("utf-8", "replace")
        return {"start_line": str(self.start), "end_line": str(self.end), "lines": self.lines, "content": text}


def open_log(seen: SeenJob, node: int = 0) -> LogText | None:
    """The output of a machine so far; None before there is any."""
    if seen.found is None or seen.folder is None or not seen.folder.last:
        return None
    text = LogText.read(seen.found, node=node)
    return text if text.size_bytes else None


def read_part(text: LogText, start: int, end: int) -> bytes:
    """The bytes from `start` up to `end`."""
    found = bytearray()
    while start + len(found) < end:
        piece = text.get(start + len(found), end - start - len(found))
        if not piece:
            break
        found += piece
    return bytes(found)


def page_after(text: LogText, place: int, count: int, *, over: bool) -> Page:
    """Up to `count` lines after a place. A last line without an end waits for it, unless the job is `over`."""
    place = min(place, text.size_bytes)
    data, end = b"", place
    while data.count(b"\n") < count and end < text.size_bytes and len(data) < _MOST_BYTES:
        step = min(end + _STEP_BYTES, text.size_bytes)
        data += read_part(text, end, step)
        end = step
    lines = _split(data)
    if lines and not lines[-1].endswith(b"\n") and not (over and end == text.size_bytes) and len(data) < _MOST_BYTES:
        lines.pop()
    found = b"".join(lines[:count])
    return Page(place, place + len(found), found)


def page_before(text: LogText, place: int, count: int) -> Page:
    """Up to `count` lines that end at a place."""
    place = min(place, text.size_bytes)
    data, start = b"", place
    while data.count(b"\n") <= count and start > 0 and len(data) < _MOST_BYTES:
        step = max(0, start - _STEP_BYTES)
        data = read_part(text, step, start) + data
        start = step
    lines = _split(data)
    if start > 0 and len(lines) > 1:
        lines = lines[1:]  # its beginning lies further back
    found = b"".join(lines[-count:])
    return Page(place - len(found), place, found)


def read_cursor(text: str | None) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise Refusal("2764", f"base_line {text[:40]!r} is none of ours; take start_line or end_line of an answer")
    return int(text)


def preview(text: LogText) -> dict[str, object]:
    """The newest part of the output."""
    start = max(0, text.size_bytes - PREVIEW_BYTES)
    data = read_part(text, start, text.size_bytes)
    return {
        "content": data.decode("utf-8", "replace").lstrip("\ufffd") if start else data.decode("utf-8", "replace"),
        "current_size": len(data), "full_size": text.size_bytes,
    }  # fmt: skip


def _split(data: bytes) -> list[bytes]:
    """Lines with their ends; a carriage return alone, as progress bars print it, ends none."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
