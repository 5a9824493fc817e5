"""Small questions about the form of an expression."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.spelling import SAME_METHODS
from outlast.migrate.tree import argument, inner, positional, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.sources import Use

#: methods of a path that give one which begins with it
_PATH_METHODS = frozenset({"joinpath", "resolve", "absolute", "expanduser", "with_suffix", "with_name"})
#: in a text: what will be something else, `{split}`, `<name>`, `%d`
_MARK = re.compile(r"\{.*\}|<.*>|%.*|\$.*|\[.*\]")

#: what makes of settings something whose entries are fields
FIELDS = re.compile(
    r"OmegaConf|[Ee]asy[Dd]ict|\bedict\b|[Mm]unch|\bBox$|DictConfig|ConfigDict|DotMap|[Aa]ttr[Dd]ict|[Dd]ot[Dd]ict"
)


def leading(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """What an expression begins with, from the outside inwards."""
    yield node
    if isinstance(node, cst.BinaryOperation):
        yield from leading(node.left)
    elif isinstance(node, cst.FormattedString) and node.parts:
        first = node.parts[0]
        yield from leading(first.expression) if isinstance(first, cst.FormattedStringExpression) else ()
    elif isinstance(node, cst.IfExp) and (whole := if_absolute(node)) is not None:
        yield from leading(whole)
    elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and tail(node.func) in _PATH_METHODS:
        yield from leading(node.func.value)
    elif isinstance(node, cst.Call):
        yield from leading(node.args[0].value) if node.args else ()


def join_parts(call: cst.Call) -> tuple[cst.BaseExpression | None, Sequence[cst.Arg]]:
    """What `os.path.join(…)` begins with, and the rest. A first "." says nothing, and an absolute folder drops it."""
    at = 0
    while inner(positional(call, at)) in (".", "./") and positional(call, at + 1) is not None:
        at += 1
    return positional(call, at), call.args[at + 1 :]


def folder_of(node: cst.CSTNode) -> cst.BaseExpression | None:
    """The file whose folder `os.path.dirname(path)` is."""
    return positional(node, 0) if isinstance(node, cst.Call) and tail(node.func) == "dirname" else None


def file_in(node: cst.CSTNode, use: Use) -> cst.BaseExpression | None:
    """The file whose folder is made, asked for or written to: of `os.path.dirname(path)` and `path.parent`."""
    if use.is_read:
        return None
    is_parent = isinstance(node, cst.Attribute) and node.attr.value == "parent" and tail(node.value) != "self"
    return node.value if is_parent and isinstance(node, cst.Attribute) else folder_of(node)


def are_settled(draft: Draft, ways: Sequence[Use]) -> bool:
    """Whether sources give way at their own places, also as constants of other files: whoever reads them sees that."""
    others = [way.other for way in ways if way.literal is None and not way.option]
    names = [draft.resolve(other) if isinstance(other, cst.Name) else "" for other in others]
    return all(name.rpartition(".")[0].rpartition(".")[2] in draft.seen for name in names)


def asks_for_absolute(node: cst.CSTNode) -> bool:
    """Whether a test is of a path that begins at a root: `path.is_absolute()`, `not os.path.isabs(path)`."""
    if isinstance(node, cst.UnaryOperation):
        return asks_for_absolute(node.expression)
    return isinstance(node, cst.Call) and tail(node.func) in ("is_absolute", "isabs")


def if_absolute(node: cst.IfExp) -> cst.BaseExpression | None:
    """What a path is if it begins at a root, as the contract's folders do: `p if p.is_absolute() else ROOT / p`."""
    if not asks_for_absolute(node.test):
        return None
    return node.orelse if isinstance(node.test, cst.UnaryOperation) else node.body


def is_led_by(value: cst.BaseExpression, name: str) -> bool:
    return any(isinstance(each, cst.Name) and each.value == name for each in leading(value))


def is_put_behind(value: cst.BaseExpression, name: str) -> bool:
    """`os.path.join(root, name)`, `root / name`, `root + name`: what the name held is only the end of the path."""
    parts: list[cst.BaseExpression] = []
    if isinstance(value, cst.Call) and tail(value.func) in ("join", "joinpath"):
        parts = [arg.value for arg in value.args]
    elif isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Add | cst.Divide):
        parts = [value.left, value.right]
    elif isinstance(value, cst.FormattedString):
        parts = [part.expression for part in value.parts if isinstance(part, cst.FormattedStringExpression)]
    return not is_led_by(value, name) and any(
        is_led_by(part, name) or is_put_behind(part, name) for part in parts
    )  # fmt: skip


def without_ends(values: list[cst.BaseExpression]) -> list[cst.BaseExpression]:
    """`path = name`, elsewhere `path = os.path.join(folder, name)`: what stands behind a folder is no place alone."""
    ends = [
        value for value in values
        if isinstance(value, cst.Name) and any(is_put_behind(each, value.value) for each in values if each is not value)
    ]  # fmt: skip
    return [value for value in values if value not in ends]


def is_behind(draft: Draft, value: cst.BaseExpression, name: str) -> bool:
    """Whether a value is put together of what a name, or a field, held before, and begins with something else."""
    within = [each for each in draft.below(value) if isinstance(each, cst.Name | cst.Attribute) and tail(each) == name]
    return bool(within) and not any(each in within for each in leading(value))


def starts_with_text(node: cst.SimpleString | cst.FormattedString) -> bool:
    first = node.parts[0] if isinstance(node, cst.FormattedString) and node.parts else None
    return isinstance(node, cst.SimpleString) or isinstance(first, cst.FormattedStringText)


def name_behind_dot(node: cst.CSTNode) -> cst.BaseExpression | None:
    """What the name of a file beside the script begins with: `kind` of `f"./{kind}-last.pt"`, not of `f"./{out}/x"`."""
    if not isinstance(node, cst.FormattedString) or len(node.parts) < 3:
        return None
    first, then, behind = node.parts[:3]
    is_dot = isinstance(first, cst.FormattedStringText) and first.value == "./"
    is_name = isinstance(behind, cst.FormattedStringText) and not behind.value.startswith(("/", "\\"))
    return then.expression if is_dot and is_name and isinstance(then, cst.FormattedStringExpression) else None


def begins_open(text: str) -> bool:
    """Whether a text begins with something that is filled in later: `"%s/images/%s.jpg"`, `"{}/x"`."""
    return re.match(r"%(?:\(\w+\))?s|\{[^{}]*\}", text) is not None


def keeps_place(call: cst.Call) -> bool:
    """Whether a method gives the same place in another form: `path.resolve()`, `path.replace("{split}", "train")`."""
    if tail(call.func) == "replace":
        return len(call.args) == 2 and _MARK.fullmatch(inner(positional(call, 0))) is not None
    return tail(call.func) in SAME_METHODS and not call.args


def is_argument(draft: Draft, node: cst.CSTNode | None) -> bool:
    """`sys.argv[1]`: a word of the command line."""
    is_one = isinstance(node, cst.Subscript) and draft.resolve(node.value) == "sys.argv" and is_numbered(node)
    return is_one and isinstance(node, cst.Subscript) and draft.source(node.slice[0]).strip() != "0"


def asks_for_argument(draft: Draft, node: cst.IfExp) -> bool:
    """`sys.argv[1] if len(sys.argv) > 1 else "rows.csv"`"""
    return any(is_argument(draft, each) for each in (node.body, node.orelse))


def is_numbered(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, cst.Integer | cst.UnaryOperation)


def either(draft: Draft, node: cst.CSTNode, is_read: bool) -> tuple[cst.BaseExpression, cst.BaseExpression] | None:
    """`args.data or "data"`, `path if path else "data"`: what is given, and what stands for it where nothing is."""
    if isinstance(node, cst.BooleanOperation):
        return node.left, node.right
    if is_read and isinstance(node, cst.IfExp) and isinstance(node.body, cst.Name):
        asked = draft.source(node.test).removesuffix(" is not None")
        return (node.body, node.orelse) if asked == node.body.value else None
    return None


def is_shortened(node: cst.Attribute | cst.Subscript) -> bool:
    """`path[:-4]`: without what its name ends with; the folder is the same."""
    part = node.slice[0].slice if isinstance(node, cst.Subscript) and len(node.slice) == 1 else None
    return isinstance(part, cst.Slice) and part.lower is None and isinstance(part.upper, cst.UnaryOperation)


def part_of(value: cst.BaseExpression | None, node: cst.Subscript | cst.Attribute) -> cst.BaseExpression | None:
    """What `value["key"]` or `value[0]` is, where the value stands there as a literal; `value.key` of `edict({…})`."""
    is_dict = isinstance(value, cst.Call) and tail(value.func) == "dict"
    if isinstance(value, cst.Call) and (is_dict or FIELDS.search(tail(value.func))):
        whole = positional(value, 0)
        named = argument(value, tail(node))
        return _entry(whole, tail(node)) if isinstance(whole, cst.Dict) else named.value if named else None
    if isinstance(node, cst.Attribute):
        return None
    index = node.slice[0].slice if len(node.slice) == 1 else None
    if isinstance(value, cst.List | cst.Tuple) and isinstance(index, cst.Index):
        at = int(index.value.value) if isinstance(index.value, cst.Integer) else len(value.elements)
        return value.elements[at].value if at < len(value.elements) else None
    return _entry(value, tail(node)) if isinstance(value, cst.Dict) else None


def _entry(table: cst.Dict, key: str) -> cst.BaseExpression | None:
    found = [each.value for each in table.elements if isinstance(each, cst.DictElement) and inner(each.key) == key]
    return found[0] if len(found) == 1 else None


def names(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            yield from names(element.value)


def held_in(node: cst.List | cst.Tuple | cst.ListComp | cst.Dict, use: Use) -> Iterator[tuple[cst.BaseExpression, Use]]:
    """The paths of `["a.csv", "b.csv"]`, `[root + each for each in names]`, `{"train": "a.csv"}`, with what each is."""
    if isinstance(node, cst.List | cst.Tuple):
        yield from ((each.value, use) for each in node.elements)
    elif isinstance(node, cst.Dict):
        yield from ((each.value, replace(use, whole=each.value)) for each in node.elements if use.is_read)
    elif use.is_read:
        yield node.elt, replace(use, whole=node.elt)


def is_call_of(draft: Draft, node: cst.CSTNode, names: Collection[str]) -> bool:
    """Whether something is a call of one of these: of another one, it adds to what a name held before."""
    return isinstance(node, cst.Call) and draft.resolve(node.func) in names
