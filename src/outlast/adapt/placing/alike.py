"""The same text, the same place: a literal below a results folder is a result, whoever takes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sinks import HELPER
from outlast.adapt.placing.sites import Site, text_of
from outlast.adapt.placing.sources import Literal
from outlast.migrate.context import is_prose_call
from outlast.migrate.tree import inner, tail

#: what a name of a place is called
_PLACE = re.compile(r"dir|path|folder", re.I)
_FILE = re.compile(r"\.[A-Za-z]\w{0,8}$")
_DECLARES = frozenset(
    {"add_argument", "option", "Option", "DEFINE_string", "startswith", "endswith", "replace", "split", HELPER}
)


def add_alike(draft: Draft, paths: Paths) -> None:
    """Find the literals that lie in a results folder of the file and lead to no call that is understood."""
    known = {id(site.literal) for sites in paths.sites.values() for site in sites}
    known |= {id(use.literal) for use, _ in paths.written if not use.sink.is_guess}
    known |= {id(wrap.use.literal) for wraps in paths.wraps.values() for wrap in wraps}  # joined on its way
    folders = {_plain(site.text) for site in paths.sites.get(Role.OUTPUT, ()) if site.is_folder} - {""}
    files = {_plain(site.text) for site in paths.sites.get(Role.OUTPUT, ()) if _FILE.search(site.text)}
    others = {_plain(site.text) for role in (Role.DATA, Role.WEIGHTS) for site in paths.sites.get(role, ())}
    for literal in _literals(draft):
        text = _plain(text_of(literal))
        if id(literal) in known or text in others or "\\" in text or literal.lpar or "//" in text:
            continue
        is_whole = text in folders and isinstance(literal, cst.SimpleString)
        is_below = text in files or any(text.startswith(folder + "/") for folder in folders)
        if _is_place(draft, literal) if is_whole else is_below and _may_begin(draft, literal):
            paths.sites[Role.OUTPUT].append(Site(literal, text_of(literal), is_whole))


def _plain(text: str) -> str:
    return text.removeprefix("./").rstrip("/") if text not in (".", "./") else ""


def _literals(draft: Draft) -> Iterator[Literal]:
    for node in draft.nodes:
        if isinstance(node, cst.SimpleString | cst.FormattedString) and not isinstance(
            draft.parent(node), cst.ConcatenatedString | cst.Expr
        ):
            yield node


def _may_begin(draft: Draft, literal: Literal) -> bool:
    """Whether a literal can be the start of a path where it stands: not a key, not a text for people, not a middle."""
    parent = draft.parent(literal)
    if isinstance(parent, cst.Index | cst.ComparisonTarget | cst.Comparison | cst.Annotation):
        return False
    if isinstance(parent, cst.DictElement) and parent.key is literal:
        return False
    if isinstance(parent, cst.BinaryOperation) and parent.right is literal:
        return False
    if any(isinstance(each, cst.FormattedStringExpression) for each in draft.above(literal)):
        return False
    calls = [each for each in draft.above(literal) if isinstance(each, cst.Call)]
    if calls and (is_prose_call(tail(calls[0].func)) or tail(calls[0].func) in _DECLARES):
        return False
    is_joined = bool(calls) and tail(calls[0].func) in ("join", "joinpath")
    return not is_joined or (draft.resolve(calls[0].func) == "os.path.join" and calls[0].args[0].value is literal)


def _is_place(draft: Draft, literal: Literal) -> bool:
    """Whether a bare word is a folder where it stands: `os.path.join("images", x)`, `out_dir = "images"`."""
    parent = draft.parent(literal)
    if not _may_begin(draft, literal):
        return False
    if isinstance(parent, cst.Arg):
        call = draft.parent(parent)
        made = draft.resolve(call.func) if isinstance(call, cst.Call) else ""
        is_named = parent.keyword is not None and bool(_PLACE.search(parent.keyword.value))
        # Whoever gets a folder of results in another file is to find it where it is.
        root = made.lstrip(".").partition(".")[0]
        is_called = parent.keyword is not None and parent.keyword.value == "name"  # what a thing is called
        is_handed = "." in made and not is_library(root) and not is_called and not _is_word(draft, text_of(literal))
        is_place = is_named or is_handed or "/" in text_of(literal).strip("./")
        return made in ("os.path.join", "pathlib.Path") or is_place
    if isinstance(parent, cst.BinaryOperation):
        return inner(parent.right).startswith("/") or text_of(literal).endswith("/")
    names = [tail(each.target) for each in parent.targets] if isinstance(parent, cst.Assign) else []
    return any(_PLACE.search(name) for name in names)


def _is_word(draft: Draft, text: str) -> bool:
    """Whether a text also chooses something: it is compared with, or is a key."""
    parents = [draft.parent(node) for node in draft.nodes if isinstance(node, cst.SimpleString) and inner(node) == text]
    return any(
        isinstance(parent, cst.Comparison | cst.ComparisonTarget | cst.Index)
        or (isinstance(parent, cst.DictElement) and inner(parent.key) == text)
        for parent in parents
    )
