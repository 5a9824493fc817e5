"""All documents of the project, and what stands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")],
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    """One fenced block."""

    page: Path
    line: int
    language: str
    text: str


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    text = text_of(page)
    for match in _FENCE.finditer(text):
        yield Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2])


def prose(page: Path) -> str:
    """The page without its fenced blocks."""
    return _FENCE.sub("", text_of(page))


def command_lines(page: Path) -> Iterator[str]:
    """Every `outlast …` that a reader could type, from blocks and from inline code."""
    candidates = [
        line for block in blocks(page) if block.language in ("", "sh", "text") for line in block.text.splitlines()
    ]
    candidates += re.findall(r"`([^`\n]+)`", prose(page))
    for candidate in candidates:
        for part in re.split(r"&&|\|", candidate):
            found = re.match(r"^\s*(?:\$ )?(outlast [^#]*)", part)
            if found:
                yield found[1].strip()


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`, as GitHub makes it from the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}
