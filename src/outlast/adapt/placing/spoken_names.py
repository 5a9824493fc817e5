"""Options for weights whose text is also a name: `f"{args.model}-best.pth"`, `"bert" in args.model.lower()`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.option_loads import loads_of
from outlast.adapt.placing.shapes import begins_open
from outlast.adapt.placing.sites import text_of
from outlast.adapt.placing.sources import Use
from outlast.migrate.tree import inner, positional, tail

#: of a name, not of a place: `args.model.split("/")[-1]`
_CUTS = frozenset({"split", "rsplit", "partition", "rpartition"})
_SAME = frozenset({"lower", "upper"})
#: a word of a name, not the end of a file or the beginning of a place
_WORD = re.compile(r"(?!https?:)\w[\w/.-]*")
#: how far a name is followed from one line to the next
_DEPTH = 3


def names_model(use: Use) -> bool:
    """Whether a library takes the name of a model, or a folder with it: `from_pretrained("bert")`."""
    return tail(use.sink.call.func) == "from_pretrained"


def put_together(uses: Sequence[Use]) -> list[tuple[Use, cst.BaseExpression]]:
    """Names of models that are filled in: nothing that lies in a folder of that name."""
    found = [
        (use, node) for use in uses if names_model(use) and use.literal is not None and "/" not in text_of(use.literal)
        if not isinstance(node := use.put or use.literal, cst.SimpleString)
    ]  # fmt: skip
    return found if len(found) == len(uses) else []


def is_model_name(draft: Draft, use: Use) -> bool:
    """Whether a library loads what an option names, and each question about the option's text is one about a name."""
    if not names_model(use):
        return False
    known = {id(node) for node in loads_of([draft], use.option, {})}
    asked = [
        node for node in draft.nodes
        if isinstance(node, cst.Attribute | cst.Name) and tail(node) == use.option and _is_compared(draft, node)
    ]  # fmt: skip
    return all(id(node) in known and is_name(draft, node) for node in asked)


def _is_compared(draft: Draft, node: cst.CSTNode) -> bool:
    around = draft.parent(node)
    if isinstance(around, cst.Attribute):
        return around.value is node and isinstance(draft.parent(around), cst.Call)
    return isinstance(around, cst.Comparison | cst.ComparisonTarget)


def is_name(draft: Draft, node: cst.CSTNode, depth: int = _DEPTH) -> bool:
    """Whether a value stands within a text, behind a folder, or is asked for a part of its own text."""
    around = draft.parent(node)
    if isinstance(around, cst.BinaryOperation):
        is_first = around.left is node or (
            isinstance(around.left, cst.SimpleString) and begins_open(inner(around.left))
        )
        return is_name(draft, around, depth) if is_first else True
    if isinstance(around, cst.Element):
        return _is_filled_in(draft, around, depth)
    if isinstance(around, cst.FormattedStringExpression):
        text = draft.parent(around)
        is_first = isinstance(text, cst.FormattedString) and text.parts[0] is around
        return is_name(draft, text, depth) if is_first and text is not None else True
    if isinstance(around, cst.Comparison | cst.ComparisonTarget):
        comparison = draft.parent(around) if isinstance(around, cst.ComparisonTarget) else around
        return isinstance(comparison, cst.Comparison) and _asks_for_words(comparison, node)
    if isinstance(around, cst.Attribute) and isinstance(call := draft.parent(around), cst.Call) and call.func is around:
        return _is_asked(draft, call, depth)
    if isinstance(around, cst.Arg) and isinstance(call := draft.parent(around), cst.Call):
        return _is_given(draft, call, around, depth)
    return isinstance(around, cst.Assign) and depth > 0 and _is_name_later(draft, around, depth)


def _is_filled_in(draft: Draft, element: cst.Element, depth: int) -> bool:
    """`"%s-%d" % (name, epoch)`: the text begins with it, or has it further on."""
    filled = draft.parent(element)
    whole = draft.parent(filled) if isinstance(filled, cst.Tuple) else None
    if not isinstance(filled, cst.Tuple) or not isinstance(whole, cst.BinaryOperation):
        return False
    is_first = filled.elements[0] is element and begins_open(inner(whole.left))
    return is_name(draft, whole, depth) if is_first else isinstance(whole.operator, cst.Modulo)


def _asks_for_words(around: cst.Comparison, node: cst.CSTNode) -> bool:
    """`"bert" in name`, `name == "small"`; not whether there is any, or how its file ends."""
    words: list[cst.BaseExpression] = []
    for each in (around.left, *(part.comparator for part in around.comparisons)):
        if isinstance(each, cst.List | cst.Tuple | cst.Set):
            words += [part.value for part in each.elements]
        else:
            words += [each] if each is not node else []
    return bool(words) and all(isinstance(word, cst.SimpleString) and _WORD.fullmatch(inner(word)) for word in words)


def _is_asked(draft: Draft, call: cst.Call, depth: int) -> bool:
    """`name.split("/")[-1]`, `name.lower()`, `name.startswith("gpt")`."""
    method, first = tail(call.func), inner(positional(call, 0))
    if method in _SAME:
        return is_name(draft, call, depth)
    return (method in _CUTS and first == "/") or (method == "startswith" and _WORD.fullmatch(first) is not None)


def _is_given(draft: Draft, call: cst.Call, arg: cst.Arg, depth: int) -> bool:
    """What makes a longer text or path of it."""
    name, path = tail(call.func), draft.resolve(call.func)
    if path == "os.path.join" or name == "joinpath":
        return name == "joinpath" or call.args[0] is not arg or is_name(draft, call, depth)
    if path in ("str", "os.path.basename", "pathlib.Path"):
        return is_name(draft, call, depth)
    if name != "format" or not isinstance(call.func, cst.Attribute):
        return False
    text = call.func.value
    is_first = call.args[0] is arg and begins_open(inner(text))
    return is_name(draft, call, depth) if is_first else isinstance(text, cst.SimpleString)


def _is_name_later(draft: Draft, line: cst.Assign, depth: int) -> bool:
    """`name = f"{args.model}-{rate}"`: whether it is put behind a folder, or into a text, further on."""
    target = line.targets[0].target
    if len(line.targets) != 1 or not isinstance(target, cst.Name):
        return False
    loads = [
        node for node in draft.named(target.value)
        if draft.scope(node) is draft.scope(line) and not isinstance(draft.parent(node), cst.AssignTarget)
    ]  # fmt: skip
    return any(is_name(draft, node, depth - 1) for node in loads)
