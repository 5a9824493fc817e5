"""Reads the examples that stand beside the rules.

A section begins with `== TARGET WORDS`. One-liners are `before => after`; longer ones are blocks separated by blank
lines, with `=>` on a line of its own. `keep` sections hold code that must not change. Words: `one-way` (the way back
does not give the original), `bare` (nothing is put before the code), `said` (code that is kept, and reported).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import outlast.migrate.rules

FOLDER = Path(outlast.migrate.rules.__file__).parent / "examples"


class Example(NamedTuple):
    rule: str
    target: str
    before: str
    after: str
    one_way: bool
    bare: bool
    said: bool

    @property
    def is_kept(self) -> bool:
        return self.before == self.after


def load() -> list[Example]:
    return [example for path in sorted(FOLDER.glob("*.txt")) for example in _read(path)]


def _read(path: Path) -> list[Example]:
    found = []
    for section in re.split(r"(?m)^== ", path.read_text(encoding="utf-8"))[1:]:
        head, _, body = section.partition("\n")
        words = head.split()
        keeps = words[0] == "keep"
        target = words[1] if keeps else words[0]
        for before, after in _pairs(body, keeps):
            known = ("one-way" in words, "bare" in words, "said" in words)
            found.append(Example(path.stem, target, before, after, *known))
    return found


def _pairs(body: str, keeps: bool) -> list[tuple[str, str]]:
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", body) if block.strip()]
    if keeps:
        one_liners = len(blocks) == 1 and all(not line.startswith((" ", "@")) for line in blocks[0].splitlines())
        items = blocks[0].splitlines() if one_liners else blocks
        return [(item + "\n", item + "\n") for item in items]
    pairs = []
    for block in blocks:
        if "\n=>\n" in block:
            before, _, after = block.partition("\n=>\n")
            pairs.append((before + "\n", after + "\n"))
        else:
            pairs += [tuple(part + "\n" for part in line.split(" => ", 1)) for line in block.splitlines()]
    return pairs
