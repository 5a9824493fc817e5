"""Folders that a start numbers by what is there already: `runs/exp3`, because there are three.

    def next_folder(root):
        number = len(os.listdir(root))
        …
        return os.path.join(root, f"exp{number}")

The next stint would leave its results beside those of the first one, and not find its best weights. So the first one's
folder holds for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.stamps import is_made_before, is_readable, names_in, reached, result_paths
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

_LISTS = frozenset({"listdir", "glob", "iglob", "rglob", "iterdir", "scandir"})
_ASKS = frozenset({"exists", "isdir", "is_dir", "isfile", "is_file"})
#: a number put into a name
_NUMBERED = re.compile(r"\{[^{}]*\}|%\d*d|\bstr\(|\.format\(")


@dataclass(frozen=True)
class Numbered:
    """What numbers a folder: a call of the script's own function, a count of what is there, or a `while` that asks."""

    node: cst.CSTNode
    names: tuple[str, ...] = ()  # those that a `while` changes


def find_numbered(draft: Draft, values: Values) -> list[Numbered]:
    """Everything that numbers a folder of results once in each start, and before the rounds."""
    calls: dict[int, cst.Call] = {}
    names: set[str] = set()
    for path in result_paths(draft):
        for value in reached(draft, path, values):
            names |= names_in(draft, value)
            for call in (each for each in (value, *draft.below(value)) if isinstance(each, cst.Call)):
                if _counts(draft, call) or _is_numbering(draft, call):
                    calls[id(call)] = call
    found = [Numbered(call) for call in calls.values() if is_made_before(draft, call, values)]
    for loop in (node for node in draft.nodes if isinstance(node, cst.While)):
        changed = {name for node in draft.below(loop.body) for name in targets_of(node)}
        if changed & names and _asks(draft, loop.test) and is_made_before(draft, loop, values):
            found.append(Numbered(loop, tuple(sorted(name for name in changed if "." not in name))))
    inner = {id(node) for each in found for node in draft.below(each.node)}
    return sorted((each for each in found if id(each.node) not in inner), key=lambda each: draft.start(each.node))


def keep_numbered(draft: Draft, found: Sequence[Numbered], scope: cst.CSTNode, value: str) -> None:
    """Let all stints have the first one's. `value`: the contract's output folder, as the loop in `scope` reads it."""
    for at, each in enumerate(found):
        shown = draft.source(each.node).partition("\n")[0].rstrip(":")
        if not value or not is_readable(draft, value, each.node, scope):
            said = f"{shown} finds another place in each start: each stint has one of its own"
            draft.say(Kind.DIFFERS, RULE, each.node, said, "give them a folder that stays the same")
            continue
        (helper,) = draft.once("numbered", lambda: _add_helper(draft))
        rest = f'{ENVIRON} or {value}, {value}, "resume{at or ""}'
        if isinstance(each.node, cst.While):
            draft.add_after(
                each.node, [f'{name} = {helper}(lambda: {name}, {rest}-{name}.place")' for name in each.names]
            )
        else:
            draft.enclose(each.node, f"{helper}(lambda: ", f', {rest}.place")')
        said = f"{shown} finds another place in each start: all stints have the first one's"
        draft.say(Kind.CHANGED, RULE, each.node, said)


def _add_helper(draft: Draft) -> tuple[str]:
    name = draft.free("first_place")
    draft.need_import("os", "pathlib")
    draft.add_on_top([
        f"def {name}(find, folder, results, file):",
        '    """The place, or its number, that the first stint found, so that the next ones go on there."""',
        "    path = os.path.join(folder, file) if folder else None",
        "    if not path or not os.path.exists(path):",
        "        found = find()",
        "        if path and isinstance(found, (int, str, os.PathLike)):",
        "            is_folder = not isinstance(found, int) and os.path.isdir(found)",
        "            kept = found if isinstance(found, int) else os.path.relpath(found, results)",
        "            os.makedirs(folder, exist_ok=True)",
        '            with open(path + ".part", "w") as part:',
        '                part.write("%s\\n%d\\n%s" % (type(found).__name__, is_folder, kept))',
        '            os.replace(path + ".part", path)',
        "        return found",
        '    kind, is_folder, kept = open(path).read().split("\\n", 2)',
        '    if kind == "int":',
        "        return int(kept)",
        '    place = os.path.normpath(os.path.join(results or "", kept))',
        '    if is_folder == "1":',
        "        os.makedirs(place, exist_ok=True)",
        '    return place if kind == "str" else pathlib.Path(place)',
    ])  # fmt: skip
    return (name,)


def _counts(draft: Draft, call: cst.Call) -> bool:
    """`len(os.listdir(root))`, `max(int(name) for name in os.listdir(root))`."""
    return tail(call.func) in ("len", "max") and any(tail(each.func) in _LISTS for each in draft.calls(call))


def _is_numbering(draft: Draft, call: cst.Call) -> bool:
    """Whether the script's own function that is called gives a place with a number that it has found."""
    name = call.func.value if isinstance(call.func, cst.Name) else ""
    own = [
        (each, function) for each in (draft, *draft.others) for function in each.functions()
        if function.name.value == name and isinstance(each.parent(function), cst.Module)
    ]  # fmt: skip
    if len(own) != 1:
        return False
    home, function = own[0]
    if not any(_finds_number(home, node) for node in home.below(function.body)):
        return False
    given = [node.value for node in home.below(function.body) if isinstance(node, cst.Return)]
    return bool(given) and all(_is_place(home, each, function) for each in given)


def _finds_number(draft: Draft, node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call):
        return _counts(draft, node)
    if isinstance(node, cst.While):
        return _asks(draft, node.test) or any(_asks_in_if(draft, each) for each in draft.below(node.body))
    return isinstance(node, cst.For) and any(_asks_in_if(draft, each) for each in draft.below(node.body))


def _asks_in_if(draft: Draft, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.If) and _asks(draft, node.test)


def _asks(draft: Draft, test: cst.CSTNode) -> bool:
    calls = [*([test] if isinstance(test, cst.Call) else []), *draft.calls(test)]
    return any(tail(call.func) in _ASKS for call in calls)


def _is_place(draft: Draft, given: cst.BaseExpression | None, function: cst.FunctionDef) -> bool:
    """Whether what is given back is a path: a name or a text that a number was put into."""
    if given is None or isinstance(given, cst.Tuple | cst.List | cst.Dict):
        return False
    return any(_NUMBERED.search(draft.source(each)) for each in _made_of(draft, given, function))


def _made_of(draft: Draft, given: cst.BaseExpression, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    yield given
    name = dotted(given)
    for node in draft.below(function.body):
        if name and isinstance(node, cst.Assign) and any(dotted(each.target) == name for each in node.targets):
            yield node.value
