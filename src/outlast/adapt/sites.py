"""Literals that are paths, and what is written in their place.

A path keeps its old value as the default at its own spot (`args.data_url or "./data"`), so that the script without
the new options does what it did.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.flow import Literal
from outlast.adapt.needs import Role
from outlast.adapt.setup import Value
from outlast.migrate.engine import Kind
from outlast.migrate.tree import inner, opening

_PLACEHOLDER = re.compile(r"%[-0-9.]*[a-zA-Z(]|\{")


@dataclass(frozen=True)
class Site:
    """A literal that is a path: whole (`is_folder`), or with a file's name at its end."""

    literal: Literal
    text: str  # up to the first placeholder of an f-string
    is_folder: bool

    @property
    def is_formatted(self) -> bool:
        return isinstance(self.literal, cst.FormattedString)

    @property
    def folders(self) -> list[str]:
        """The folders of the path, without a leading `./`."""
        folder = self.text.rstrip("/") if self.is_folder and not self.is_formatted else self.text.rpartition("/")[0]
        parts = folder.split("/") if folder or self.text.startswith("/") else []
        # A folder whose name is filled in later must stay where the filling in finds it.
        whole = list(itertools.takewhile(lambda part: not _PLACEHOLDER.search(part), parts))
        return whole[1:] if whole[:1] == ["."] else whole

    @property
    def is_opaque(self) -> bool:
        """A path of Windows: nothing below it can be told apart where there are only slashes."""
        return "\\" in self.text


def text_of(literal: Literal) -> str:
    if isinstance(literal, cst.SimpleString):
        return inner(literal)
    first = literal.parts[0] if literal.parts else None
    return first.value if isinstance(first, cst.FormattedStringText) else ""


def replace_sites(draft: Draft, role: Role, sites: Sequence[Site], value: Value, name: str) -> None:
    """Put the option in place of each literal of a role."""
    if role is Role.WEIGHTS and len({site.text for site in sites}) == 1 and not sites[0].is_formatted:
        for site in sites:
            new = f"{value.at(site.literal)} or {draft.source(site.literal)}"
            _change(draft, site.literal, enclosed(draft, site.literal, new), name)
        return
    opaque = [site for site in sites if site.is_opaque]
    for site in opaque:
        is_only = len({each.text for each in sites}) == 1
        _change(draft, site.literal, _of_elsewhere(draft, site, value.at(site.literal), is_only=is_only), name)
    sites = [site for site in sites if not site.is_opaque]
    if not sites:
        return
    common = _common([site.folders for site in sites])
    is_absolute = any(site.text.startswith("/") for site in sites)
    if is_absolute and len(common) < 2:
        places = ", ".join(sorted({site.text for site in sites}))
        advice = "put them below one folder, or make the others options of their own"
        draft.say(Kind.HAND, "paths", sites[0].literal, f"the {role} lies in unrelated places: {places}", advice)
        return
    tops = sorted({site.folders[0] for site in sites if site.folders}) if not common else []
    if len(tops) > 1 and role is not Role.OUTPUT:
        draft.say(Kind.DIFFERS, "paths", sites[0].literal, f"--{name} must hold the folders {', '.join(tops)}")
    for site in sites:
        new = _expression(draft, site, len(common), value.at(site.literal))
        filled = _filled_in(draft, site.literal)
        if filled is not None and new.startswith("os."):
            # Only the file's name is filled in: a folder that the platform chose may hold a % or a brace.
            draft.insert(draft.span(filled)[1], ")")
            _change(draft, site.literal, new.removesuffix(")"), name)
        else:
            _change(draft, site.literal, new, name)
        if new.startswith("os."):
            draft.need_import("os")


def _change(draft: Draft, literal: Literal, new: str, name: str) -> None:
    draft.say(Kind.CHANGED, "paths", literal, f"{draft.source(literal)} can be replaced by --{name}")
    draft.replace(literal, new)


def _of_elsewhere(draft: Draft, site: Site, value: str, *, is_only: bool) -> str:
    """The option itself for the one folder, else what has the last name of the path there."""
    source = draft.source(site.literal)
    if is_only and site.is_folder:
        return enclosed(draft, site.literal, f"{value} or {source}")
    draft.need_import("os")
    last = re.split(r"[\\/]+", site.text.rstrip("\\/"))[-1]
    return enclosed(draft, site.literal, f'os.path.join({value}, "{last}") if {value} else {source}')


def _common(paths: Sequence[Sequence[str]]) -> list[str]:
    found: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        found.append(parts[0])
    return found


def _expression(draft: Draft, site: Site, depth: int, value: str) -> str:
    """`value or "root"`, joined with the rest of the path; the old spelling is kept byte for byte."""
    source = draft.source(site.literal)
    start = opening(site.literal)
    quote = source[start - 1]
    dot = 1 if site.text.startswith("./") else 0
    cut = len("/".join(site.text.split("/")[: depth + dot]))
    root = site.text[:cut]
    rest = source[start + cut :].removeprefix("/")
    prefix = source[:start]
    if site.text == root and not site.is_formatted:
        return enclosed(draft, site.literal, f"{value} or {source}")
    return f"os.path.join({value} or {quote}{root}{quote}, {prefix}{rest})"


def _filled_in(draft: Draft, literal: Literal) -> cst.CSTNode | None:
    """The expression that fills in a literal: `"…%d" % n`, `"…{}".format(n)`."""
    parent = draft.parent(literal)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Modulo) and parent.left is literal:
        return parent
    call = draft.parent(parent) if isinstance(parent, cst.Attribute) and parent.attr.value == "format" else None
    return call if isinstance(call, cst.Call) and call.func is parent else None


def enclosed(draft: Draft, literal: cst.CSTNode, text: str) -> str:
    """In brackets, unless nothing around the literal binds tighter than `or`."""
    loose = (cst.Arg, cst.Assign, cst.AnnAssign, cst.DictElement, cst.Element, cst.Return, cst.Param)
    return text if isinstance(draft.parent(literal), loose) else f"({text})"
