"""Adding and removing whole lines: every rule that does so keeps indentation and line endings as they are there."""

from __future__ import annotations

import re

import libcst as cst

from outlast.migrate.engine import Script

_ENDING = re.compile(rb"\r\n|\r|\n")


def line_start(data: bytes, at: int) -> int:
    return max(data.rfind(b"\n", 0, at), data.rfind(b"\r", 0, at)) + 1


def line_end(data: bytes, at: int) -> int:
    """The byte behind the line's ending, or the end of the file."""
    found = _ENDING.search(data, at)
    return found.end() if found else len(data)


def can_stand_beside(script: Script, statement: cst.CSTNode) -> bool:
    """Whether a statement begins its own line; `if x: import torch` does not."""
    start = script.span(statement)[0]
    return not script.data[line_start(script.data, start) : start].strip()


def add_line(script: Script, statement: cst.CSTNode, text: str, *, before: bool = False) -> None:
    """Put a line behind a statement (or before it), indented like it."""
    start, end = script.span(statement)
    first = line_start(script.data, start)
    lead = script.data[first:start].decode()
    at = first if before else line_end(script.data, end)
    ending = ending_at(script.data, at)
    unfinished = not before and not script.data[:at].endswith((b"\n", b"\r"))
    script.replace(at, at, f"{ending}{lead}{text}" if unfinished else f"{lead}{text}{ending}", text)


def remove_line(script: Script, statement: cst.CSTNode, message: str, *, advice: str = "") -> bool:
    """Take a statement's line away; False where it shares the line with something else."""
    start, end = script.span(statement)
    first, last = line_start(script.data, start), line_end(script.data, end)
    if script.data[first:start].strip() or script.data[end:last].strip():
        return False
    if last == len(script.data) and not script.data.endswith((b"\n", b"\r")):
        before = _ENDING.search(script.data[max(first - 2, 0) : first])
        first -= len(before.group(0)) if before else 0
    script.replace(first, last, "", message, advice=advice)
    return True


def ending_at(data: bytes, at: int) -> str:
    """The line ending in use there."""
    for ending in (b"\r\n", b"\n", b"\r"):
        if data.endswith(ending, 0, at):
            return ending.decode()
    found = _ENDING.search(data)
    return found.group(0).decode() if found else "\n"
