"""Places that lie beside data: half of a data set under the option and half where it was would be no data set."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.arguments.setup import Option
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.sites import Site
from outlast.migrate.context import is_prose_call
from outlast.migrate.tree import inner, tail

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths

_PATH = re.compile(r"[\w.~-]*(?:/[\w.-]+)+/?")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")
_HOLDERS = (cst.Assign, cst.AnnAssign, cst.Arg, cst.Element, cst.DictElement, cst.Param)
_NOT_PLACES = frozenset(
    "add_argument add_option option Option DEFINE_string Popen run system call join compile".split()
)


def add_neighbours(draft: Draft, found: Paths, options: dict[str, Option]) -> None:
    """Take literals and options for data that lie below the folder of what is data, and of nothing that is written."""
    tops = {_top(site.text) for site in found.sites.get(Role.DATA, ())}
    tops |= {_top(options[name].default) for name in found.options.get(Role.DATA, {})}
    tops -= {_top(site.text) for role in (Role.OUTPUT, Role.WEIGHTS) for site in found.sites.get(role, ())}
    tops -= {
        _top(options[name].default) for role in (Role.OUTPUT, Role.WEIGHTS) for name in found.options.get(role, {})
    }
    tops.discard("")
    if found.sites.get(Role.DATA):
        for node in draft.nodes:
            if isinstance(node, cst.SimpleString) and id(node) not in found.seen and _is_near(draft, node, tops):
                text = inner(node)
                found.sites[Role.DATA].append(Site(node, text, not _SUFFIX.search(text)))
                found.known.add(id(node))
    wired = {name for names in found.options.values() for name in names}
    for name, option in options.items():
        is_free = name == option.name and name not in wired and name not in PASSED and option.is_text
        if is_free and "/" in option.default and _top(option.default) in tops and found.options.get(Role.DATA):
            found.options[Role.DATA][name] = not _SUFFIX.search(option.default)


def _is_near(draft: Draft, node: cst.SimpleString, tops: Iterable[str]) -> bool:
    text = inner(node)
    parent = draft.parent(node)
    if not _PATH.fullmatch(text) or _top(text) not in tops or not isinstance(parent, _HOLDERS) or node.lpar:
        return False
    call = next((each for each in draft.above(node) if isinstance(each, cst.Call)), None)
    return call is None or not (is_prose_call(tail(call.func)) or tail(call.func) in _NOT_PLACES)


def _top(text: str) -> str:
    """The first folder with a name; of an absolute path the folder that holds it."""
    if "\\" in text or "//" in text or "{" in text or "%" in text:
        return ""
    if text.startswith(("/", "~")):
        return text.rstrip("/").rpartition("/")[0]
    parts = text.removeprefix("./").rstrip("/").split("/")
    ups = [part for part in parts if part == ".."]
    named = [part for part in parts if part not in ("..", ".", "")]
    return "/".join([*ups, *named[:1]]) if len(named) > 1 or (named and not _SUFFIX.search(named[0])) else ""
