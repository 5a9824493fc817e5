"""Where the paths of one role lie: what of each gives way to the contract's folder, and which folders that one needs.

A path keeps its old value as the default at its own spot (`args.data_url or "./data"`), so that the script without
the new options does what it did.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from outlast.adapt.arguments.setup import Setup, Value
from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site, enclosed
from outlast.adapt.placing.sources import Literal, Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.placing.words import Wrap
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, opening, tail

#: what a path begins with before its folders have names: it stays in the default
_BASE = re.compile(r"(?:(?:\.{1,2}|~)(?:/|$))+")


@dataclass(frozen=True)
class Places:
    """The sites of one role. `wraps` lie below the contract's folder with all of their own."""

    role: Role
    sites: Sequence[Site]
    wraps: Sequence[Wrap] = ()

    def unrelated(self) -> str:
        """Places that no folder holds together; empty where there is one."""
        absolute = [site for site in self.sites if site.text.startswith("/")]
        is_mixed = len(absolute) < len(self.sites) and self.role is not Role.OUTPUT
        if absolute and (is_mixed or len(_common([site.folders for site in absolute])) < 2):
            return ", ".join(sorted({site.text for site in self.sites}))
        return ""

    def tops(self) -> list[str]:
        """The folders that the contract's must hold, where they have nothing in common."""
        if any(self.cut(site) > len(base_of(site.text).rstrip("/")) for site in self.sites):
            return []
        rests = [(site.text[self.cut(site) :].lstrip("/"), site.is_folder) for site in self.sites]
        found = sorted({rest.split("/")[0] for rest, is_folder in rests if rest and ("/" in rest or is_folder)})
        return found if len(found) > 1 else []

    def cut(self, site: Site) -> int:
        """How many characters of a site's text give way."""
        if site.text.startswith("/"):
            common = _common([each.folders for each in self.sites if each.text.startswith("/")])
            return len("/".join(site.text.split("/")[: len(common)]))
        base = base_of(site.text)
        near = [each for each in self.sites if not each.text.startswith("/")]
        is_one = len({_named(base_of(each.text)) for each in near}) == 1
        # What is joined as a whole keeps its folders; a path that shares them must do so, too.
        is_apart = any("/" in wrap.text for wrap in self.wraps)
        common = _common([_names(each) for each in near]) if is_one and not is_apart else []
        rest = "/".join(common)
        return min(len(base) + len(rest), len(site.text)) if rest else len(base.rstrip("/"))


def base_of(text: str) -> str:
    found = _BASE.match(text)
    return found.group() if found else ""


def _named(base: str) -> str:
    return "/".join(part for part in base.split("/") if part not in ("", "."))


def _names(site: Site) -> list[str]:
    skipped = len([part for part in base_of(site.text).split("/") if part])
    folders = site.folders
    return folders[max(skipped - (1 if site.text.startswith("./") else 0), 0) :]


def replace_places(draft: Draft, places: Places, value: Value, name: str) -> bool:
    """Put the option in place of each literal of a role; False where that cannot be done for all."""
    role, sites = places.role, places.sites
    if role is Role.WEIGHTS and len({site.text for site in sites}) == 1 and not sites[0].is_formatted:
        for site in sites:
            new = f"{value.at(site.literal)} or {draft.source(site.literal)}"
            _change(draft, site.literal, enclosed(draft, site.literal, new), name)
        return True
    opaque = [site for site in sites if site.is_opaque]
    for site in opaque:
        is_only = len({each.text for each in sites}) == 1
        _change(draft, site.literal, _of_elsewhere(draft, site, value.at(site.literal), is_only=is_only), name)
    sites = [site for site in sites if not site.is_opaque]
    places = replace(places, sites=sites)
    if not sites:
        return True
    unrelated = places.unrelated()
    if unrelated:
        advice = "put them below one folder, or make the others options of their own"
        draft.say(Kind.HAND, "paths", sites[0].literal, f"the {role} lies in unrelated places: {unrelated}", advice)
        return False
    if places.tops() and role is not Role.OUTPUT:
        draft.say(Kind.DIFFERS, "paths", sites[0].literal, f"--{name} must hold the folders {', '.join(places.tops())}")
    for site in sites:
        new = _expression(draft, site, places.cut(site), value.at(site.literal))
        filled = _filled_in(draft, site.literal)
        if filled is not None and new.startswith("os."):
            # Only the file's name is filled in: a folder that the platform chose may hold a % or a brace.
            draft.insert(draft.span(filled)[1], ")")
            _change(draft, site.literal, new.removesuffix(")"), name)
        else:
            _change(draft, site.literal, new, name)
        if new.startswith("os."):
            draft.need_import("os")
    return True


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


def _expression(draft: Draft, site: Site, cut: int, value: str) -> str:
    """`value or "root"`, joined with the rest of the path; the old spelling is kept byte for byte."""
    source = draft.source(site.literal)
    start = opening(site.literal)
    quote = source[start - 1]
    root = site.text[:cut]
    rest = source[start + cut :].removeprefix("/")
    prefix = source[:start]
    if (site.text == root and not site.is_formatted) or site.is_here:
        return enclosed(draft, site.literal, f"{value} or {source}")
    return f"os.path.join({value} or {quote}{root}{quote}, {prefix}{rest})"


def _filled_in(draft: Draft, literal: Literal) -> cst.CSTNode | None:
    """The expression that fills in a literal: `"…%d" % n`, `"…{}".format(n)`."""
    parent = draft.parent(literal)
    if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Modulo) and parent.left is literal:
        return parent
    call = draft.parent(parent) if isinstance(parent, cst.Attribute) and parent.attr.value == "format" else None
    return call if isinstance(call, cst.Call) and call.func is parent else None


# ---- folders


def needed_folders(draft: Draft, paths: Paths, places: Places) -> list[str]:
    """Folders below the contract's that the script writes to and does not make; a finding where they have no names."""
    made = {_plain(each) for each in paths.made}
    cuts = {id(site.literal): places.cut(site) for site in places.sites}
    found: set[str] = set()
    for use, full in paths.written:
        if use.literal is not None and id(use.literal) in cuts:
            found |= _needed(draft, use, full, cuts[id(use.literal)], made)
        elif use.other is not None and not use.option and use.after.startswith("/"):
            found |= _needed(draft, use, full, len(UNKNOWN), made)
    for wrap in places.wraps:
        if wrap.use.role is Role.OUTPUT:
            found |= _needed(draft, wrap.use, wrap.text, 0, made)
    seen = {id(use.literal) for use, _ in paths.written}
    for site in places.sites:
        # A folder that is handed on to code of another file is there at home.
        rest = site.text[cuts[id(site.literal)] :].strip("/")
        folder = rest if site.is_folder else rest.rpartition("/")[0]
        if id(site.literal) not in seen and _plain(site.text) not in made and "{" not in folder:
            found.add(folder)
    return sorted(each for each in found if each and not any(other.startswith(each + "/") for other in found))


def make_folders(draft: Draft, folders: Sequence[str], value: str) -> list[str]:
    """Lines that make folders below the contract's."""
    if folders:
        draft.need_import("os")
    made = [f'    os.makedirs(os.path.join({value}, "{folder}"), exist_ok=True)' for folder in folders]
    return [f"if {value}:", *made] if made else []


def make_below(draft: Draft, setup: Setup, paths: Paths, value: str) -> list[str]:
    """Lines that make folders that the script's own options name below the contract's, unless it does so itself."""
    options = paths.options.get(Role.OUTPUT, {})
    made = {(use.option, use.after) for use, _ in paths.written if use.option and use.sink.makes}
    found: set[str] = set()
    for use, _ in paths.written:
        if not options.get(use.option) or use.sink.is_folder or not use.after:
            continue
        below = use.after.rpartition("/")[0]
        target = setup.own_value(use.option)
        if UNKNOWN in below or any(own == use.option and (after + "/").startswith(below + "/") for own, after in made):
            continue
        is_whole = len(options) == 1 or setup.options[use.option].name in PASSED
        if below.strip("/"):
            found.add(f'os.makedirs(os.path.join({target}, "{below.strip("/")}"), exist_ok=True)')
        elif not is_whole:
            found.add(f"os.makedirs({target}, exist_ok=True)")
    if found:
        draft.need_import("os")
    return [f"if {value}:", *(f"    {line}" for line in sorted(found))] if found else []


def _needed(draft: Draft, use: Use, full: str, cut: int, made: set[str]) -> set[str]:
    makes_one = use.sink.makes and tail(use.sink.call.func) == "mkdir" and argument(use.sink.call, "parents") is None
    if use.sink.is_folder and not makes_one:
        return set()
    folder = full.rpartition("/")[0]
    if any(_plain(folder) == each or (each.startswith(_plain(folder) + "/") and not makes_one) for each in made):
        return set()
    rest = folder[cut:].strip("/")
    static = rest.partition(UNKNOWN)[0]
    if UNKNOWN in rest or re.search(r"%[-0-9.]*[a-zA-Z(]|\{", rest):
        static = re.split(r"\0|%[-0-9.]*[a-zA-Z(]|\{", rest)[0].rpartition("/")[0]
        said = "writes to a folder that is named when the script runs, and nothing here makes it"
        draft.say(
            Kind.DIFFERS, "folders", use.sink.call, said, "make it: os.makedirs(os.path.dirname(path), exist_ok=True)"
        )
    return {static} if static else set()


def _plain(text: str) -> str:
    return text[len(base_of(text)) :].rstrip("/") if base_of(text) in ("./", "") else text.rstrip("/")
