"""Looking at LibCST trees: what lies below a node, dotted names, what a string literal holds."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

import libcst as cst

#: Fields that hold only layout; comments live there, so no rule can ever see one.
_LAYOUT = frozenset(
    "lpar rpar leading_lines lines_after_decorators trailing_whitespace header footer semicolon comma dot equal colon "
    "lbracket rbracket lbrace rbrace lines_after_module_docstring newline indent first_line".split()
)
_STRING = re.compile(r"([A-Za-z]*)('''|\"\"\"|'|\")")
_fields: dict[type, tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below, in source order, without layout."""
    kind = type(node)
    names = _fields.get(kind)
    if names is None:
        names = tuple(
            field.name
            for field in dataclasses.fields(node)
            if field.name not in _LAYOUT and not field.name.startswith("whitespace")
        )
        _fields[kind] = names
    for name in names:
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, cst.CSTNode))


def dotted(node: cst.CSTNode | None) -> str:
    """`a.b.c` for such a chain of names, else an empty string."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


def tail(node: cst.CSTNode | None) -> str:
    """The last name of an expression: `c` of `a.b().c`, the key of `x['key']`, `f` of `f(…)`."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        return node.attr.value
    if isinstance(node, cst.Call):
        return tail(node.func)
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
            return inner(index.value)
        return tail(node.value)
    return ""


def inner(node: cst.CSTNode | None) -> str:
    """What stands between the quotes of a plain string literal, escapes as written; else an empty string."""
    if not isinstance(node, cst.SimpleString):
        return ""
    opening = _STRING.match(node.value)
    return node.value[opening.end() : -len(opening.group(2))] if opening else ""


def opening(node: cst.SimpleString | cst.FormattedString) -> int:
    """How many characters stand before the inner text: prefix and quotes."""
    if isinstance(node, cst.FormattedString):
        return len(node.start)
    found = _STRING.match(node.value)
    return found.end() if found else 0


def argument(call: cst.Call, name: str) -> cst.Arg | None:
    """The keyword argument of that name."""
    return next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)


def positional(call: cst.Call, index: int) -> cst.BaseExpression | None:
    """The positional argument at that place; None behind a star."""
    for at, arg in enumerate(call.args):
        if arg.star or arg.keyword is not None:
            return None
        if at == index:
            return arg.value
    return None


def keyword_or_place(call: cst.Call, keyword: str, place: int) -> cst.BaseExpression | None:
    """The argument of that name, or at that place."""
    named = argument(call, keyword)
    return named.value if named else positional(call, place)
