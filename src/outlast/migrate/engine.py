"""One pass over one file: every rule sees every node once and proposes edits; the edits are then applied as text.

The tree is only read. Edits replace spans of bytes and name the text they expect there, so whatever no rule meant to
change is the same byte for byte, and a span that does not hold what it should leaves the whole file alone.
"""

from __future__ import annotations

import ast
import bisect
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan

from outlast.migrate.direction import Direction
from outlast.migrate.names import SCOPES, Names
from outlast.migrate.tree import children


class Kind(StrEnum):
    """What a finding means for the user."""

    CHANGED = "changed"  # the rule rewrote it
    HAND = "by-hand"  # no twin on the other side: somebody must decide
    DIFFERS = "differs"  # runs, but not with the same speed, precision or effect
    KEPT = "kept"  # has the look of a device, but is a name, a key or a text
    UNPARSED = "unparsed"  # the file cannot be read as Python; left alone


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. Lines and columns count from 1."""

    kind: Kind
    rule: str
    line: int
    column: int
    message: str
    advice: str = ""
    before: str = ""
    after: str = ""
    cell: int = 0  # of a notebook, from 1


@dataclass(frozen=True, order=True)
class Edit:
    """Replace `old` at these bytes by `new`."""

    start: int
    end: int
    old: str
    new: str


@dataclass(frozen=True)
class Migrated:
    """A file after its pass. `text` equals the original where nothing was to change."""

    text: str
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()


class Rule:
    """One rewrite. It is shown the node types it asks for and speaks to the `Script`."""

    name: ClassVar[str] = ""
    #: what it does, as a sentence for the docs and for editors
    summary: ClassVar[str] = ""
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = ()

    def look(self, node: Any, script: Script) -> None:
        """See one node; `script.parents` are the nodes around it."""

    def finish(self, script: Script) -> None:
        """After the last node; for what depends on the whole file."""


#: Advice on a change that the opposite direction cannot undo.
ONE_WAY = "the way back does not restore this"


class EditError(Exception):
    """Edits that overlap or do not find the text they expect: a bug of a rule, so the file is left alone."""


@dataclass
class Script:
    """A file under migration: its tree, its names, and what the rules have said so far."""

    text: str
    direction: Direction
    module: cst.Module
    data: bytes = b""
    parents: list[cst.CSTNode] = field(default_factory=list)
    scopes: list[cst.CSTNode] = field(default_factory=list)  # those of the parents that bind names
    edits: list[Edit] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _rule: str = ""
    _claimed: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.data = self.text.encode("utf-8", "surrogatepass")
        # The provider alone: asking through a MetadataWrapper visits the whole tree once more, for nothing.
        provider = ByteSpanPositionProvider()
        provider._gen_impl(self.module)
        self._spans = provider._computed
        self._starts = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", self.data))]
        self.names = Names(self.module)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """First byte of a node and the byte behind it."""
        found = self._spans[node]
        assert isinstance(found, CodeSpan)
        return found.start, found.start + found.length

    def source(self, node: cst.CSTNode) -> str:
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8", "surrogatepass")

    def resolve(self, node: cst.CSTNode | None) -> str:
        """The full dotted name of an expression where the walk stands now."""
        return self.names.resolve(node, self.scopes)

    def parent(self, above: int = 1) -> cst.CSTNode | None:
        return self.parents[-above] if len(self.parents) >= above else None

    def change(self, node: cst.CSTNode, new: str, message: str = "", *, advice: str = "") -> None:
        """Replace a whole node."""
        start, end = self.span(node)
        self.replace(start, end, new, message, advice=advice)

    def replace(self, start: int, end: int, new: str, message: str = "", *, advice: str = "") -> None:
        """Replace a span of bytes. The same edit twice counts once."""
        old = self.data[start:end].decode("utf-8", "surrogatepass")
        edit = Edit(start, end, old, new)
        if old == new or edit in self.edits:
            return
        self.edits.append(edit)
        line, column = self._position(start)
        said = message or (f"{old.strip()} → {new.strip()}" if old.strip() else f"added {new.strip()}")
        self.findings.append(
            Finding(Kind.CHANGED, self._rule, line, column, said, advice, before=old, after=new)
        )  # fmt: skip

    def report(self, node: cst.CSTNode, kind: Kind, message: str, advice: str = "") -> None:
        """Say something about a node and leave it as it is."""
        line, column = self._position(self.span(node)[0])
        finding = Finding(kind, self._rule, line, column, message, advice)
        if finding not in self.findings:
            self.findings.append(finding)

    def is_said(self, node: cst.CSTNode) -> bool:
        """Whether the line of a node has a finding already."""
        line = self._position(self.span(node)[0])[0]
        return any(finding.line == line for finding in self.findings)

    def claim(self, *nodes: cst.CSTNode) -> None:
        """These nodes and all below are dealt with; no other rule sees them."""
        self._claimed.update(id(node) for node in nodes)

    def is_claimed(self, node: cst.CSTNode) -> bool:
        return id(node) in self._claimed

    def is_torch(self) -> bool:
        return bool({"torch", "torch_npu", "torchvision", "pytorch_lightning", "lightning"} & self.names.roots)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._starts, offset)
        before = self.data[self._starts[line - 1] : offset]
        return line, len(before.decode("utf-8", "replace")) + 1

    def walk(self, rules: Sequence[Rule]) -> None:
        """Show every node to the rules that asked for its type, parents first."""
        table: dict[type, list[Rule]] = {}
        for rule in rules:
            for kind in rule.nodes:
                table.setdefault(kind, []).append(rule)
        self._walk(self.module, table)
        for rule in rules:
            self._rule = rule.name
            rule.finish(self)

    def _walk(self, node: cst.CSTNode, table: dict[type, list[Rule]]) -> None:
        for rule in table.get(type(node), ()):
            if id(node) in self._claimed:
                return
            self._rule = rule.name
            rule.look(node, self)
        # An import is one thing: rules see it whole, never its parts.
        if id(node) in self._claimed or isinstance(node, cst.Import | cst.ImportFrom):
            return
        self.parents.append(node)
        is_scope = type(node) in SCOPES
        if is_scope:
            self.scopes.append(node)
        for child in children(node):
            self._walk(child, table)
        self.parents.pop()
        if is_scope:
            self.scopes.pop()

    def result(self) -> Migrated:
        """The text with all edits applied."""
        edits = sorted(self.edits)
        return Migrated(apply(self.data, edits), tuple(edits), tuple(sorted(self.findings, key=_place)))


def apply(data: bytes, edits: Iterable[Edit]) -> str:
    """Replace the spans in one go; overlapping ones are refused."""
    pieces, at = [], 0
    for edit in edits:
        if edit.start < at or data[edit.start : edit.end].decode("utf-8", "surrogatepass") != edit.old:
            raise EditError(f"byte {edit.start}: {edit.old!r}")
        pieces += [data[at : edit.start], edit.new.encode("utf-8", "surrogatepass")]
        at = edit.end
    return b"".join([*pieces, data[at:]]).decode("utf-8", "surrogatepass")


def migrate_text(text: str, direction: Direction, rules: Sequence[Rule] | None = None) -> Migrated:
    """Migrate one Python file. Text that does not parse comes back as it was, with a finding for each device line."""
    from outlast.migrate.repair import Unparsable, parse
    from outlast.migrate.rules import all_rules

    try:
        text_to_read, module = parse(text)
        script = Script(text_to_read, direction, module)
        script.walk(all_rules() if rules is None else rules)
        done = script.result()
        if done.edits:
            must_parse(done.text)
    except Unparsable as error:
        return Migrated(text, findings=unparsed(text, direction, error.line, error.why))
    except RecursionError:
        return Migrated(text, findings=unparsed(text, direction, 1, "nested too deeply"))
    except EditError as error:
        return Migrated(text, findings=unparsed(text, direction, 1, f"cannot be rewritten safely ({error})"))
    except (cst.ParserSyntaxError, cst.CSTValidationError) as error:
        why = f"cannot be rewritten safely (the result would not parse: {error})"
        return Migrated(text, findings=unparsed(text, direction, 1, why))
    return done if done.edits or text_to_read == text else Migrated(text, (), done.findings)


def must_parse(text: str) -> None:
    """The interpreter's own parser is ten times faster; LibCST knows the syntax of other versions, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in the user's strings
            ast.parse(text)
    except (SyntaxError, ValueError):
        cst.parse_module(text)


def unparsed(text: str, direction: Direction, line: int, why: str) -> tuple[Finding, ...]:
    """What is said about a file that stays as it is: why, and where its device words stand."""
    advice = "make the file valid Python 3 first, then migrate again"
    found = [Finding(Kind.UNPARSED, "parse", line, 1, f"left alone: {why}", advice)]
    word = re.compile(rf"(?<![A-Za-z])(?:{'|'.join((*direction.sources, *direction.backends))})(?![A-Za-z])", re.I)
    for number, content in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        hit = word.search(content.partition("#")[0])
        if hit:
            message = f"{hit.group(0)!r} in a file that was left alone"
            found.append(Finding(Kind.HAND, "parse", number, hit.start() + 1, message, advice))
    return tuple(found)


def _place(finding: Finding) -> tuple[int, int, int, str]:
    return finding.cell, finding.line, finding.column, finding.kind
