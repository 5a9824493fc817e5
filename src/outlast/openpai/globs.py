"""Globs as the VS Code client's library reads them: braces, `**`, negation, whole folders; no dot-files by chance."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

#: Never code, whatever the pattern: the client would send them, and a virtual environment for one machine breaks
#: on the next.
PRUNED = frozenset((".git", "__pycache__", "node_modules", ".venv", "venv"))
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def match_files(folder: Path, include: Sequence[str], exclude: Sequence[str] = ()) -> list[str]:
    """Files below `folder` that the patterns mean, sorted, as paths relative to it. Links to folders are not entered.

    A pattern that begins with `!` takes away; one that names a folder means everything in it. Patterns see dot-files
    only where they write the dot; what takes away sees them always.
    """
    wanted = [_compile(each, dots=False) for each in _expanded(folder, include) if not each.startswith("!")]
    refused = [_compile(each[1:], dots=True) for each in _expanded(folder, include) if each.startswith("!")]
    refused += [_compile(each, dots=True) for each in _expanded(folder, exclude)]

    def is_meant(path: str) -> bool:
        return any(each.fullmatch(path) for each in wanted) and not any(each.fullmatch(path) for each in refused)

    return sorted(path for path in _files(folder) if is_meant(path))


def _files(folder: Path) -> Iterator[str]:
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in PRUNED]
        base = Path(here).relative_to(folder)
        for name in names:
            yield (base / name).as_posix()


def _expanded(folder: Path, patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        for each in _without_braces(pattern):
            sign, plain = ("!", each[1:]) if each.startswith("!") else ("", each)
            plain = plain.removeprefix("./").rstrip("/")
            yield sign + plain
            if (folder / plain).is_dir():
                yield f"{sign}{plain}/**"


def _without_braces(pattern: str) -> Iterator[str]:
    match = _BRACES.search(pattern)
    if match is None:
        yield pattern
        return
    for choice in match.group(1).split(","):
        yield from _without_braces(pattern[: match.start()] + choice + pattern[match.end() :])


def _compile(pattern: str, *, dots: bool) -> re.Pattern[str]:
    parts = pattern.split("/")
    last = len(parts) - 1
    text = ""
    for place, part in enumerate(parts):
        if part == "**":
            step = _segment("*", dots)
            text += f"(?:{step}/)*" + (step if place == last else "")
        else:
            text += _segment(part, dots) + ("" if place == last else "/")
    return re.compile(text)


def _segment(part: str, dots: bool) -> str:
    """One level of a path."""
    guard = "" if dots or part.startswith(".") else r"(?!\.)"
    text = ""
    pieces = re.findall(r"\[[!^]?\]?[^\]]*\]|\*+|\?|\\?.", part, re.DOTALL)
    for piece in pieces:
        if piece.startswith("*"):
            # A level that is nothing but a star is not empty.
            text += "[^/]+" if len(pieces) == 1 else "[^/]*"
        elif piece == "?":
            text += "[^/]"
        elif piece.startswith("[") and len(piece) > 2:
            text += "[" + piece[1:-1].replace("!", "^", piece.startswith("[!")).replace("\\", "\\\\") + "]"
        else:
            text += re.escape(piece[-1])
    return guard + text
