"""The last lines of output, and a digest by which the same failure is recognised when it happens again."""

from __future__ import annotations

import hashlib
import re
from typing import List

#: Enough for forty long lines, little enough to keep beside every script.
KEEP_BYTES = 64 * 1024
_LINE_CHARS = 500
#: Lines that stand for a failure without a traceback.
_PLAIN_LINES = 3

_TRACEBACK = "Traceback (most recent call last)"
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ERROR = re.compile(r"\b(?:\w*Error|\w*Exception|error|fatal|FATAL|Killed|killed|Segmentation fault|core dumped)\b")

_FRAME = re.compile(r'^\s*File "(?P<path>[^"]*)", line (?P<line>\d+)')
_VARIABLE = (
    (re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b"), "<hex>"),
    (re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"), "<hex>"),
    (re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b"), "<hex>"),
    # Every stint has folders of its own: of a path only the last part says where something went wrong.
    (re.compile(r"(?:/[^\s/\"'<>:,;()\[\]]+)+/(?=[^\s/\"'<>:,;()\[\]])"), "<dir>/"),
    (re.compile(r"\btmp[A-Za-z0-9_]{6,}\b"), "<tmp>"),
    (re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"), "<n>"),
)


class Tail:
    """Keeps the end of the output: `feed` costs a copy of the chunk and memory stays below 192 KiB."""

    def __init__(self, lines: int = 40) -> None:
        self._lines = lines
        self._kept = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._kept += chunk[-KEEP_BYTES:]
        if len(self._kept) > 2 * KEEP_BYTES:
            del self._kept[:-KEEP_BYTES]

    def last_lines(self) -> List[str]:
        """The last lines that are not empty, as a terminal would show them: after the last carriage return."""
        text = bytes(self._kept[-KEEP_BYTES:]).decode("utf-8", "replace")
        lines = (_as_shown(line) for line in text.split("\n"))
        return [line for line in lines if line.strip()]

    def error_lines(self) -> List[str]:
        """The last traceback when the output ends with one, else the last lines; without colours."""
        lines = self.last_lines()
        trace = self._traceback(lines)
        return [line[:_LINE_CHARS] for line in (trace or lines)[-self._lines :]]

    def fingerprint(self) -> str:
        """16 hex digits that are equal for the same failure in another stint, and differ for another failure.

        Numbers, addresses, times and folders do not count; the line numbers of a traceback do.
        """
        lines = self.last_lines()
        trace = self._traceback(lines)
        if trace:
            end = _message_at(trace)
            said = [line for line in trace[:end] if _FRAME.match(line)] + trace[end : end + 1]
        else:
            recent = lines[-self._lines :]
            said = [line for line in recent if _ERROR.search(line)][-_PLAIN_LINES:] or recent[-_PLAIN_LINES:]
        text = "\n".join(_normal(line) for line in said)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    def _traceback(self, lines: List[str]) -> List[str]:
        """The last traceback and what follows, if its message is among the lines we show; a rank's prefix is gone."""
        starts = [index for index, line in enumerate(lines) if _TRACEBACK in line]
        if not starts:
            return []
        prefix = lines[starts[-1]].split(_TRACEBACK)[0]
        trace = [line[len(prefix) :] if line.startswith(prefix) else line for line in lines[starts[-1] :]]
        return trace if len(trace) - _message_at(trace) <= self._lines else []


def _message_at(trace: List[str]) -> int:
    """Where the frames end and the exception speaks: the first line that is not indented."""
    for index, line in enumerate(trace[1:], 1):
        if not line.startswith((" ", "\t", "|", "+")):
            return index
    return len(trace) - 1


def _as_shown(line: str) -> str:
    parts = [part for part in line.split("\r") if part.strip()]
    return _CONTROL.sub("", _ESCAPES.sub("", parts[-1])).rstrip() if parts else ""


def _normal(line: str) -> str:
    frame = _FRAME.match(line)
    if frame is not None:
        name = frame.group("path").rsplit("/", 1)[-1]
        return "File %s line %s%s" % (name, frame.group("line"), line[frame.end() :])
    for pattern, text in _VARIABLE:
        line = pattern.sub(text, line)
    return " ".join(line.split())
