"""Tables that an object begins when it is made, and that its methods add to in each round.

class Table:
    def __init__(self, path):
        self.path = path
        with open(path, "w") as file: …

    def add(self, row):
        with open(self.path, "a") as file: …
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.begun import find_added, is_asked, is_closed_in, mode_of, nowhere_if, path_of
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.state import RULE, Names
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

_SAME = frozenset({"str", "Path", "fspath", "abspath"})


@dataclass(frozen=True)
class Table:
    """A file of an object: its path as the loop can write it, and the paths by which it is begun."""

    spelled: str
    begun: tuple[cst.BaseExpression, ...]


def find_tables(draft: Draft, values: Values) -> list[Table]:
    """The tables of objects that are made before the rounds, and of the one whose method trains."""
    holders = [("self", values.owner)] if values.owner is not None else []
    holders += _objects(draft, values)
    found: dict[str, Table] = {}
    for name, home in holders:
        methods = {each.name.value: each for each in home.body.body if isinstance(each, cst.FunctionDef)}
        first = methods.pop("__init__", None)
        begins = [first, *_run(draft, methods, "self", first.body)] if first is not None else []
        for method in _run(draft, methods, name, values.loop.node.body) if first is not None else ():
            for path in (path for call in draft.calls(method) if (path := _added(draft, call)) is not None):
                paths = tuple(_begun(draft, home, begins, draft.source(path)))
                if not _may_be_none(draft, home, path):
                    found[f"{name}.{tail(path)}"] = Table(f"{name}.{tail(path)}", paths)
    return list(found.values())


def added_to(draft: Draft, values: Values) -> tuple[str, ...]:
    """All files that each round adds to, as expressions that can be written where the loop stands."""
    return (*find_added(draft, values), *(table.spelled for table in find_tables(draft, values)))


def keep_tables(draft: Draft, tables: list[Table], names: Names, places: list[str], value: str) -> None:
    """Let such files not be begun anew after a stop. `value`: the contract's output folder, as the loop reads it."""
    paths = {id(path): path for table in tables for path in table.begun}
    for path in paths.values():
        if value and not value.startswith("os.environ") and not _is_known(draft, value.partition(".")[0], path):
            _say(draft, path)
            continue
        draft.add_before(draft.statement(path), places)
        nowhere_if(draft, path, f"{names.folder} and os.path.exists({names.path})")


def say_tables(draft: Draft, rounds: Set[cst.CSTNode]) -> None:
    """Name those of classes of another file than the loop's: the lines there do not know of the checkpoint."""
    for home in (node for node in draft.nodes if isinstance(node, cst.ClassDef)):
        methods = {each.name.value: each for each in home.body.body if isinstance(each, cst.FunctionDef)}
        first = methods.pop("__init__", None)
        begins = [first, *_run(draft, methods, "self", first.body)] if first is not None else []
        for call in (call for each in methods.values() if each in rounds for call in draft.calls(each)):
            field = _added(draft, call)
            for path in _begun(draft, home, begins, draft.source(field)) if field is not None else ():
                _say(draft, path)


def _say(draft: Draft, path: cst.BaseExpression) -> None:
    said = f"{draft.source(path)} is begun anew in each start: after a stop the rows before it are lost"
    draft.say(Kind.DIFFERS, RULE, path, said, "begin it only where it is not there yet")


def _is_known(draft: Draft, name: str, path: cst.CSTNode) -> bool:
    """Whether what holds the options where the loop stands has the same name where a file is begun."""
    function, home = draft.scope(path), next(each for each in draft.above(path) if isinstance(each, cst.ClassDef))
    if not isinstance(function, cst.FunctionDef) or name == "self":
        return False
    if name in parameters(function):
        place = parameters(function).index(name) - 1
        calls = [call for call in draft.calls() if tail(call.func) == home.name.value]
        given = [named.value if (named := argument(call, name)) else positional(call, place) for call in calls]
        return function.name.value == "__init__" and bool(calls) and all(dotted(each) == name for each in given if each)
    is_own = any(name in targets_of(node) for node in draft.below(function))
    of_module = (each for node in draft.nodes if draft.scope(node) is draft.module for each in targets_of(node))
    return not is_own and (name == "contract" or name in of_module)


def _objects(draft: Draft, values: Values) -> list[tuple[str, cst.ClassDef]]:
    """Names of objects that are made before the loop, each with its class; of a class all must be."""
    start = draft.start(values.loop.top)
    found: list[tuple[str, cst.ClassDef]] = []
    for home in (node for node in draft.nodes if isinstance(node, cst.ClassDef)):
        calls = [call for each in (draft, *draft.others) for call in each.calls() if tail(call.func) == home.name.value]
        made: list[str] = []
        for call in calls:
            line = draft.parent(call)
            target = line.targets[0].target if isinstance(line, cst.Assign) and len(line.targets) == 1 else None
            is_early = draft.scope(call) is values.scope and draft.start(call) < start
            if isinstance(target, cst.Name) and is_early and values.is_surely_there(target.value):
                made += [target.value] if target.value not in values.bound else []
        found += [(name, home) for name in made] if len(set(made)) == len(calls) else []
    return found


def _run(draft: Draft, methods: dict[str, cst.FunctionDef], name: str, block: cst.CSTNode) -> Iterator[cst.FunctionDef]:
    """Methods that a block runs of the object that has a name there, and those that these run."""
    waiting, seen = [(name, block)], set[str]()
    while waiting:
        owner, at = waiting.pop()
        for call in draft.calls(at):
            last = tail(call.func)
            if dotted(call.func) == f"{owner}.{last}" and last in methods and last not in seen:
                seen.add(last)
                waiting.append(("self", methods[last].body))
                yield methods[last]


def _added(draft: Draft, call: cst.Call) -> cst.Attribute | None:
    """The field that holds the path of a file that a call adds to."""
    path = path_of(draft, call) if mode_of(draft, call).startswith("a") else None
    return path if isinstance(path, cst.Attribute) and dotted(path) == f"self.{tail(path)}" else None


def _begun(draft: Draft, home: cst.ClassDef, begins: list[cst.FunctionDef], field: str) -> Iterator[cst.BaseExpression]:
    """The paths by which an object begins the file of a field, also by the name that it was given."""
    values = [
        _plain(node.value) for node in draft.below(home)
        if isinstance(node, cst.Assign) and any(dotted(each.target) == field for each in node.targets)
    ]  # fmt: skip
    spelled = {field, *(draft.source(value) for value in values if isinstance(value, cst.Name))}
    for method in begins:
        for call in draft.calls(method):
            path = path_of(draft, call) if mode_of(draft, call).startswith("w") else None
            if path is not None and draft.source(_plain(path)) in spelled and is_closed_in(draft, call, method):
                yield from () if is_asked(draft, call) else (path,)


def _plain(value: cst.BaseExpression) -> cst.BaseExpression:
    """`path` of `Path(path)`."""
    given = positional(value, 0) if isinstance(value, cst.Call) and tail(value.func) in _SAME else None
    return given if given is not None else value


def _may_be_none(draft: Draft, home: cst.ClassDef, path: cst.Attribute) -> bool:
    """`if self.path is None`, `if self.path:`: whether there may be no file at all."""
    field = re.escape(draft.source(path))
    asked = rf"(?:if|and|or|not)\s+{field}\s*(?::|is\b|and\b|or\b|$)|{field}\s*(?::[^=\n]+)?=\s*None"
    return re.search(asked, draft.source(home), re.M) is not None
