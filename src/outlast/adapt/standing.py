"""A setting that several files use gives way where its value stands, so that all of them agree."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.arguments.setup import CODE_FILE
from outlast.adapt.needs import Role
from outlast.adapt.placing.roles import main_role
from outlast.adapt.placing.sites import Site, text_of
from outlast.adapt.placing.sources import Literal, Use
from outlast.adapt.sight import Sight
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

_PLACE = re.compile(r"dir|path|folder|root|file|dest|out|ckpt|checkpoint|log|data|result|save|weights|model", re.I)
_NO_FILE = re.compile(r"[a-z0-9]+://|/dev/(?!shm/)|/proc/|/sys/", re.I)
#: what ends the name of a file
SUFFIX = re.compile(r"\.[A-Za-z]\w{0,5}$")


def may_stand(use: Use, way: Use) -> bool:
    """Whether a value that other files use is a place that can give way there. `way`: how it comes to be that value."""
    if way.other is not None and not way.option:
        return True
    if way.literal is None or way.literal.lpar:
        return False
    text = text_of(way.literal)
    # Of the start of a name only the folder gives way: `"rows/part" + "_1.npy"`.
    is_whole = not way.is_stem or "/" in text
    # `BEST = ROOT / "models" / "best.pt"`: what lies below a word makes it a folder.
    holds = way.after.startswith("/")
    is_named = holds or bool(_PLACE.search(tail(use.other))) or "/" in text or bool(SUFFIX.search(text))
    return bool(text.strip("./~")) and is_whole and is_named and not (CODE_FILE.search(text) or _NO_FILE.match(text))


def put_where_it_stands(sight: Sight, role: Role, way: Use) -> None:
    """Let a value of this file give way; where it is both, it is a place of results."""
    paths = sight.paths
    if way.literal is None:
        _place_other(sight, role, way)
        return
    before = next((each for each, sites in paths.sites.items() if any(s.literal is way.literal for s in sites)), None)
    if before is not None:
        if {before, role} == {Role.WEIGHTS, Role.OUTPUT}:
            _give_to_results(sight, before, way.literal)
        elif {before, role} == {Role.WEIGHTS, Role.DATA}:
            _give(sight, before, main_role(text_of(way.literal).rstrip("/"), {before, role}), way.literal)
        return
    text = text_of(way.literal)
    is_folder = (way.is_folder or not SUFFIX.search(text)) and not (way.is_stem and not text.endswith("/"))
    paths.sites.setdefault(role, []).append(Site(way.literal, text, is_folder))
    paths.known.add(id(way.literal))


def _place_other(sight: Sight, role: Role, way: Use) -> None:
    """What a value is put together of gives way once, whoever uses it: `SAVED = os.path.join(ROOT, "saved")`."""
    others = sight.paths.others
    before = next((each for each, uses in others.items() if any(use.other is way.other for use in uses)), None)
    if before is None:
        others.setdefault(role, []).append(way)
        return
    roles = {before, role}
    if len(roles) == 1 or Role.OUTPUT not in roles:
        return
    uses = [use for use in others[before] if use.other is way.other]
    # Who only makes a folder, to fetch something into it, does not write there.
    is_made = way.sink.makes if role is Role.OUTPUT else all(use.sink.makes for use in uses)
    if is_made == (role is not Role.OUTPUT):
        others[before] = [use for use in others[before] if use.other is not way.other]
        others.setdefault(role, []).append(way)
    if not is_made and Role.WEIGHTS in roles and way.other is not None:
        _say_both(sight, way.other)


def _give_to_results(sight: Sight, before: Role, literal: Literal) -> None:
    """Where weights and results share a folder, it is that of the results: they would be lost among an input."""
    if _give(sight, before, Role.OUTPUT, literal):
        _say_both(sight, literal)


def _give(sight: Sight, before: Role, role: Role, literal: Literal) -> bool:
    sites = sight.paths.sites
    moved = [site for site in sites.get(before, ()) if site.literal is literal and before is not role]
    if moved:
        sites[before] = [site for site in sites[before] if site.literal is not literal]
        sites.setdefault(role, []).extend(moved)
    return bool(moved)


def _say_both(sight: Sight, place: cst.BaseExpression) -> None:
    said = f"{sight.draft.source(place)} holds results, and weights that are loaded from there"
    sight.draft.say(Kind.DIFFERS, "paths", place, said, "bring weights that must be there first to the output folder")
