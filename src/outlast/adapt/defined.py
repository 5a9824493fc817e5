"""What lies where in a file and the names of what it defines, kept as long as its parts stay the same."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

import libcst as cst

from outlast.migrate.tree import children, tail

_KEPT = (
    "_by_kind", "_by_name", "_by_word", "names_run", "all_functions", "all_calls", "all_assigns", "function_names",
    "class_names", "assigned_names", "star_imports", "bindings",
)  # fmt: skip
_BINDING = frozenset((cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.WithItem))
_Node = TypeVar("_Node", bound=cst.CSTNode)


class _Inside:
    """Everything below a node, in source order: the same loops and functions are asked of again and again."""

    def __init__(self, node: cst.CSTNode) -> None:
        self.node = node  # as long as it is kept here, no other node has its id
        self.nodes: list[cst.CSTNode] = []
        waiting = list(children(node))[::-1]
        while waiting:
            at = waiting.pop()
            self.nodes.append(at)
            waiting += list(children(at))[::-1]
        self.calls = [each for each in self.nodes if isinstance(each, cst.Call)]


class Defined:
    """A file by its nodes."""

    def __init__(self) -> None:
        self.nodes: list[cst.CSTNode] = []
        self._insides: dict[int, _Inside] = {}

    def below(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        return iter(self._inside(node).nodes)

    def calls(self, within: cst.CSTNode | None = None) -> Iterator[cst.Call]:
        return iter(self.all_calls if within is None else self._inside(within).calls)

    def _inside(self, node: cst.CSTNode) -> _Inside:
        found = self._insides.get(id(node))
        if found is None:
            found = self._insides[id(node)] = _Inside(node)
        return found

    def of(self, kind: type[_Node]) -> Sequence[_Node]:
        """All nodes of one kind, which is no other's base, in source order."""
        return cast(Sequence[_Node], self._by_kind.get(kind, ()))

    @functools.cached_property
    def bindings(self) -> tuple[cst.CSTNode, ...]:
        """Everything that gives one or several targets a value, in source order."""
        return tuple(node for node in self.nodes if type(node) in _BINDING)

    def named(self, word: str) -> Sequence[cst.Name]:
        """Everywhere the word stands as a name, or as part of one, in source order."""
        return self._by_word.get(word, ())

    def calls_named(self, *names: str) -> Sequence[cst.Call]:
        """The calls whose function ends with one of these names, in source order."""
        found = [each for name in dict.fromkeys(names) for each in self._by_name.get(name, ())]
        return [call for _, call in (sorted(found, key=lambda each: each[0]) if len(names) > 1 else found)]

    @functools.cached_property
    def _by_kind(self) -> Mapping[type, Sequence[cst.CSTNode]]:
        found: dict[type, list[cst.CSTNode]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    @functools.cached_property
    def _by_word(self) -> Mapping[str, Sequence[cst.Name]]:
        found: dict[str, list[cst.Name]] = defaultdict(list)
        for node in self.of(cst.Name):
            found[node.value].append(node)
        return found

    @functools.cached_property
    def _by_name(self) -> Mapping[str, Sequence[tuple[int, cst.Call]]]:
        found: dict[str, list[tuple[int, cst.Call]]] = defaultdict(list)
        for at, call in enumerate(self.all_calls):
            found[tail(call.func)].append((at, call))
        return found

    @functools.cached_property
    def names_run(self) -> frozenset[str]:
        """Every name in what is run of the file."""
        return frozenset(self._by_word)

    def functions(self) -> Iterator[cst.FunctionDef]:
        return iter(self.all_functions)

    @functools.cached_property
    def all_functions(self) -> tuple[cst.FunctionDef, ...]:
        return tuple(self.of(cst.FunctionDef))

    @functools.cached_property
    def all_calls(self) -> tuple[cst.Call, ...]:
        return tuple(self.of(cst.Call))

    @functools.cached_property
    def all_assigns(self) -> tuple[cst.Assign, ...]:
        return tuple(self.of(cst.Assign))

    @functools.cached_property
    def function_names(self) -> frozenset[str]:
        """Functions and methods."""
        return frozenset(function.name.value for function in self.functions())

    @functools.cached_property
    def class_names(self) -> frozenset[str]:
        return frozenset(node.name.value for node in self.of(cst.ClassDef))

    @functools.cached_property
    def assigned_names(self) -> frozenset[str]:
        return frozenset(tail(node.target) for node in self.of(cst.AssignTarget))

    @functools.cached_property
    def star_imports(self) -> tuple[cst.ImportFrom, ...]:
        """`from data import *`."""
        return tuple(node for node in self.of(cst.ImportFrom) if isinstance(node.names, cst.ImportStar))

    def renamed(self) -> Iterator[tuple[str, str]]:
        """What is imported by another name: `from .train import run as fit`."""
        for node in self.of(cst.ImportAlias):
            if node.asname is not None:
                yield tail(node.asname.name), tail(node.name)

    def forget_names(self) -> None:
        """After some nodes are gone."""
        for name in _KEPT:
            self.__dict__.pop(name, None)
