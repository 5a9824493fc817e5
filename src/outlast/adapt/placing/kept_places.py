"""Places that a file only keeps under a name, for code of other files: `{"data_dir": "x"}`, `cfg.SAVE_DIR = "y"`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.needs import Role
from outlast.adapt.placing.sites import Site
from outlast.migrate.tree import inner, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")
#: words that name what is chosen as often as a place
_WORDS = frozenset("data root output out outf result results".split())
#: how contracts call what a role is for
_SPOKEN = {Role.DATA: frozenset({"data_url"}), Role.OUTPUT: frozenset({"train_url", "output_path"})}


def add_kept(draft: Draft, found: Paths, names: Mapping[Role, re.Pattern[str]]) -> None:
    """Where nothing else has a role: the literal whose name says it, if code of another file may ask for it."""
    if all(map(is_library, draft.names.roots)):
        return
    for role in (Role.DATA, Role.OUTPUT):
        # A file that speaks of the contract's option says itself what follows it.
        if found.has(role) or _SPOKEN[role] & draft.words:
            continue
        named = [
            (name.lower(), literal) for name, literal in _kept(draft)
            if id(literal) not in found.known and names[role].fullmatch(name.lower())
        ]  # fmt: skip
        places = [literal for name, literal in named if _is_place(name, inner(literal))]
        # One is the contract's folder; how several lie together only their user knows.
        if len({inner(literal) for literal in places}) == 1:
            found.sites[role] = [Site(each, inner(each), not _SUFFIX.search(inner(each))) for each in places]
            found.known.update(map(id, places))


def _is_place(name: str, text: str) -> bool:
    is_path = "/" in text or (bool(text) and name not in _WORDS)
    return is_path and not re.search(r"[\s{}%*\\]|//", text)


def _kept(draft: Draft) -> Iterator[tuple[str, cst.SimpleString]]:
    """Names and the literals that are kept under them."""
    for node in draft.nodes:
        if isinstance(node, cst.DictElement):
            yield from _pair(inner(node.key), node.value)
        elif isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            is_field = isinstance(target, cst.Attribute | cst.Subscript) or _is_in_class(draft, node)
            yield from _pair(tail(target), node.value) if is_field else ()
        elif isinstance(node, cst.AnnAssign) and _is_in_class(draft, node):
            yield from _pair(tail(node.target), node.value)
        elif isinstance(node, cst.Arg) and node.keyword is not None:
            call = draft.parent(node)
            is_dict = isinstance(call, cst.Call) and tail(call.func) in ("dict", "Namespace", "SimpleNamespace")
            yield from _pair(node.keyword.value, node.value) if is_dict else ()


def _pair(name: str, value: cst.BaseExpression | None) -> Iterator[tuple[str, cst.SimpleString]]:
    if name and isinstance(value, cst.SimpleString) and not value.lpar:
        yield name, value


def _is_in_class(draft: Draft, node: cst.CSTNode) -> bool:
    around = next((each for each in draft.above(node) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None)
    return isinstance(around, cst.ClassDef)
