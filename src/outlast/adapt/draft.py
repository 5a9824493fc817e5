"""A script under adaptation: its tree, who lies in whom, and the edits that are to become one diff.

The tree is only read. Edits replace bytes and name what they expect there, as in `outlast.migrate`, so that formatting
and comments stay. Lines that are added at one place keep the order in which they were added.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from outlast.adapt.annotated import without_types
from outlast.adapt.defined import Defined
from outlast.adapt.edits import Edits
from outlast.adapt.headers import ahead_of_others, behind_imports, behind_standard
from outlast.adapt.libraries import is_library
from outlast.adapt.signatures import fits, skipped
from outlast.adapt.statements import indented, is_imported_from, of_module
from outlast.migrate.engine import Finding, Kind, apply, must_parse
from outlast.migrate.lines import line_end, line_start
from outlast.migrate.names import Names
from outlast.migrate.tree import children, dotted, tail

Scope = cst.Module | cst.FunctionDef
_OS = re.compile(r"\bos\.(?=environ|path|makedirs)")
_ENDING = re.compile(r"\r\n|\r|\n")


class Draft(Defined):
    """One file; every question about its tree, and the place where edits and findings gather."""

    def __init__(self, text: str, beside: frozenset[str] = frozenset()) -> None:
        """`beside`: modules that lie in the script's folder, and so come before packages of the same name."""
        super().__init__()
        self.text, self._beside = text, beside
        self.data = text.encode()
        self.module = cst.parse_module(text)
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        self._spans = without_types(self.module, wrapper.resolve(ByteSpanPositionProvider))
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]
        self.names = Names(self.module)
        self._parents: dict[int, cst.CSTNode] = {}
        self._gather()
        self.words = frozenset(node.value for node in self.of(cst.Name))
        self._spoken: dict[str, bool] = {}
        self.findings: list[Finding] = []
        #: the other files of the same program, as far as they were read
        self.others: tuple[Draft, ...] = ()
        self.is_listed = False  # somebody goes through all names of this module: no other may be added
        self.composed: tuple[Draft, ...] = ()  # modules whose names it puts together when it runs
        #: modules of the program by the names that they are imported by, up to the first dot
        self.seen: frozenset[str] = frozenset()
        #: tree → file, for all files of the program
        self._homes: dict[int, Draft] = {id(self.module): self}
        self._opened: list[Draft] = []
        self._resolved: dict[int, tuple[cst.CSTNode | None, str]] = {}
        self._edits = Edits(self.data)
        self._added: dict[int, list[str]] = {}
        self._taken: set[str] = set()
        self._imports: list[str] = []
        self._early: set[str] = set()  # imported ahead of all others
        self._top: list[str] = []
        self._once: dict[str, tuple[str, ...]] = {}
        ending = _ENDING.search(text)
        self.newline = ending.group(0) if ending else "\n"
        self.indent = self.module.default_indent

    def again(self) -> Draft:
        """The same file with nothing said or changed yet: to find out what would be done."""
        found = Draft(self.text, self._beside)
        found.others, found.seen, found.is_listed = self.others, self.seen, self.is_listed
        found._parents = {**self._parents, **found._parents}
        found._spans = {**self._spans, **found._spans}
        found._homes = {**self._homes, **found._homes}
        for each in self._opened:
            found.open(each)
        return found

    def open(self, other: Draft) -> None:
        """Know what a star import brings: everything that another file of the program imports at its top."""
        self._opened.append(other)
        self._resolved.clear()
        self.names.open(self.module, other.names, other.module)

    def home(self, node: cst.CSTNode) -> Draft:
        """The file of the program that a node is part of."""
        above = [node, *self.above(node)]
        return self._homes.get(id(above[-1]), self)

    def _gather(self) -> None:
        waiting: list[cst.CSTNode] = [self.module]
        while waiting:
            node = waiting.pop()
            self.nodes.append(node)
            below = list(children(node))
            self._parents.update((id(child), node) for child in below)
            waiting += reversed(below)

    @property
    def is_module(self) -> bool:
        """Whether it is part of a program of several files: what it is handed may be found in the others."""
        return bool(self.others)

    def lie_beside(self, modules: frozenset[str]) -> None:
        """These modules are the program's own, whatever libraries have the same name."""
        self._beside |= modules
        self._resolved.clear()

    def leave_out(self, statements: Sequence[cst.CSTNode]) -> None:
        """Forget parts of the file that are never run."""
        gone = {id(node) for each in statements for node in (each, *self.below(each))}
        self.nodes = [node for node in self.nodes if id(node) not in gone]
        self.forget_names()

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
            if type(each) is cst.FunctionDef and not isinstance(before, cst.Parameters | cst.Decorator):
                return each
            before = each
        return before if isinstance(before, cst.Module) else self.module

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

    def may_be_ours(self, call: cst.Call) -> bool:
        """Whether a call may be of a function or method of the program, by its name and by what it is given."""
        full = self.resolve(call.func)
        if full.partition(".")[0] and is_library(full):
            return False
        own = [each for file in (self, *self.others) for each in file.functions() if each.name.value == tail(call.func)]
        return any(fits(call, each, skipped(each, self.above(each))) for each in own)

    def is_reached(self, node: cst.CSTNode) -> bool:
        """False in a function that nothing names, in this file or in another one of the program."""
        function = self.scope(node)
        name = function.name.value if isinstance(function, cst.FunctionDef) else ""
        is_method = any(isinstance(each, cst.ClassDef) for each in self.above(function))
        is_sure = not name or (is_method and name.startswith("__")) or any(each.speaks_of(name) for each in self.others)
        return is_sure or any(
            each is not getattr(function, "name", None)
            and (is_method or not (isinstance(parent := self.parent(each), cst.Attribute) and parent.attr is each))
            for each in self.named(name)
        )

    def speaks_of(self, word: str) -> bool:
        """Whether a file has a word for something other than what a library calls so: `torch.load`."""
        if word in self.words and word not in self._spoken:
            around = [self.parent(node) for node in self.named(word)]
            if any(isinstance(each, cst.FunctionDef) and each.name.value == word for each in self.module.body):
                around = [each for each in around if isinstance(each, cst.Attribute)]  # the bare word is its own
            self._spoken[word] = not all(self.is_of_library(each) for each in around)
        return self._spoken.get(word, False)

    def is_of_library(self, node: cst.CSTNode | None) -> bool:
        """Whether something is a part of a library: `torch.load`."""
        return isinstance(node, cst.Attribute) and is_library(self.resolve(node))

    def resolve(self, node: cst.CSTNode | None) -> str:
        """The full dotted name of an expression, through imports; empty for anything local."""
        # The node is kept with its name: no other has its id as long as it is there.
        found = self._resolved.get(id(node))
        if found is None:
            found = self._resolved[id(node)] = (node, self._resolve(node))
        return found[1]

    def _resolve(self, node: cst.CSTNode | None) -> str:
        above = [] if node is None else list(self.above(node))
        home = self._homes.get(id(above[-1]), self) if above else self
        name = "" if node is None else home.names.resolve(node, above[::-1]) or of_module(node)
        # The public names of Keras 3 stand below `api`, too.
        name = re.sub(r"^keras\.api\b", "keras", name)
        # As in an import from the folder itself: no library that is known has such a name.
        return f".{name}" if name.partition(".")[0] in self._beside else name

    @property
    def first(self) -> cst.CSTNode:
        """The first statement of the module behind its docstring and its imports."""
        return behind_imports(self.module)

    # ---- places

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        found = self._spans[node]
        return found.start, found.start + found.length

    def source(self, node: cst.CSTNode) -> str:
        start, end = self.span(node)
        data = self.data if not self.others else self.home(node).data
        return data[start:end].decode()

    def later(self, node: cst.CSTNode, hidden: Set[str] = frozenset()) -> str:
        """The text of a node when all is changed, for lines that are added where the `hidden` names mean others."""
        return self._edits.later(*self.span(node), hidden)

    def start(self, node: cst.CSTNode) -> int:
        return self.span(node)[0]

    def line(self, node: cst.CSTNode) -> int:
        return self.line_at(self.start(node))

    def first_line(self, statement: cst.CSTNode) -> int:
        """The line of a statement, or of its first decorator."""
        return min(self.line(each) for each in (statement, *getattr(statement, "decorators", ())))

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

    def enclose(self, node: cst.CSTNode, before: str, after: str) -> None:
        """Put text around a node, and around whatever else is changed there."""
        self._edits.enclose(*self.span(node), before, after)

    def add_before(self, statement: cst.CSTNode, lines: Sequence[str]) -> None:
        """Put lines before a statement (its decorators and comments included), indented like it."""
        first = min([self.start(statement), *(self.start(each) for each in getattr(statement, "decorators", ()))])
        self._add(line_start(self.data, first), self.lead(statement), lines)

    def import_before(self, statement: cst.CSTNode, modules: Sequence[str], lines: Sequence[str]) -> None:
        """Put lines before an import at the top, and what they need that is not imported there yet."""
        body = self.module.body
        before = {
            dotted(each.name) for node in itertools.takewhile(lambda each: each is not statement, body)
            for line in self.below(node) if isinstance(line, cst.Import) for each in line.names if each.asname is None
        }  # fmt: skip
        missing = [module for module in modules if module not in before]
        self._early |= set(modules)
        self.add_before(statement, [*(f"import {each}" for each in missing), *([""] if missing else []), *lines, ""])

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

    def _among_imports(self) -> tuple[int, bool]:
        """The byte where imports of the standard library have their place, and whether it is ahead of all others."""
        last = behind_standard(self._header())
        if last is not None:
            return line_end(self.data, self.span(last)[1]), False
        first = ahead_of_others(self._header(), self.module)
        return (-1, False) if first is None else (line_start(self.data, self.start(first)), True)

    def _add(self, at: int, lead: str, lines: Sequence[str]) -> None:
        # Some files are indented in two ways; what is around tells which one holds here.
        unit = self.indent if not lead or lead[0] in self.indent else "\t" if lead[0] == "\t" else " " * 4
        text = [lead + indented(line, unit) if line else "" for line in lines]
        self._added.setdefault(at, []).extend(text)

    def need_import(self, *modules: str) -> None:
        """Import modules ahead of everything that is added, where the file does not yet."""
        for module in modules:
            if module not in self._imports and module not in self._early and not self._is_imported_on_top(module):
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
            not (isinstance(parent := self.parent(node), cst.Attribute) and parent.attr is node)
            and not is_imported_from(self.above(node))
            for node in self.named(name)
        )

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

    @property
    def is_touched(self) -> bool:
        """Whether anything is to be changed."""
        return bool(self._added or self._top or self._edits.ordered())

    def say(self, kind: Kind, rule: str, node: cst.CSTNode, message: str, advice: str = "") -> None:
        finding = Finding(kind, rule, self.line(node), 1, message, advice)
        if finding not in self.findings:
            self.findings.append(finding)

    def result(self) -> str:
        """The text with all edits. `Meeting` where two of them meet, `ParserSyntaxError` where the result is none."""
        imports = [] if self.is_listed else [f"import {module}" for module in self._imports]
        at, is_ahead = self._among_imports() if imports else (-1, False)
        top = [*([] if at >= 0 else imports), *(["", *self._top] if self._top else [])]
        if top:
            behind, is_bare = self._behind_imports()
            self._added.setdefault(behind, [])[:0] = [*top, ""] if is_bare else top
        if at >= 0:
            self._added.setdefault(at, [])[:0] = [*imports, ""] if is_ahead else imports
        for at, lines in self._added.items():
            joined = "".join(line + self.newline for line in lines)
            unfinished = at and not self.data[:at].endswith((b"\n", b"\r"))
            self._edits.add_lines(at, self.newline + joined.removesuffix(self.newline) if unfinished else joined)
        edits = self._edits.ordered()
        if self.is_listed:
            edits = [replace(edit, new=_OS.sub('__import__("os").', edit.new)) for edit in edits]
        if not edits:
            return self.text
        text = apply(self.data, edits)
        must_parse(text)
        return text


def meet(drafts: Sequence[Draft]) -> None:
    """Let files be parts of one program: each can be asked of the nodes of all."""
    # One table for all of them: a program may have dozens of files.
    parents = {at: node for draft in drafts for at, node in draft._parents.items()}
    spans = {node: span for draft in drafts for node, span in draft._spans.items()}
    homes = {at: home for draft in drafts for at, home in draft._homes.items()}
    for draft in drafts:
        draft.others = tuple(each for each in drafts if each is not draft)
        draft._parents, draft._spans, draft._homes = parents, spans, homes
        draft._resolved.clear()
