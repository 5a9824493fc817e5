"""Names without a value: the last look at a change before it is given out.

What a change adds uses names of the script and brings names of its own. That each of them has a value where it is read
follows from many decisions; here it is asked once more, of the text alone.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

_ALWAYS = frozenset(
    {*dir(builtins), "__file__", "__path__", "__annotations__", "__class__", "__module__", "__qualname__"}
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Unbound:
    """A name that is read in a function, a class or at the top before anything there or around has given it a value."""

    name: str
    within: str
    line: int = field(compare=False)


def newly_unbound(before: str, after: str) -> Unbound | None:
    """The first name that is read without a value in the changed text, and was not in the original."""
    try:
        found = _unbound(after)
        old = set(_unbound(before)) if found else set()
    except (SyntaxError, RecursionError):  # LibCST reads more than this Python does
        return None
    return next((each for each in found if each not in old), None)


def _unbound(text: str) -> list[Unbound]:
    tree = ast.parse(text)
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return []  # what these bring is not known
    reading = _Reading(_declared_global(tree))
    reading.block(tree.body)
    reading.functions()
    return reading.found


def _declared_global(tree: ast.Module) -> set[str]:
    """What functions give a value at the top, whenever they are called."""
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


class _Reading:
    """One scope, statement by statement, as it stands; what one branch binds is bound for all that follows.

    Functions are read last, when everything around them is bound, as they are called from anywhere.
    """

    def __init__(self, bound: set[str], around: frozenset[str] = frozenset(), within: str = "") -> None:
        self.bound, self.around, self.within = bound, around, within
        self.found: list[Unbound] = []
        self._later: list[tuple[ast.AST, str]] = []
        self._of_comprehensions: set[str] = set()  # functions in them see these

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def functions(self) -> None:
        visible = self.around | self.bound | self._of_comprehensions
        for node, within in self._later:
            self.found += _read_function(node, visible, within)

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            self._name(node)
        elif isinstance(node, _FUNCTIONS):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self._all([node.test] if isinstance(node, ast.While) else [node.iter, node.target])
            self.bound |= _own_names(node.body)  # the round before may have bound what this one reads
            self.block([*node.body, *node.orelse])
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            self._assigned(node)
        else:
            self.bound.update(_names_given(node))
            self._all(ast.iter_child_nodes(node))

    def _all(self, nodes: Iterator[ast.AST] | list[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def _assigned(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._read(node.target.id, node.lineno)
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return
        self._all([*([node.value] if node.value is not None else []), *targets])

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node.id, node.lineno)
        else:
            self.bound.add(node.id)  # `del` too: whoever reads it behind that does so in the original as well

    def _read(self, name: str, line: int) -> None:
        if name not in self.bound and name not in self.around and name not in _ALWAYS:
            self.found.append(Unbound(name, self.within, line))

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        name = "" if isinstance(node, ast.Lambda) else node.name
        self._all([*getattr(node, "decorator_list", []), *node.args.defaults, *filter(None, node.args.kw_defaults)])
        if name:
            self.bound.add(name)
        self._later.append((node, f"{self.within}.{name}"))

    def _class(self, node: ast.ClassDef) -> None:
        self._all([*node.decorator_list, *node.bases, *(each.value for each in node.keywords)])
        inner = _Reading(set(), frozenset(self.around | self.bound), f"{self.within}.{node.name}")
        inner.block(node.body)
        self.found += inner.found
        self._later += inner._later  # methods do not see the names of their class
        self.bound.add(node.name)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        held = set(self.bound)
        for each in node.generators:
            self._all([each.iter, each.target, *each.ifs])
        self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._of_comprehensions |= self.bound - held
        self.bound = held | _walrus_names(node)


def _read_function(node: ast.AST, around: frozenset[str], within: str) -> list[Unbound]:
    assert isinstance(node, _FUNCTIONS)
    args = node.args
    given = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
    body: list[ast.stmt] = [ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body
    own = _own_names(body)
    free = {name for each in _below(body) if isinstance(each, ast.Global | ast.Nonlocal) for name in each.names}
    reading = _Reading({each.arg for each in given} | free, around - (own - free), within)
    reading.block(body)
    reading.functions()
    return reading.found


def _own_names(body: list[ast.stmt]) -> set[str]:
    """What a function binds anywhere is its own everywhere in it."""
    own = set()
    for node in _below(body):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(node.name)
        own.update(_names_given(node))
    return own


def _below(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """All nodes of a scope without those of the functions, classes and comprehensions in it."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)):
            waiting += ast.iter_child_nodes(node)
        elif isinstance(node, _COMPREHENSIONS):
            waiting += [each for each in ast.walk(node) if isinstance(each, ast.NamedExpr)]


def _walrus_names(node: ast.AST) -> set[str]:
    return {each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}


def _names_given(node: ast.AST) -> set[str]:
    """Names that a node binds as texts."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(each.asname or each.name).partition(".")[0] for each in node.names}
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    return set()
