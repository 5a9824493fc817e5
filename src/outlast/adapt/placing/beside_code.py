"""Folders of data beside the code that have a name of their own: `os.path.join(HERE, FOLDER)` with `FOLDER = "rows"`.

Where all that is read beside the code lies in that folder, it is the contract's: an absolute path is joined to nothing.
Else the contract's folder stands for that of the code, and what it must hold is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.setup import CODE_FILE
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing import shapes
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site
from outlast.adapt.placing.sources import Use
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, positional, tail

_PLAIN = re.compile(r"(?:\./)?\w[\w .-]*(?:/\w[\w .-]*)*/?")
_FINDS = frozenset({"glob", "iglob"})
_SAME = frozenset({"sorted", "list", "tqdm", "enumerate"})


def take_folder(draft: Draft, flow: Flow, found: Paths, name: str) -> None:
    """Let the one folder of data beside the code give way where it is named. `name`: the contract's option."""
    uses = found.others.get(Role.DATA, [])
    joined = [use for use in uses if _is_joined(draft, flow, use)]
    made = {id(use.other) for use in joined}
    own = [use for use in joined if not _is_found(draft, use, made)]
    if own and all(_is_ours(draft, _lead(use)) for use in own):
        found.others[Role.DATA] = [use for use in uses if use not in joined]
        found.is_behind = True
        return
    named = [use for use in own if _lead(use)]
    folders = {_lead(use): _folder(flow, use) for use in named}
    if not named or "" in folders.values():
        return
    lead = next(iter(folders))
    literal = _value(draft, lead)
    is_one = len(folders) == 1 and named == own and _is_whole(draft, found, uses, joined, lead)
    if is_one and isinstance(literal, cst.SimpleString):
        found.others[Role.DATA] = []
        found.sites.setdefault(Role.DATA, []).append(Site(literal, inner(literal), True))
        found.known.add(id(literal))
        found.is_behind = True
    elif not any(word in draft.text for word in PASSED):
        held = sorted({each.removeprefix("./").partition("/")[0] for each in folders.values()})
        said = f"--{name} must hold the folder{'s' if len(held) > 1 else ''} {', '.join(held)}"
        draft.say(Kind.DIFFERS, "paths", named[0].other or named[0].sink.path, said)


def _is_joined(draft: Draft, flow: Flow, use: Use) -> bool:
    """`os.path.join(HERE, folder + "/" + name)`: the code's folder, and one part more."""
    call = use.other
    is_join = isinstance(call, cst.Call) and draft.resolve(call.func) == "os.path.join" and len(call.args) == 2
    return is_join and isinstance(call, cst.Call) and not call.args[1].star and flow.code.is_it(call.args[0].value)


def _behind(use: Use) -> cst.BaseExpression:
    assert isinstance(use.other, cst.Call)
    return use.other.args[1].value


def _lead(use: Use) -> str:
    """The name that the part behind the code's folder begins with."""
    first = list(shapes.leading(_behind(use)))[-1]
    return first.value if isinstance(first, cst.Name) else ""


def _folder(flow: Flow, use: Use) -> str:
    """The text of that name, where it is a folder, and not the start of a file's name."""
    first = list(shapes.leading(_behind(use)))[-1]
    text, whole = flow.spelling.of(first), flow.spelling.of(_behind(use))
    is_folder = use.is_folder if whole == text else (text.endswith("/") or whole[len(text) :].startswith("/"))
    return text if is_folder and _PLAIN.fullmatch(text) and not CODE_FILE.search(text) else ""


def _is_found(draft: Draft, use: Use, made: set[int]) -> bool:
    """What `glob` finds begins with what it was given, which is one of these places: it lies there already."""
    lead = _lead(use)
    for loop in draft.above(_behind(use)):
        if isinstance(loop, cst.For | cst.CompFor) and lead in shapes.names(loop.target):
            return any(tail(call.func) in _FINDS and id(positional(call, 0)) in made for call in _calls(loop.iter))
    return False


def _calls(node: cst.BaseExpression | None) -> Iterator[cst.Call]:
    while isinstance(node, cst.Call):
        yield node
        node = positional(node, 0) if tail(node.func) in _SAME else None


def _is_ours(draft: Draft, name: str) -> bool:
    """Whether a name holds the contract's folder already."""
    value = _value(draft, name)
    return value is not None and any(word in draft.source(value) for word in PASSED)


def _value(draft: Draft, name: str) -> cst.BaseExpression | None:
    """The one value that a name of the module gets."""
    given = [
        node for node in draft.nodes if isinstance(node, cst.Assign)
        if any(name in shapes.names(target.target) for target in node.targets)
    ]  # fmt: skip
    return given[0].value if len(given) == 1 and draft.scope(given[0]) is draft.module else None


def _is_whole(draft: Draft, found: Paths, uses: list[Use], joined: list[Use], name: str) -> bool:
    """Whether nothing else is read, the name is for nothing else, and no other file could join it anew."""
    within = {id(node) for use in joined for node in (_behind(use), *draft.below(_behind(use)))}
    spoken = [node for node in draft.nodes if isinstance(node, cst.Name) and node.value == name]
    read = [node for node in spoken if not isinstance(draft.parent(node), cst.AssignTarget)]
    has_others = any(each.get(Role.DATA) for each in (found.sites, found.options, found.wraps))
    is_apart = not draft.others and len(joined) == len(uses) and not has_others
    return is_apart and all(id(node) in within for node in read)
