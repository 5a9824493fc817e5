"""What notebooks hold besides Python: `!nvidia-smi`, `%time x.cuda()`, `%env CUDA_VISIBLE_DEVICES=0`, shell cells.

A cell is read twice, once as Python without those lines and once as a shell sees them. Both readings are as long as
the cell, byte for byte, so that a place in one is the same place in the cell.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from outlast.migrate.repair import Unparsable, parse

#: One such line, or the right side of an assignment (`out = !ls`), with the lines that a backslash adds to it.
_MAGIC = re.compile(
    rb"(?m)^([ \t]*(?:[A-Za-z_][\w.,\[\] \t]*(?<![=<>!])=[ \t]*(?=[%!]))?)([%!?](?:[^\n]*\\\r?\n)*[^\n]*)"
)
#: What stands before a statement of Python: its name and its options.
_TIMED = re.compile(
    rb"%{1,2}(?:time|timeit|prun|lprun|mprun|memit)\b"
    rb"(?:[ \t]+-(?:[slTDfm][ \t]*[^\s-]\S*|[A-Za-z](?:[ \t]*\d+)?)(?=\s|$))*[ \t]+(?=[^\s!%#-])"
)
#: What stands before a command, or before the settings of a variable.
_COMMAND = re.compile(rb"(?:%time[ \t]+)?!!?|%(?:env|set_env|run|sx|system)\b")
_CELL = re.compile(r"\s*%%(!|\w+)(?:[ \t]+(\w+))?")
_SHELLS = frozenset({"bash", "sh", "zsh", "!", "sx", "system"})
#: Magics for a whole cell whose other lines are Python.
_AROUND_PYTHON = frozenset({"time", "timeit", "capture", "prun", "python", "python3", "memit"})


class Reading(NamedTuple):
    """A cell as the rules see it, and as a shell sees it."""

    python: str
    shell: str


def read(text: str) -> Reading:
    """Both readings of a cell; Unparsable for one that is neither Python nor for a shell."""
    data = text.encode("utf-8", "surrogatepass")
    cell = _CELL.match(text)
    if cell and (cell.group(1) in _SHELLS or (cell.group(1) == "script" and cell.group(2) in _SHELLS)):
        first = data.index(b"%%")
        line_end = data.find(b"\n", first)
        commands = data[line_end:] if line_end >= 0 else b""
        return Reading(_hidden(data, b"#").decode(), _blank(data[: len(data) - len(commands)]) + _plain(commands))
    if cell and cell.group(1) not in _AROUND_PYTHON:
        raise Unparsable("a cell for another language")
    return _python(text, data)


def _python(text: str, data: bytes) -> Reading:
    if not _MAGIC.search(data):
        parse(text)
        return Reading(text, _blank(data))
    try:
        parse(text)  # a line may begin with the operator %
        return Reading(text, _blank(data))
    except Unparsable:
        pass
    shell = _shell_lines(data)
    try:
        return Reading(_without_magics(data, b"#"), shell)
    except Unparsable:
        # The only line of a block must stay a statement.
        return Reading(_without_magics(data, b"0"), shell)


def _without_magics(data: bytes, mark: bytes) -> str:
    def hide(found: re.Match[bytes]) -> bytes:
        before, line = found.groups()
        timed = _TIMED.match(line)
        if timed:
            first = b"" if before.strip() else b"0;"  # a line may not be indented without a statement before it
            return before + first.ljust(timed.end()) + line[timed.end() :]
        return before + _hidden(line, b"0" if before.strip() else mark)

    text = _MAGIC.sub(hide, data).decode("utf-8", "surrogatepass")
    parse(text)
    return text


def _hidden(data: bytes, mark: bytes) -> bytes:
    """Lines of the same length that mean nothing: comments, or numbers with a comment behind them."""
    lines = [re.sub(rb"[^\r]", b"#", line) for line in data.split(b"\n")]
    return b"\n".join(mark + line[1:] if line.strip(b"\r") else line for line in lines)


def _shell_lines(data: bytes) -> str:
    pieces, at = [], 0
    for found in _MAGIC.finditer(data):
        command = _COMMAND.match(found.group(2))
        if command:
            start = found.start(2) + command.end()
            pieces += [_blank(data[at:start]), _plain(data[start : found.end()])]
            at = found.end()
    return "".join([*pieces, _blank(data[at:])])


def _blank(data: bytes) -> str:
    return re.sub(rb"[^\n]", b" ", data).decode()


def _plain(data: bytes) -> str:
    """One character for each byte; nothing but the ends of lines ends a line."""
    return re.sub(rb"[^\t\n -~]", lambda found: b" " if found.group(0) == b"\r" else b"?", data).decode()
