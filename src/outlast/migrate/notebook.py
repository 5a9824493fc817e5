"""Notebooks: the code of all cells as one text, and the way back into the file.

Names imported in one cell are used in the next, so cells are read together. Only the string literals of changed lines
are written anew; the rest of the file keeps its bytes. Lines for IPython and for a shell (`!pip …`) are read apart, and
a cell that does not parse is left out and reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from outlast.migrate.direction import Direction
from outlast.migrate.engine import Edit, Finding, Migrated, apply, migrate_text, unparsed
from outlast.migrate.magics import Reading, read
from outlast.migrate.repair import Unparsable
from outlast.migrate.source import SourceError
from outlast.migrate.textfiles import migrate_lines

_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class _Cell:
    """One code cell: where its source array or string stands in the file, and its lines."""

    number: int
    start: int
    end: int
    pieces: tuple[tuple[int, int, str], ...]  # where each literal stands, and what it holds
    is_list: bool

    @property
    def text(self) -> str:
        return "".join(piece[2] for piece in self.pieces)


def migrate_notebook(raw: str, direction: Direction) -> Migrated:
    """Migrate all code cells of a notebook; `raw` is the file, and so is the text that comes back."""
    cells: list[_Cell] = []
    readings: list[Reading] = []
    findings: list[Finding] = []
    for cell in _code_cells(raw):
        try:
            readings.append(read(cell.text))
            cells.append(cell)
        except Unparsable as error:
            if direction.concerns(cell.text.encode("utf-8", "surrogatepass")):
                said = unparsed(cell.text, direction, error.line, error.why)
                findings += [replace(each, cell=cell.number) for each in said]
    joined = [reading.python + "\n" for reading in readings]
    done = migrate_text("".join(joined), direction)
    commands = migrate_lines("".join(reading.shell + "\n" for reading in readings), direction, shell=True)
    done_edits = tuple(sorted((*done.edits, *commands.edits)))
    ends = _running([len(text.encode("utf-8", "surrogatepass")) for text in joined])
    lines = _running([text.count("\n") for text in joined])
    findings += [_in_cell(each, cells, lines) for each in (*done.findings, *commands.findings)]
    findings.sort(key=lambda each: (each.cell, each.line, each.column))
    pieces: list[str] = []
    at = 0
    for index, cell in enumerate(cells):
        edits = [_own(edit, cell, ends[index]) for edit in done_edits if ends[index] <= _home(edit) < ends[index + 1]]
        if edits:
            text = apply(cell.text.encode("utf-8", "surrogatepass"), edits)
            pieces += [raw[at : cell.start], _rewritten(raw, cell, text)]
            at = cell.end
    return Migrated("".join([*pieces, raw[at:]]), done_edits, tuple(findings))


def _home(edit: Edit) -> int:
    """A byte of the cell that an edit belongs to: a line added behind a cell's last one belongs to that cell."""
    return edit.start - 1 if edit.start == edit.end and edit.start else edit.start


def _own(edit: Edit, cell: _Cell, base: int) -> Edit:
    """An edit in its cell's own bytes. The last line of a cell has no ending, so its neighbour gives or takes one."""
    data = cell.text.encode("utf-8", "surrogatepass")
    start, end, old, new = edit.start - base, edit.end - base, edit.old, edit.new
    if end <= len(data):
        return Edit(start, end, old, new)
    if start > len(data):
        return Edit(len(data), len(data), "", "\n" + new.rstrip("\n") if not cell.text.endswith("\n") else new)
    if not new and data[:start].endswith(b"\n"):
        return Edit(start - 1, len(data), "\n" + old[:-1], "")
    return Edit(start, len(data), old[: len(old) - (end - len(data))], new)


def _running(sizes: list[int]) -> list[int]:
    sums = [0]
    for size in sizes:
        sums.append(sums[-1] + size)
    return sums


def _in_cell(finding: Finding, cells: list[_Cell], lines: list[int]) -> Finding:
    at = next((i for i in range(len(cells)) if lines[i] < finding.line <= lines[i + 1]), len(cells) - 1)
    return replace(finding, line=finding.line - lines[at], cell=cells[at].number if cells else 0)


def _rewritten(raw: str, cell: _Cell, text: str) -> str:
    """The new source, with the literals of unchanged lines as they were."""
    if not cell.is_list:
        return _literal(text, raw[cell.start : cell.end])
    literals: dict[str, str] = {value: raw[start:end] for start, end, value in cell.pieces}
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    first, last = cell.pieces[0], cell.pieces[-1]
    single = "," + (raw[cell.start + 1 : first[0]] or " ")
    between = raw[first[1] : cell.pieces[1][0]] if len(cell.pieces) > 1 else single
    inside = between.join(literals.get(line) or _literal(line, raw[first[0] : first[1]]) for line in lines)
    return raw[cell.start : first[0]] + inside + raw[last[1] : cell.end]


def _literal(text: str, like: str) -> str:
    return json.dumps(text, ensure_ascii=like.isascii())


def _code_cells(raw: str) -> list[_Cell]:
    try:
        body = json.loads(raw)
        found = dict(_literals(raw))
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not a notebook ({error})") from None
    cells = body.get("cells") if isinstance(body, dict) else None
    if not isinstance(cells, list):
        raise SourceError("a notebook without cells (version 3 or older)")
    return [
        _cell(number, found[("cells", number, "source")])
        for number, cell in enumerate(cells)
        if isinstance(cell, dict) and cell.get("cell_type") == "code" and cell.get("source")
    ]


def _cell(number: int, found: tuple[int, int, list[tuple[int, int, str]], bool]) -> _Cell:
    start, end, pieces, is_list = found
    return _Cell(number + 1, start, end, tuple(pieces), is_list)


def _literals(raw: str) -> Iterator[tuple[tuple[Any, ...], tuple[int, int, list[tuple[int, int, str]], bool]]]:
    """Path → where a string or an array of strings stands; only the sources of cells are given back."""
    yield from _Scanner(raw).sources()


class _Scanner:
    """Walks JSON text and notes where the sources stand. `json.loads` has already found it valid."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._found: list[tuple[tuple[Any, ...], tuple[int, int, list[tuple[int, int, str]], bool]]] = []

    def sources(self) -> list[tuple[tuple[Any, ...], tuple[int, int, list[tuple[int, int, str]], bool]]]:
        self._value(self._skip(0), ())
        return self._found

    def _skip(self, at: int) -> int:
        found = _SPACE.match(self._raw, at)
        return found.end() if found else at

    def _value(self, at: int, path: tuple[Any, ...]) -> int:
        opening = self._raw[at]
        if opening == "{":
            return self._object(at, path)
        if opening == "[":
            return self._array(at, path)
        if opening == '"':
            text, end = scanstring(self._raw, at + 1)
            if _is_source(path):
                self._found.append((path, (at, end, [(at, end, text)], False)))
            elif _is_source(path[:-1]) and self._found:
                self._found[-1][1][2].append((at, end, text))
            return int(end)
        found = re.compile(r"[^,\]}\s]+").match(self._raw, at)
        return found.end() if found else at + 1

    def _object(self, at: int, path: tuple[Any, ...]) -> int:
        at = self._skip(at + 1)
        while self._raw[at] != "}":
            key, at = scanstring(self._raw, at + 1)
            at = self._value(self._skip(self._skip(at) + 1), (*path, key))
            at = self._skip(at)
            at = self._skip(at + 1) if self._raw[at] == "," else at
        return at + 1

    def _array(self, at: int, path: tuple[Any, ...]) -> int:
        start, index = at, 0
        if _is_source(path):
            self._found.append((path, (at, at, [], True)))
            place = len(self._found) - 1
        at = self._skip(at + 1)
        while self._raw[at] != "]":
            at = self._skip(self._value(at, (*path, index)))
            at = self._skip(at + 1) if self._raw[at] == "," else at
            index += 1
        if _is_source(path):
            self._found[place] = (path, (start, at + 1, self._found[place][1][2], True))
        return at + 1


def _is_source(path: tuple[Any, ...]) -> bool:
    return len(path) == 3 and path[0] == "cells" and path[2] == "source"
