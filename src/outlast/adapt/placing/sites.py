"""Literals that are paths."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.sources import Literal
from outlast.migrate.tree import inner, tail

_SLASHES = re.compile(r"/+")
_DRIVE = re.compile(r"[A-Za-z]:/")
_PLACEHOLDER = re.compile(r"%[-0-9.]*[a-zA-Z(]|\{|[*?]")


@dataclass(frozen=True)
class Site:
    """A literal that is a path: whole (`is_folder`), or with a file's name at its end."""

    literal: Literal
    text: str  # up to the first placeholder of an f-string
    is_folder: bool
    is_here: bool = False  # `"./"` as the whole of an argument: nothing can follow right behind it
    keeps_name: bool = False  # a folder that must not be the contract's own, which is there from the start

    is_asked: bool = False  # nobody reads it, some ask whether it is there
    may_stay: bool = False  # a list beside the code that belongs to data elsewhere: who knows which it travels with

    @property
    def is_formatted(self) -> bool:
        return isinstance(self.literal, cst.FormattedString)

    @property
    def folders(self) -> list[str]:
        """The folders of the path, without a leading `./`."""
        text = _SLASHES.sub("/", self.text)
        folder = text.rstrip("/") if self.is_folder and not self.is_formatted else text.rpartition("/")[0]
        folder = folder.rpartition("/")[0] if self.keeps_name else folder
        parts = folder.split("/") if folder or self.text.startswith("/") else []
        # A folder whose name is filled in or found later must stay where the filling in finds it.
        whole = list(itertools.takewhile(lambda part: not _PLACEHOLDER.search(part), parts))
        return whole[1:] if whole[:1] == ["."] else whole

    @property
    def is_open(self) -> bool:
        """Whether a part of it is filled in, or found, when the script runs."""
        return self.is_formatted or _PLACEHOLDER.search(self.text) is not None

    @property
    def is_absolute(self) -> bool:
        """Whether it begins at a root: of the machine, or of a drive of Windows."""
        return self.text.startswith("/") or _DRIVE.match(self.text) is not None

    @property
    def is_opaque(self) -> bool:
        """A path of Windows: nothing below it can be told apart where there are only slashes."""
        return "\\" in self.text


#: what torch keeps below the folder that it was told, beside the weights that the program reads itself
HUB = Site(cst.SimpleString('""'), "checkpoints", is_folder=True)


def length_of(text: str, parts: int) -> int:
    """How far the first names of a path go; several slashes in a row are one."""
    ends = [found.start() for found in _SLASHES.finditer(text)] + [len(text)]
    return ends[min(parts, len(ends)) - 1] if parts else 0


def is_text(node: cst.CSTNode | None) -> TypeGuard[Literal]:
    """Whether an expression is a text that stands there as a whole; an f-string may be one, too."""
    is_filled = isinstance(node, cst.FormattedString) and not all(
        isinstance(part, cst.FormattedStringText) for part in node.parts
    )
    return isinstance(node, cst.SimpleString | cst.FormattedString) and not is_filled


def text_of(literal: Literal) -> str:
    if isinstance(literal, cst.SimpleString):
        return inner(literal)
    first = literal.parts[0] if literal.parts else None
    return first.value if isinstance(first, cst.FormattedStringText) else ""


def enclosed(draft: Draft, literal: cst.CSTNode, text: str) -> str:
    """In brackets, unless nothing around the literal binds tighter than `or`."""
    loose = (cst.Arg, cst.Assign, cst.AnnAssign, cst.DictElement, cst.Element, cst.Return, cst.Param)
    return text if isinstance(draft.parent(literal), loose) else f"({text})"


def declaring(name: str, *, is_folder: bool) -> str:
    """How an input is given to a run, and what it is."""
    return f"declare it: outlast run … --data {name}={'FOLDER' if is_folder else 'FILE'}"


def is_always_filled(draft: Draft, literal: Literal) -> bool:
    """Whether a text is filled with nothing but constants of its file: it is one place, whatever stands there."""
    if not isinstance(literal, cst.FormattedString):
        return False
    filled = [part.expression for part in literal.parts if isinstance(part, cst.FormattedStringExpression)]
    return bool(filled) and all(isinstance(each, cst.Name) and _is_constant(draft, each.value) for each in filled)


def _is_constant(draft: Draft, name: str) -> bool:
    values = [
        node.value for node in draft.nodes
        if isinstance(node, cst.Assign) and any(tail(each.target) == name for each in node.targets)
    ]  # fmt: skip
    bound = [node for node in draft.nodes if isinstance(node, cst.For | cst.Param | cst.CompFor)
             and name in (tail(getattr(node, "target", None)), tail(getattr(node, "name", None)))]  # fmt: skip
    return len(values) == 1 and isinstance(values[0], cst.SimpleString) and not bound
