"""Sets of texts: their order is another one in each start, and with it what a script numbers by it.

Python hashes texts with a key that it draws when it starts. `list(set(words))` of the next stint is another vocabulary
for the same weights. Numbers have one order, which stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name, parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.before import Before
from outlast.adapt.resuming.parts import targets_in
from outlast.adapt.resuming.state import RULE
from outlast.adapt.whole import files_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

#: Functions that keep the order of what they are given; `zip` and `map` take several.
_ORDERED = frozenset("list tuple enumerate iter dict reversed array OrderedDict fromkeys join extend".split())
_SEVERAL = frozenset({"zip", "map", "product"})
#: Functions whose result does not depend on an order, or that only show it.
_WHATEVER_ORDER = frozenset("len set frozenset sum min max any all print isinstance issubset Counter".split())
_OF_SETS = frozenset("union intersection difference symmetric_difference copy".split())
_OPERATORS = (cst.BitOr, cst.BitAnd, cst.BitXor, cst.Subtract)
_LONG = 60
_DEPTH = 6
#: of Keras: they take the hash of Python unless they are told another
_HASHING = re.compile(r"(?:tensorflow\.)?(?:\w+\.)*preprocessing\.text\.(?:one_hot|hashing_trick)")
_COLLECTS = frozenset("append extend insert setdefault".split())


@dataclass(frozen=True)
class Unordered:
    """A set whose order somebody uses."""

    draft: Draft
    node: cst.BaseExpression


def find_unordered(drafts: Sequence[Draft], before: Before) -> list[Unordered]:
    """Sets that a program goes through before its training."""
    found = {
        id(node): Unordered(draft, node)
        for draft in drafts
        if not draft.is_listed
        for node in _gone_through(draft)
        if _is_set(draft, node) and before.has(draft, node)
    }
    return list(found.values())


def put_in_order(found: Sequence[Unordered], draft: Draft) -> None:
    """Let the sets of one file have the same order in each start, unless somebody has seen to that by a fixed key."""
    own = [each.node for each in found if each.draft is draft]
    if not own:
        return
    (name,) = draft.once("in_order", lambda: _helper(draft))
    for node in own:
        draft.enclose(node, f"{name}(", ")")
        said = f"{_shown(draft.source(node))} has another order in each start where it holds texts: now it has one"
        draft.say(Kind.CHANGED, RULE, node, said)


def say_hashes(drafts: Sequence[Draft], before: Before) -> None:
    """Name what numbers texts by their hash, which no order can mend: `hash(word) % size`, `one_hot` of Keras."""
    for draft in drafts:
        for call in draft.calls():
            name = draft.resolve(call.func)
            given = argument(call, "hash_function") or (call.args[2] if len(call.args) > 2 else None)
            is_trick = _HASHING.fullmatch(name) is not None and given is None
            is_plain = name == "hash" and not any(
                isinstance(each, cst.FunctionDef) and each.name.value == "__hash__" for each in draft.above(call)
            )
            if (is_trick or is_plain) and _is_run(draft, call) and before.has(draft, call):
                said = f"{tail(call.func)} gives texts another number in each start"
                advice = "let each stint have the same PYTHONHASHSEED, as outlast run does"
                draft.say(Kind.DIFFERS, RULE, call, said, advice)


def _shown(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONG else words[: _LONG - 1] + "…"


def _helper(draft: Draft) -> tuple[str]:
    draft.need_import("os")
    name = draft.free("in_order")
    draft.add_on_top(
        [
            f"def {name}(values):  # texts in a set have another order in each start, numbers have not",
            '    is_fixed = os.environ.get("PYTHONHASHSEED", "random") != "random"',
            '    if is_fixed or all(hasattr(each, "__float__") for each in values):',
            "        return values",
            "    return sorted(values, key=repr)",
        ]
    )
    return (name,)


def _gone_through(draft: Draft) -> Iterator[cst.BaseExpression]:
    """Expressions whose order counts where they stand."""
    for node in draft.nodes:
        if isinstance(node, cst.Call):
            name, is_builtin = tail(node.func), isinstance(node.func, cst.Name)
            given = [arg.value for arg in node.args if arg.keyword is None and not arg.star]
            is_sorted = (
                name == "sorted" and is_builtin and argument(node, "key") is not None
            )  # equal ones stay as they are
            used = given if name in _SEVERAL else given[:1] if name in _ORDERED or is_sorted else []
        elif isinstance(node, cst.For):
            used = [node.iter] if _collects(draft, node) else []
        elif isinstance(node, cst.CompFor):
            used = [node.iter] if not isinstance(_comprehension(draft, node), cst.SetComp) else []
        else:
            continue
        yield from (each for each in used if not _is_settled(draft, each) and _is_run(draft, each))


def _is_run(draft: Draft, node: cst.CSTNode) -> bool:
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(draft.scope(node)))
    return is_method or draft.is_reached(node)


def _comprehension(draft: Draft, part: cst.CompFor) -> cst.CSTNode | None:
    return next((each for each in draft.above(part) if not isinstance(each, cst.CompFor)), None)


def _collects(draft: Draft, loop: cst.For) -> bool:
    """Whether a loop numbers or gathers what it goes through; one that only checks or shows has no use for an order."""
    names = {each.value for each in (loop.target, *draft.below(loop.target)) if isinstance(each, cst.Name)}
    for node in draft.below(loop.body):
        if isinstance(node, cst.AugAssign) or (
            isinstance(node, cst.AssignTarget) and any(isinstance(each, cst.Subscript) for each in targets_in(node))
        ):
            return True
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            is_own = draft.may_be_ours(node) and any(tail(arg.value) in names for arg in node.args)
            if node.func.attr.value in _COLLECTS or is_own:
                return True
    return False


def _is_settled(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether what is made of a set in its statement is sorted at once or soon, or has no order anyway."""
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.Call) and before is not each.func:
            name = tail(each.func)
            if name in _WHATEVER_ORDER or (name == "sorted" and argument(each, "key") is None):
                return True
        if isinstance(each, cst.SetComp):
            return True
        if isinstance(each, cst.Assign):
            names = {dotted(target.target) for target in each.targets}
            return any(isinstance(call.func, cst.Attribute) and call.func.attr.value == "sort"
                       and dotted(call.func.value) in names for call in draft.calls())  # fmt: skip
        if isinstance(each, cst.BaseSuite | cst.SimpleStatementLine | cst.BaseCompoundStatement):
            return False
        before = each
    return False


def _is_set(draft: Draft, node: cst.CSTNode | None, depth: int = _DEPTH) -> bool:
    """Whether an expression is a set, of texts as far as can be seen."""
    if not depth:
        return False
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):
            return node.func.attr.value in _OF_SETS and _is_set(draft, node.func.value, depth - 1)
        if draft.resolve(node.func) in ("set", "frozenset"):
            return not _has_numbers(positional(node, 0))
        return _gives_set(draft, node, None, depth)
    if isinstance(node, cst.SetComp):
        return not _has_numbers(node)
    if isinstance(node, cst.Set):
        return not all(isinstance(each.value, cst.Integer | cst.Float) for each in node.elements)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, _OPERATORS):
        return _is_set(draft, node.left, depth - 1)
    if isinstance(node, cst.Name | cst.Attribute):
        return _is_bound_to_set(draft, node, depth)
    return False


def _has_numbers(made: cst.CSTNode | None) -> bool:
    """`set(range(9))`, `set([1, 2])`, `set(map(int, rows))`, `{int(row) for row in rows}`."""
    if isinstance(made, cst.Call):
        first = positional(made, 0)
        return tail(made.func) in ("range", "arange") or (
            tail(made.func) == "map" and tail(first) in ("int", "float", "len")
        )
    if isinstance(made, cst.List | cst.Tuple):
        return bool(made.elements) and all(isinstance(each.value, cst.Integer | cst.Float) for each in made.elements)
    if isinstance(made, cst.ListComp | cst.GeneratorExp | cst.SetComp):
        return isinstance(made.elt, cst.Call) and tail(made.elt.func) in ("int", "float", "len")
    return False


def _is_bound_to_set(draft: Draft, node: cst.Name | cst.Attribute, depth: int) -> bool:
    """Whether the last binding before a place gives a name a set; a field, or a name of the module, whatever does.

    A parameter is one where every call of its function gives it one.
    """
    name, scope = dotted(node), draft.scope(node)
    bound = [
        (each, value, at) for each in draft.nodes
        if isinstance(each, cst.Assign | cst.AnnAssign) and each.value is not None
        for value, at in _bound(each, name)
    ]  # fmt: skip
    if "." not in name:
        here = [each for each in bound if draft.scope(each[0]) is scope]
        earlier = [each for each in here if draft.span(each[0])[1] < draft.start(node)]
        if here:
            return bool(earlier) and _is_given(draft, *earlier[-1][1:], depth)
        if isinstance(scope, cst.FunctionDef) and name in parameters_of(scope):
            return _is_handed_set(draft, scope, name, depth)
        is_param = isinstance(scope, cst.FunctionDef) and any(
            isinstance(each, cst.Param) and each.name.value == name for each in draft.below(scope.params)
        )
        bound = [] if is_param else [each for each in bound if draft.scope(each[0]) is draft.module]
    return bool(bound) and all(_is_given(draft, value, at, depth) for _, value, at in bound)


def _bound(node: cst.Assign | cst.AnnAssign, name: str) -> Iterator[tuple[cst.BaseExpression, int | None]]:
    """What an assignment gives a name, or which one of what it gives several: `rows, words = read(path)`."""
    assert node.value is not None
    for target in [each.target for each in node.targets] if isinstance(node, cst.Assign) else [node.target]:
        if dotted(target) == name:
            yield node.value, None
        elif isinstance(target, cst.Tuple):
            yield from ((node.value, at) for at, each in enumerate(target.elements) if dotted(each.value) == name)


def _is_given(draft: Draft, value: cst.BaseExpression, at: int | None, depth: int) -> bool:
    if at is not None and isinstance(value, cst.Tuple):
        return at < len(value.elements) and _is_set(draft, value.elements[at].value, depth - 1)
    return _is_set(draft, value, depth - 1) if at is None else _gives_set(draft, value, at, depth - 1)


def _gives_set(draft: Draft, call: cst.BaseExpression, at: int | None, depth: int) -> bool:
    """Whether a function of the program returns a set, alone or as one of several values."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or depth <= 0:
        return False
    own = [
        each for each in draft.module.body if isinstance(each, cst.FunctionDef) and each.name.value == tail(call.func)
    ]
    home, function = (draft, own[0]) if len(own) == 1 else function_elsewhere(draft, call) or (draft, None)
    returned = [
        each.value for each in (home.below(function) if function is not None else ())
        if isinstance(each, cst.Return) and each.value is not None and home.scope(each) is function
    ]  # fmt: skip
    is_whole = at is None or all(isinstance(each, cst.Tuple) for each in returned)
    return bool(returned) and is_whole and all(_is_given(home, each, at, depth) for each in returned)


def _is_handed_set(draft: Draft, function: cst.FunctionDef, name: str, depth: int) -> bool:
    """Whether all calls of a function, in any file, give a parameter a set."""
    places, called = parameters_of(function), called_name(draft, function)
    at = places.index(name) - (places[:1] in (["self"], ["cls"]))
    given = [
        (home, keyword.value if (keyword := argument(call, name)) is not None else positional(call, at))
        for home in files_of(draft) for call in home.calls()
        if tail(call.func) == called and not home.is_of_library(call.func)
    ]  # fmt: skip
    return bool(given) and all(value is not None and _is_set(home, value, depth - 1) for home, value in given)
