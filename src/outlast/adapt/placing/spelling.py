"""What a path expression spells: its text as far as it is written in the file, with a mark for everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, inner, positional, tail

#: stands for text that is known only when the script runs
UNKNOWN = "\0"
_DEPTH = 8
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0-9.*]*([a-zA-Z%])")
_BRACES = re.compile(r"\{\{|\}\}|\{([^{}:!]*)[^{}]*\}")
#: calls that give back the path they were given
SAME = frozenset({"str", "pathlib.Path", "pathlib.PurePath", "os.path.expanduser", "os.path.abspath",
                  "os.path.realpath", "os.fspath", "os.path.normpath", "sorted", "list"})  # fmt: skip
#: methods of a path that give back the same one
SAME_METHODS = frozenset({"resolve", "absolute", "expanduser", "as_posix"})
_FOLDERS = frozenset({"os.path.dirname"})
#: calls that give back what they were given second, unless somebody has set something else
_SETTABLE = frozenset({"os.environ.get", "os.getenv"})


class Spelling:
    """Spells expressions. `value_of` says what a name is made of, where that is one thing."""

    def __init__(self, draft: Draft, value_of: Callable[[cst.BaseExpression], cst.BaseExpression | None]) -> None:
        self._draft, self._value_of = draft, value_of

    def of(self, node: cst.CSTNode | None, depth: int = _DEPTH) -> str:
        """The text of a path; unknown parts are `UNKNOWN`."""
        if depth == 0 or node is None:
            return UNKNOWN
        if isinstance(node, cst.SimpleString):
            return inner(node)
        if isinstance(node, cst.Integer | cst.Float):
            return node.value
        if isinstance(node, cst.ConcatenatedString):
            return self.of(node.left, depth - 1) + self.of(node.right, depth - 1)
        if isinstance(node, cst.FormattedString):
            return "".join(self._part(part, depth) for part in node.parts)
        if isinstance(node, cst.BinaryOperation):
            return self._operation(node, depth)
        if isinstance(node, cst.Call):
            return self._call(node, depth)
        if isinstance(node, cst.Name | cst.Attribute | cst.Subscript):
            if isinstance(node, cst.Attribute) and node.attr.value == "parent":
                return self.of(node.value, depth - 1).rpartition("/")[0]
            if self._draft.resolve(node) in ("os.sep", "os.path.sep"):
                return "/"
            return self.of(self._value_of(node), depth - 1)
        return UNKNOWN

    def behind(self, node: cst.BinaryOperation) -> str:
        """What `folder + text` and `folder / text` put behind the folder."""
        text = self.of(node.right)
        return joined([".", text])[1:] if isinstance(node.operator, cst.Divide) else text

    def _part(self, part: cst.BaseFormattedStringContent, depth: int) -> str:
        if isinstance(part, cst.FormattedStringText):
            return part.value
        assert isinstance(part, cst.FormattedStringExpression)
        return UNKNOWN if part.format_spec else self.of(part.expression, depth - 1)

    def _operation(self, node: cst.BinaryOperation, depth: int) -> str:
        if isinstance(node.operator, cst.Modulo):
            return "".join(self.of(part, depth - 1) if not isinstance(part, str) else part for part in filled(node))
        left, right = self.of(node.left, depth - 1), self.of(node.right, depth - 1)
        if isinstance(node.operator, cst.Divide):
            return joined([left, right])
        return left + right if isinstance(node.operator, cst.Add) else UNKNOWN

    def _call(self, call: cst.Call, depth: int) -> str:
        name, last = self._draft.resolve(call.func), tail(call.func)
        given = [UNKNOWN if arg.star else self.of(arg.value, depth - 1) for arg in call.args if arg.keyword is None]
        if name == "os.path.join" or (name.startswith("pathlib.") and len(given) > 1):
            return joined(given)
        if name in SAME:
            return given[0] if given else UNKNOWN
        if last == "strftime" and given:
            return re.sub(r"%[A-Za-z]", UNKNOWN, given[0])
        if name in _SETTABLE:
            return given[1] if len(given) > 1 else UNKNOWN
        if name in _FOLDERS:
            return given[0].rpartition("/")[0] if given else UNKNOWN
        if isinstance(call.func, cst.Attribute):
            owner = call.func.value
            if last == "joinpath":
                return joined([self.of(owner, depth - 1), *given])
            if last in SAME_METHODS and not call.args:
                return self.of(owner, depth - 1)
            if last == "format" and inner(owner):
                return "".join(self.of(part, depth - 1) if not isinstance(part, str) else part for part in filled(call))
            elements = listed(call)
            if last == "join" and isinstance(owner, cst.SimpleString) and elements:
                return inner(owner).join(self.of(each, depth - 1) for each in elements)
        return UNKNOWN


def is_spelled_out(path: str, other: str) -> bool:
    """Whether a path may be another one from the root on: `/content/net.pt`, where `net.pt` lies beside the script."""
    return path.startswith("/") and not other.startswith(("/", ".")) and path.endswith(f"/{other}")


def cut(text: str, folders: int) -> str:
    """A path without its last names."""
    return cut(text.rpartition("/")[0], folders - 1) if folders else text


def joined(parts: Sequence[str]) -> str:
    """As `os.path.join` does it, `UNKNOWN` taken for a relative name."""
    whole = ""
    for part in parts:
        whole = part if part.startswith("/") or not whole else whole.rstrip("/") + "/" + part
    return whole


def listed(call: cst.Call) -> list[cst.BaseExpression]:
    """The elements that `"/".join([…])` is given."""
    given = positional(call, 0)
    if not isinstance(given, cst.List | cst.Tuple):
        return []
    return [element.value for element in given.elements if isinstance(element, cst.Element)]


def filled(node: cst.CSTNode) -> list[str | cst.BaseExpression | None]:
    """The parts of `"…%s…" % x` or `"…{}…".format(x)`: text and what is filled in, None where that is a number."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.left, cst.SimpleString):
        return list(_by_percent(node))
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        return list(_by_braces(node))
    return [None]


def _by_percent(node: cst.BinaryOperation) -> Iterator[str | cst.BaseExpression | None]:
    text, end = inner(node.left), 0
    values = [each.value for each in node.right.elements] if isinstance(node.right, cst.Tuple) else [node.right]
    waiting = iter(values)
    for found in _PERCENT.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        if found.group(2) == "%":
            yield "%"
            continue
        value = None if found.group(1) else next(waiting, None)
        yield value if found.group(2) == "s" else None
    yield text[end:]


def _by_braces(call: cst.Call) -> Iterator[str | cst.BaseExpression | None]:
    assert isinstance(call.func, cst.Attribute)
    text, end, count = inner(call.func.value), 0, 0
    for found in _BRACES.finditer(text):
        yield text[end : found.start()]
        end = found.end()
        if found.group() in ("{{", "}}"):
            yield found.group()[0]
            continue
        key = found.group(1)
        named = argument(call, key) if key and not key.isdigit() else None
        index = int(key) if key.isdigit() else count
        count += not key
        value = named.value if named else positional(call, index) if not key or key.isdigit() else None
        yield None if ":" in found.group() else value
    yield text[end:]
