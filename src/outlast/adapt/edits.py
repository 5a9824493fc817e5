"""The edits of one file, so that one inside another does not get in its way.

What a replacement leaves as it was is not touched: `args.data_url or "d"` for `"d"` only puts something before it, and
whatever is changed within still is.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from outlast.migrate.engine import Edit

#: at one byte: what ends there, lines that are added, what is put between, what begins there
_ENDING, _LINES, _BETWEEN, _BEGINNING = range(4)
#: stands for bytes as they will be when all is changed; characters that no script has
_LATER = re.compile("\ue000(\\d+)\ue001")


class Meeting(Exception):
    """Two edits want the same bytes; `at` is the first of these."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class Edits:
    """Edits by byte, in the order in which they can be applied."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._replaced: dict[tuple[int, int], str] = {}
        self._edits: list[tuple[int, int, Edit]] = []  # rank and order at one byte
        self._later: list[tuple[int, int, Set[str]]] = []

    def replace(self, start: int, end: int, new: str) -> None:
        """Put text in place of a node; the same text twice is once."""
        before = self._replaced.get((start, end))
        if before is not None:
            if before != new:
                raise Meeting(start)
            return
        self._replaced[start, end] = new
        old = self._data[start:end].decode()
        kept, closing = max((_shared(old, new.removesuffix(each)), each) for each in ("", ")") if new.endswith(each))
        cut = end - len(old[len(old) - kept :].encode())
        opening = new.removesuffix(closing)
        opening = opening[: len(opening) - kept]
        rank = _BEGINNING if cut == start else _BETWEEN
        # Of two that begin at one byte the outer comes first, of two that end there the inner one.
        self._edits.append((rank, start - end, self._edit(start, cut, opening)))
        if closing:
            self._edits.append((_ENDING, end - start, self._edit(end, end, closing)))

    def change(self, start: int, end: int, new: str) -> None:
        """Put text in place of some bytes."""
        self._edits.append((_BETWEEN, 0, self._edit(start, end, new)))

    def enclose(self, start: int, end: int, before: str, after: str) -> None:
        """Put text before and behind some bytes, outside of what else is put there."""
        self._edits.append((_BETWEEN, -1, self._edit(start, start, before)))
        self._edits.append((_BETWEEN, 1, self._edit(end, end, after)))

    def add_lines(self, at: int, text: str) -> None:
        self._edits.append((_LINES, 0, self._edit(at, at, text)))

    def later(self, start: int, end: int, hidden: Set[str]) -> str:
        """What some bytes will be when all is changed, for lines that are added elsewhere.

        If one of the `hidden` names is put there, which mean something else elsewhere, such lines are left out.
        """
        self._later.append((start, end, hidden))
        return f"\ue000{len(self._later) - 1}\ue001"

    def ordered(self) -> list[Edit]:
        """All edits from first to last. `Meeting` where two overlap."""
        found = [each for *_, each in self._sorted()]
        at = 0
        for edit in found:
            if edit.start < at:
                raise Meeting(edit.start)
            at = edit.end
        return [replace(edit, new=self._resolved(edit.new)) for edit in found]

    def _sorted(self) -> list[tuple[int, int, Edit]]:
        return sorted(self._edits, key=lambda item: (item[2].start, item[2].end, *item[:2]))

    def _resolved(self, text: str) -> str:
        if not _LATER.search(text):
            return text
        lines = text.splitlines(keepends=True)
        return "".join(line for each in lines if (line := self._resolved_line(each)) is not None)

    def _resolved_line(self, line: str) -> str | None:
        for found in list(_LATER.finditer(line)):
            text = self._as_changed(*self._later[int(found.group(1))])
            if text is None:
                return None
            line = line.replace(found.group(0), text)
        return line

    def _as_changed(self, start: int, end: int, hidden: Set[str]) -> str | None:
        """Some bytes with all that is changed in them; None where a name is put there that means something else."""
        parts, at = [], start
        for rank, _, edit in self._sorted():
            is_before = edit.end <= start and (edit.start < start or rank in (_ENDING, _LINES))
            is_behind = edit.start >= end and (edit.end > end or rank in (_LINES, _BEGINNING))
            if is_before or is_behind:
                continue
            if edit.start < at or edit.end > end:
                return None
            parts += [self._data[at : edit.start].decode(), edit.new]
            if hidden & set(re.findall(r"(?<![\w.])[^\W\d]\w*", edit.new)):
                return None
            at = edit.end
        return "".join([*parts, self._data[at:end].decode()])

    def _edit(self, start: int, end: int, new: str) -> Edit:
        return Edit(start, end, self._data[start:end].decode(), new)


def _shared(old: str, new: str) -> int:
    """How many characters at the end are the same."""
    found = 0
    while found < min(len(old), len(new)) and old[-found - 1] == new[-found - 1]:
        found += 1
    return found
