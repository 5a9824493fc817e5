"""Reading a program: the script, and what it imports from its own folder, as drafts that know of each other."""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.composed import Read
from outlast.adapt.draft import Draft, meet
from outlast.adapt.modules import Module, find_modules
from outlast.adapt.resuming.live import idle_functions
from outlast.migrate.engine import Finding, Kind
from outlast.migrate.tree import dotted, positional, tail

#: What a module must speak of to be worth a look: files, places, a training, what goes along with one, or a library.
_SPEAKS = re.compile(
    r"open|load|save|read|write|dir|path|file|root|folder|data|ckpt|checkpoint|log|out|backward|fit|train|download|"
    r"seed|random|weights|http|class |def |"
    r"torch|tensorflow|keras|mindspore|lightning|transformers|accelerate|deepspeed|cuda|"
    r"['\"][^'\"\n]*[/\\]|\.\w{2,5}['\"]",  # a text that may be a path
    re.I,
)
#: Characters of modules that are read, nearest first. A script of 33 modules has a third of it; a copy of a library in
#: the folder has many times as much, and would take minutes for nothing.
_MOST = 1_200_000


@dataclass
class Program:
    """The drafts of one adaptation. `modules` by their paths, nearest first."""

    entry: Draft
    modules: dict[str, Draft] = field(default_factory=dict)
    #: one of them imports the script: its lines are run twice, the second time as a module
    is_shared: bool = False
    #: what its modules are imported by, up to the first dot
    roots: frozenset[str] = frozenset()


def read_program(script: str, entry: Draft, read: Read, beside: frozenset[str]) -> Program:
    """The script and what it imports from its own folder, as far as that has to do with files or training."""
    found, is_shared, unread = find_modules(script, entry.text, read)
    program = Program(entry, is_shared=is_shared)
    entry.findings += [_unread(path, line, script) for path, line in unread]
    near = _near(found)
    if len(near) < len(found):
        entry.findings.append(_too_far(found[len(near) :], script))
    for module in near:
        draft = _drafted(module, beside)
        if draft is not None:
            program.modules[module.path] = draft
    for module in found:
        if module.path in program.modules:
            chosen = [program.modules[path] for path in sorted(module.composed) if path in program.modules]
            program.modules[module.path].composed = tuple(chosen)
    drafts = [entry, *program.modules.values()]
    program.roots = frozenset(_root_of(path) for each in found if each.path in program.modules for path in each.paths)
    parts = [part for module in found for path in module.paths for part in path.removesuffix(".py").split("/")]
    tops = frozenset(_root_of(path) for module in found for path in module.paths)
    meet(drafts)
    for draft in drafts:
        draft.seen = frozenset(parts)
        draft.lie_beside(tops)
    _open(program, found)
    listed = {name for draft in drafts for name in _listed(draft)}
    for path, draft in program.modules.items():
        draft.is_listed = path.removesuffix(".py").rpartition("/")[2] in listed
    entry.leave_out(idle_functions(entry))
    return program


def _near(found: Sequence[Module]) -> Sequence[Module]:
    sizes = itertools.accumulate(len(module.text) for module in found)
    return found[: sum(size <= _MOST for size in sizes)]


def _too_far(left: Sequence[Module], script: str) -> Finding:
    names = ", ".join(module.path for module in left[:2]) + (" …" if len(left) > 2 else "")
    said = f"{len(left)} of the modules that {script} imports, those furthest away, were not looked at: {names}"
    return Finding(Kind.DIFFERS, "modules", 1, 1, said, "if one of them trains, or reads and writes files, see to it")


def _unread(path: str, line: int, script: str) -> Finding:
    """What is told of a file that LibCST may know how to read, but not the Python that runs here."""
    what = "the modules that it imports were" if path == script else f"{path} was"
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    said = f"{what} not looked at: line {line} of {path} is not valid in {version}"
    return Finding(Kind.DIFFERS, "modules", 1, 1, said, "run outlast with the Python that the program is written for")


def _root_of(path: str) -> str:
    """What a module is imported by, up to the first dot."""
    return re.sub(r"^(?:\.\./)+", "", path).partition("/")[0].removesuffix(".py")


def _listed(draft: Draft) -> Iterator[str]:
    """Modules of which somebody goes through all names: `vars(config)`, `dir(config)`, `config.__dict__`."""
    for node in draft.nodes:
        at: cst.CSTNode | None = None
        if isinstance(node, cst.Call) and tail(node.func) in ("vars", "dir", "getmembers"):
            at = positional(node, 0)
        elif isinstance(node, cst.Attribute) and node.attr.value == "__dict__":
            at = node.value
        if isinstance(at, cst.Name) and draft.resolve(at):
            yield draft.resolve(at).rpartition(".")[2]


def _open(program: Program, found: Sequence[Module]) -> None:
    """Let files that import everything of a module know what that imports."""
    drafts = program.modules
    paths = {
        re.sub(r"^(?:\.\./)+", "", path): drafts[module.path]
        for module in found if module.path in drafts for path in module.paths
    }  # fmt: skip
    # What a module has from another by a star it hands on, so those that are imported further away come first.
    for draft in (*reversed(program.modules.values()), program.entry):
        for node in draft.nodes:
            if not isinstance(node, cst.ImportFrom) or not isinstance(node.names, cst.ImportStar) or not node.module:
                continue
            name = dotted(node.module).replace(".", "/")
            endings = (f"/{name}.py", f"/{name}/__init__.py")
            opened = [each for path, each in paths.items() if f"/{path}".endswith(endings) and each is not draft]
            if len({id(each) for each in opened}) == 1:
                draft.open(opened[0])


def _drafted(module: Module, beside: frozenset[str]) -> Draft | None:
    if not _SPEAKS.search(module.text) or module.text.startswith("\ufeff"):
        return None
    try:
        draft = Draft(module.text, beside)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    draft.leave_out([each for each in draft.module.body if draft.first_line(each) in module.idle])
    return draft
