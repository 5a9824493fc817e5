"""What a path may come from, and what lies between that and the call that takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.needs import Role
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.migrate.tree import inner, tail

Literal = cst.SimpleString | cst.FormattedString


@dataclass(frozen=True)
class Hop:
    """A name on the way from a call to its source, and the expression of that level, which begins with it."""

    node: cst.Name | cst.Attribute | cst.Subscript
    whole: cst.BaseExpression | None  # None where nothing can be put around it
    is_folder: bool = False  # whether what it holds has more of the path behind it


@dataclass(frozen=True)
class Use:
    """One way from a call back to a source: a literal, an option, or, where that is unknown, the expression itself."""

    sink: Sink
    is_folder: bool
    literal: Literal | None = None
    option: str = ""  # `x` of `args.x`, or a parameter of a command's function
    other: cst.BaseExpression | None = None  # a configuration from elsewhere
    after: str = ""  # what the path goes on with behind the source, as far as it is known
    hops: tuple[Hop, ...] = ()
    whole: cst.BaseExpression | None = None  # the expression of the source's level, which begins with it
    put: cst.BaseExpression | None = None  # where the path is put together: the level at which text follows
    is_many: bool = False  # each time another place: a name from a list
    up: int = 0  # how many folders above the path are meant: `path.parent.mkdir()` makes the one that it lies in

    @property
    def is_known(self) -> bool:
        """Whether there is a source; else only what begins with something unknown."""
        return self.literal is not None or bool(self.option) or self.other is not None

    @property
    def is_stem(self) -> bool:
        """Whether the source is the start of a name, which the path goes on with."""
        return bool(self.after) and not self.is_folder

    def before(self, text: str) -> Use:
        """The use of what stands before a text."""
        if not text:
            return self
        is_open = text.startswith(UNKNOWN) and self.role is not Role.OUTPUT
        return replace(self, after=text + self.after, is_folder=text.startswith(("/", "\\")) or is_open, put=self.whole)

    @property
    def role(self) -> Role | None:
        return self.sink.role

    @property
    def is_read(self) -> bool:
        return self.role in (Role.DATA, Role.WEIGHTS)


def at_literal(node: Literal, use: Use) -> Use:
    """`"out/"` is a folder, whatever follows; `"out"` only if that begins with a slash."""
    is_folder = use.is_folder or (bool(use.after) and isinstance(node, cst.SimpleString) and inner(node).endswith("/"))
    return replace(use, literal=node, is_folder=is_folder)


def origin(
    use: Use, source: Callable[[cst.CSTNode | None], str], function_of: Callable[[cst.Name], cst.FunctionDef | None]
) -> int | str | tuple[int, str]:
    """What a way begins with, also where that is a parameter; nothing where it is unknown."""
    start = use.hops[-1].node if use.hops and not use.is_known else None
    taker = function_of(start) if isinstance(start, cst.Name) else None
    if taker is not None:
        return id(taker), tail(start)
    return id(use.literal) if use.literal else use.option or source(use.other)


def is_made(use: Use) -> bool:
    """Whether a folder is only made, or asked for: it is for what will lie in it."""
    return use.role is None or (use.sink.makes and not use.after)


def folder_above(use: Use, file: cst.BaseExpression, node: cst.CSTNode) -> Use:
    """The use of a file where `node` is its folder: whoever moves the file moves that, too.

    What is put beside it does not tell what the file itself is for.
    """
    whole = file if isinstance(node, cst.Call) else None  # a path object cannot be joined as text
    sink = use.sink if is_made(use) else replace(use.sink, role=None)
    return replace(use, sink=sink, up=use.up + 1, is_folder=False, after="", whole=whole, put=None)


def unwrapped(use: Use, is_path: bool = True) -> Use:
    """What is a path object cannot be joined as text."""
    return replace(use, whole=None, put=None) if is_path else use
