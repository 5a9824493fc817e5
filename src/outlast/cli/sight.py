"""What a script will see, as text. Values are never cut: they are there to be copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlast.cli.paint import Ink, wrap
from outlast.cli.planned import notice_lines
from outlast.cli.sections import titled
from outlast.cli.words import display_width, pad

if TYPE_CHECKING:
    from outlast.operations.explained import Explanation, Part, Place

#: Longer names do not push the others to the right.
_WIDEST_NAME = 40
_ORIGINS = {
    "contract": "set by the contract",
    "you": "set by you",
    "you, secret": "your secrets",
    "outlast": "set by outlast",
}


def explanation_lines(explanation: Explanation) -> list[str]:
    """All of it: one section for each script or role, then what they share."""
    ink = Ink()
    head = f"{explanation.name} under the contract {explanation.contract}: what it will see; nothing was started"
    lines = [ink("bold", line) for line in wrap(head, 0)]
    for part in explanation.parts:
        lines += _part_lines(part, ink, alone=len(explanation.parts) == 1)
    if explanation.inherited:
        lines += titled("variables: of this machine, as they are", _indented(", ".join(explanation.inherited)), ink)
    lines += titled("folders", _pairs(_shortened(explanation.places), ink), ink)
    lines += titled("helpers", _pairs([(helper.name, helper.what) for helper in explanation.helpers], ink), ink)
    guard = "in the sandbox" if explanation.sandboxed else "no sandbox"
    lines += titled("network", _indented(f"{explanation.network} ({guard})"), ink)
    notices = notice_lines(explanation.notices, ink)
    return [*lines, "", *notices] if notices else lines


def _part_lines(part: Part, ink: Ink, *, alone: bool) -> list[str]:
    command = [f"  {line}" for line in part.command.splitlines()]
    about = [f"in {part.folder}", *part.facts]
    lines = titled(
        "command" if alone else f"role {part.name}", [*command, *(ink("dim", f"  {each}") for each in about)], ink
    )
    for origin, title in _ORIGINS.items():
        own = [f"  {each.name}={each.value}" for each in part.variables if each.origin == origin]
        whose = title if alone else f"{title}, for {part.name}"
        lines += titled(f"variables: {whose}", own, ink)
    return lines


def _shortened(places: Sequence[Place]) -> list[tuple[str, str]]:
    """Places by their paths; those below the first, which is the code, as the code itself would name them."""
    code = places[0].path
    return [(place.path.replace(f"{code}/", "./", 1), place.what) for place in places]


def _pairs(rows: list[tuple[str, str]], ink: Ink) -> list[str]:
    """A name and its words on one line, or below each other when the name is a long path."""
    width = max((display_width(name) for name, _ in rows if display_width(name) <= _WIDEST_NAME), default=0)
    lines: list[str] = []
    for name, words in rows:
        if display_width(name) <= width:
            lines.append(f"  {ink('cyan', pad(name, width))}  {words}")
        else:
            lines += [f"  {ink('cyan', name)}", f"      {words}"]
    return lines


def _indented(text: str) -> list[str]:
    return [f"  {line}" for line in wrap(text, 2)]
