"""A script under adaptation: its tree, who lies in whom, and the edits that are to become one diff.

The tree is only read. Edits replace bytes and name what they expect there, as in `outlast.migrate`, so that formatting
and comments stay. Lines that are added at one place keep the order in which they were added.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from outlast.adapt.edits import Edits
from outlast.migrate.engine import Finding, Kind, apply
from outlast.migrate.lines import line_end, line_start
from outlast.migrate.names import Names
from outlast.migrate.tree import children, dotted

Scope = cst.Module | cst.FunctionDef
_ENDING = re.compile(r"\r\n|\r|\n")


class Draft:
    """One file; every question about its tree, and the place where edits and findings gather."""

    def __init__(self, text: str, beside: frozenset[str] = frozenset()) -> None:
        """`beside`: modules that lie in the script's folder, and so come before packages of the same name."""
        self.text = text
        self._beside = beside
        self.data = text.encode()
        self.module = cst.parse_module(text)
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        self._spans = wrapper.resolve(ByteSpanPositionProvider)
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]
        self.names = Names(self.module)
        self.nodes: list[cst.CSTNode] = []
        self._parents: dict[int, cst.CSTNode] = {}
        self._gather()
        self.words = frozenset(node.value for node in self.nodes if isinstance(node, cst.Name))
        self.findings: list[Finding] = []
        self._edits = Edits(self.data)
        self._added: dict[int, list[str]] = {}
        self._taken: set[str] = set()
        self._imports: list[str] = []
        self._top: list[str] = []
        self._once: dict[str, tuple[str, ...]] = {}
        ending = _ENDING.search(text)
        self.newline = ending.group(0) if ending else "\n"
        self.indent = self.module.default_indent

    def _gather(self) -> None:
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            below = list(children(node))
            self._parents.update((id(child), node) for child in below)
            waiting += reversed(below)

    # ---- the tree

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around one, from the nearest outwards."""
        at = self._parents.get(id(node))
        while at is not None:
            yield at
            at = self._parents.get(id(at))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        return self._parents.get(id(node))

    def scope(self, node: cst.CSTNode) -> Scope:
        """The function that a node runs in, or the module. Defaults and decorators run outside their function."""
        before: cst.CSTNode = node
        for each in self.above(node):
            if isinstance(each, cst.FunctionDef) and not isinstance(before, cst.Parameters | cst.Decorator):
                return each
            before = each
        return self.module

    def statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement of its block that holds a node."""
        at = node
        for each in self.above(node):
            if isinstance(each, cst.IndentedBlock | cst.Module):
                return at
            at = each
        return at

    def top_statement(self, node: cst.CSTNode) -> cst.CSTNode:
        """The statement of the module that holds a node."""
        chain = [node, *self.above(node)]
        return chain[-2] if len(chain) > 1 else node

    def functions(self) -> Iterator[cst.FunctionDef]:
        return (node for node in self.nodes if isinstance(node, cst.FunctionDef))

    def below(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        waiting = list(children(node))[::-1]
        while waiting:
            at = waiting.pop()
            yield at
            waiting += list(children(at))[::-1]

    def calls(self, within: cst.CSTNode | None = None) -> Iterator[cst.Call]:
        for node in self.nodes if within is None else self.below(within):
            if isinstance(node, cst.Call):
                yield node

    def is_reached(self, node: cst.CSTNode) -> bool:
        """False in a function that nothing in this file names: one for other files to import."""
        function = self.scope(node)
        return not isinstance(function, cst.FunctionDef) or any(
            isinstance(each, cst.Name) and each.value == function.name.value and each is not function.name
            and not (isinstance(parent := self.parent(each), cst.Attribute) and parent.attr is each)
            for each in self.nodes
        )  # fmt: skip

    def resolve(self, node: cst.CSTNode | None) -> str:
        """The full dotted name of an expression, through imports; empty for anything local."""
        name = "" if node is None else self.names.resolve(node, list(self.above(node))[::-1])
        # As in an import from the folder itself: no library that is known has such a name.
        return f".{name}" if name.partition(".")[0] in self._beside else name

    @property
    def first(self) -> cst.CSTNode:
        """The first statement of the module behind its docstring and its imports.

        What is set up between imports (`sys.path.append("..")`, `os.environ["X"] = "1"`) lies among them.
        """
        body = self.module.body
        for at, statement in enumerate(body):
            if _is_import(statement) or (at == 0 and is_docstring(statement)):
                continue
            rest = next((each for each in body[at:] if not _is_preparing(each)), None)
            if rest is None or not _is_import(rest):
                return statement
        return body[-1]

    # ---- places

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        found = self._spans[node]
        return found.start, found.start + found.length

    def source(self, node: cst.CSTNode) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode()

    def start(self, node: cst.CSTNode) -> int:
        return self.span(node)[0]

    def line(self, node: cst.CSTNode) -> int:
        return self.line_at(self.start(node))

    def line_at(self, byte: int) -> int:
        return bisect.bisect_right(self._starts, byte)

    def lead(self, statement: cst.CSTNode) -> str:
        """What a statement is indented with."""
        start = self.start(statement)
        return self.data[line_start(self.data, start) : start].decode()

    def stands_alone(self, statement: cst.CSTNode) -> bool:
        """Whether lines can be put around it: `if x: train()` holds two statements on one line."""
        return not self.lead(statement).strip() and not isinstance(self.parent(statement), cst.SimpleStatementSuite)

    # ---- edits

    def replace(self, node: cst.CSTNode, new: str) -> None:
        self._edits.replace(*self.span(node), new)

    def change(self, start: int, end: int, new: str) -> None:
        """Put text in place of some bytes."""
        self._edits.change(start, end, new)

    def insert(self, at: int, new: str) -> None:
        """Put text between two bytes."""
        self._edits.change(at, at, new)

    def add_before(self, statement: cst.CSTNode, lines: Sequence[str]) -> None:
        """Put lines before a statement (its decorators and comments included), indented like it."""
        first = min([self.start(statement), *(self.start(each) for each in getattr(statement, "decorators", ()))])
        self._add(line_start(self.data, first), self.lead(statement), lines)

    def add_after(self, statement: cst.CSTNode, lines: Sequence[str]) -> None:
        """Put lines behind a statement, indented like it."""
        self._add(line_end(self.data, self.span(statement)[1]), self.lead(statement), lines)

    def add_at_end(self, block: cst.BaseSuite, lines: Sequence[str]) -> None:
        """Put lines behind the last statement of a block."""
        assert isinstance(block, cst.IndentedBlock)
        self.add_after(block.body[-1], lines)

    def add_on_top(self, lines: Sequence[str]) -> None:
        """Put lines behind the imports at the top of the module, with an empty one between parts."""
        self._top += ["", *lines] if self._top else lines

    def _behind_imports(self) -> tuple[int, bool]:
        """The byte behind the last import at the top, or the file's first statement where there is none."""
        before = self._header()
        if before:
            return line_end(self.data, self.span(before[-1])[1]), False
        decorators = getattr(self.first, "decorators", ())
        return line_start(self.data, min(self.start(each) for each in (self.first, *decorators))), True

    def _add(self, at: int, lead: str, lines: Sequence[str]) -> None:
        text = [lead + self._indented(line) if line else "" for line in lines]
        self._added.setdefault(at, []).extend(text)

    def _indented(self, line: str) -> str:
        rest = line.lstrip(" ")
        return self.indent * ((len(line) - len(rest)) // 4) + rest

    def need_import(self, *modules: str) -> None:
        """Import modules ahead of everything that is added, where the file does not yet."""
        for module in modules:
            if module not in self._imports and not self._is_imported_on_top(module):
                self._imports.append(module)

    def _is_imported_on_top(self, module: str) -> bool:
        """Whether lines behind the first imports can use a module: one that is imported further down comes too late."""
        names = [
            each.asname.name if each.asname is not None else each.name
            for statement in self._header() for line in self.below(statement) if isinstance(line, cst.Import)
            for each in line.names
        ]  # fmt: skip
        is_known = self.names.name_for(module, [self.module]) == module
        return is_known and any(dotted(name).partition(".")[0] == module for name in names)

    def _header(self) -> Sequence[cst.CSTNode]:
        """Everything before `first`."""
        return list(itertools.takewhile(lambda statement: statement is not self.first, self.module.body))

    def is_unbound(self, name: str) -> bool:
        """Whether the script has nothing of that name: attributes and modules that are imported from do not count."""
        return not any(
            isinstance(node, cst.Name) and node.value == name
            and not (isinstance(parent := self.parent(node), cst.Attribute) and parent.attr is node)
            and not self._is_imported_from(node)
            for node in self.nodes
        )  # fmt: skip

    def _is_imported_from(self, node: cst.CSTNode) -> bool:
        """Whether a name is part of the module in `from numpy.random import shuffle`."""
        around = next((each for each in self.above(node) if isinstance(each, cst.ImportFrom | cst.ImportAlias)), None)
        return isinstance(around, cst.ImportFrom)

    def free(self, name: str) -> str:
        """This name, or one like it that the script does not use; reserved from now on."""
        while name in self.words or name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def once(self, what: str, make: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        """Names of helpers that several places share: made when the first one asks."""
        if what not in self._once:
            self._once[what] = make()
        return self._once[what]

    def say(self, kind: Kind, rule: str, node: cst.CSTNode, message: str, advice: str = "") -> None:
        finding = Finding(kind, rule, self.line(node), 1, message, advice)
        if finding not in self.findings:
            self.findings.append(finding)

    def result(self) -> str:
        """The text with all edits. `Meeting` where two of them meet, `ParserSyntaxError` where the result is none."""
        top = [*(f"import {module}" for module in self._imports), *(["", *self._top] if self._top else [])]
        if top:
            at, is_bare = self._behind_imports()
            self._added.setdefault(at, [])[:0] = [*top, ""] if is_bare else top
        for at, lines in self._added.items():
            joined = "".join(line + self.newline for line in lines)
            unfinished = at and not self.data[:at].endswith((b"\n", b"\r"))
            self._edits.add_lines(at, self.newline + joined.removesuffix(self.newline) if unfinished else joined)
        edits = self._edits.ordered()
        text = apply(self.data, edits) if edits else self.text
        cst.parse_module(text)
        return text


def is_docstring(statement: cst.CSTNode) -> bool:
    first = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString | cst.ConcatenatedString)


#: What scripts set up before they import more.
_PREPARED = re.compile(r"(?:sys\.path|os\.environ|warnings|matplotlib|mpl|logging|plt)\b")


def _is_preparing(statement: cst.CSTNode) -> bool:
    """`sys.path.append(…)`, `os.environ["X"] = "1"`, `matplotlib.use("Agg")`."""
    line = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
    at: cst.CSTNode | None = None
    if isinstance(line, cst.Expr) and isinstance(line.value, cst.Call):
        at = line.value.func
    elif isinstance(line, cst.Assign) and isinstance(line.targets[0].target, cst.Subscript):
        at = line.targets[0].target.value
    return at is not None and bool(_PREPARED.match(dotted(at)))


def _is_import(statement: cst.CSTNode) -> bool:
    if isinstance(statement, cst.SimpleStatementLine):
        return all(isinstance(each, cst.Import | cst.ImportFrom) for each in statement.body)
    if isinstance(statement, cst.Try) and isinstance(statement.body, cst.IndentedBlock):
        return all(_is_import(each) for each in statement.body.body)
    return False
