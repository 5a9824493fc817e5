"""An archive that a script fetches and unpacks in every start, where it reads what comes out of it.

`archive = requests.get(url)`, `ZipFile(BytesIO(archive.content)).extractall()`: statements that do nothing else, and of
which nothing but files is left. They are left out when the contract brings what they unpack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.fetched_files import is_request
from outlast.adapt.placing.fetchers import constant
from outlast.adapt.placing.paths import Paths
from outlast.migrate.engine import Kind
from outlast.migrate.lines import line_start
from outlast.migrate.tree import argument, positional, tail

_UNPACKS = frozenset({"extractall", "extract", "unpack_archive"})
#: what else is called on the way from an address to its files
_ON_THE_WAY = frozenset("open ZipFile TarFile BytesIO read print close raise_for_status info getmembers".split())
_ENDS = re.compile(r"(?:\.(?:tar|zip|t?gz|tgz|bz2|xz|7z))+$")
#: statements that one archive takes, more than any script has
_AT_MOST = 6


@dataclass(frozen=True)
class Unpacking:
    """Statements that stand together, and the folder that they leave, as the script reads it."""

    statements: tuple[cst.CSTNode, ...]
    folder: str


def find_unpacking(draft: Draft, paths: Paths) -> list[Unpacking]:
    """Those whose files are read from the contract's folder."""
    read = {site.text.removeprefix("./").rstrip("/") for site in paths.sites.get(Role.DATA, ())}
    found = []
    for together in _runs(draft):
        for folder in _left(draft, together):
            if any(text == folder or text.startswith(f"{folder}/") for text in read):
                found.append(Unpacking(together, folder))
                break
    return found


def _runs(draft: Draft) -> Iterator[tuple[cst.CSTNode, ...]]:
    """Statements from one that asks the network to the one that unpacks, where they do nothing else."""
    for call in draft.calls():
        statement = next((each for each in draft.above(call) if _is_whole(draft, each)), None)
        block = draft.parent(statement) if statement is not None else None
        if not is_request(draft, call) or not isinstance(block, cst.Module | cst.IndentedBlock):
            continue
        at = next(index for index, each in enumerate(block.body) if each is statement)
        for end in range(at + 1, min(at + _AT_MOST, len(block.body)) + 1):
            together = tuple(block.body[at:end])
            if any(tail(each.func) in _UNPACKS for part in together for each in draft.calls(part)):
                if _is_apart(draft, together):
                    yield together
                break


def _is_whole(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether a node is a statement, of a function or of the module, that is run in every start."""
    block = draft.parent(node)
    home = draft.parent(block) if isinstance(block, cst.IndentedBlock) else block
    return isinstance(home, cst.Module | cst.FunctionDef) or (isinstance(home, cst.If) and _is_start(draft, home))


def _is_start(draft: Draft, node: cst.If) -> bool:
    return "__name__" in draft.source(node.test)


def _is_apart(draft: Draft, together: Sequence[cst.CSTNode]) -> bool:
    """Whether statements only fetch and unpack, and nothing else uses what they bind."""
    inside = {id(node) for part in together for node in draft.below(part)}
    for part in together:
        if not isinstance(part, cst.SimpleStatementLine | cst.With | cst.For) or not draft.stands_alone(part):
            return False
        for call in draft.calls(part):
            if not is_request(draft, call) and tail(call.func) not in _UNPACKS | _ON_THE_WAY:
                return False
    texts = [node for part in together for node in draft.below(part) if isinstance(node, cst.SimpleString)]
    nodes = [node for node in draft.nodes if id(node) in inside]
    bound = {
        each.value
        for node in nodes if isinstance(node, cst.AssignTarget | cst.AsName | cst.For)
        for each in draft.below(node if not isinstance(node, cst.For) else node.target) if isinstance(each, cst.Name)
    }  # fmt: skip
    bound |= {node.target.value for node in nodes if isinstance(node, cst.For) and isinstance(node.target, cst.Name)}
    return not any("\n" in draft.source(text) for text in texts) and not any(
        isinstance(node, cst.Name) and node.value in bound and id(node) not in inside for node in draft.nodes
    )


def _left(draft: Draft, together: Sequence[cst.CSTNode]) -> Iterator[str]:
    """The folder that is unpacked to, else the one that the archive is called after."""
    calls = [call for part in together for call in draft.calls(part)]
    for call in calls:
        if tail(call.func) in _UNPACKS:
            named = argument(call, "path") or argument(call, "extract_dir")
            at = 0 if tail(call.func) == "extractall" else 1
            place = constant(draft, named.value if named is not None else positional(call, at))
            yield from [place.removeprefix("./").rstrip("/")] if place.strip("./") else []
        elif is_request(draft, call):
            file = re.split(r"[?#]", constant(draft, positional(call, 0)))[0].rpartition("/")[2]
            yield from [_ENDS.sub("", file)] if _ENDS.search(file) else []


def leave_packed(draft: Draft, found: Sequence[Unpacking], given: Value, name: str) -> None:
    """Put a question around the statements: what the contract brings is not fetched."""
    for each in found:
        first, last = each.statements[0], each.statements[-1]
        start, end = line_start(draft.data, draft.start(first)), draft.span(last)[1]
        lead = draft.lead(first)
        asked = f"{lead}if not {given.at(first)}:{draft.newline}"
        at = start
        for line in draft.data[start:end].splitlines(keepends=True):
            if line.strip():
                draft.insert(at, (asked if at == start else "") + draft.indent)
            at += len(line)
        holds = f"FOLDER, with what the script reads from {each.folder!r} as the diff shows it"
        said = f"nothing is fetched and unpacked to {each.folder!r} when --{name} is given"
        draft.say(Kind.CHANGED, "downloads", first, said, f"declare it: outlast run … --data {name}={holds}")


def is_left_packed(draft: Draft, call: cst.Call) -> bool:
    """Whether that was done before."""
    return any(
        isinstance(each, cst.If) and any(name in draft.source(each.test) for name in PASSED)
        for each in draft.above(call)
    )
