"""What a script unpacks itself lies where it has put it: the archive is the input, not what comes out of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

_ARCHIVE = re.compile(r"\.(?:zip|tar|t?gz|tgz|bz2|xz)$")


def leave_unpacked(draft: Draft, paths: Paths, left_out: Sequence[cst.CSTNode] = ()) -> None:
    """Take places below a folder that is unpacked in every start, but for what is left out, from the contract's."""
    aside = {id(node) for each in left_out for node in draft.below(each)}
    targets = [folder for call in draft.calls() if id(call) not in aside for folder in _targets(draft, call)]
    folders = [inner(each) for each in targets]
    # Results that lie beside what was unpacked go to the contract's folder all the same.
    written = {id(use.literal) for use, _ in paths.written if use.literal is not None}
    for role in (Role.DATA, Role.OUTPUT):
        sites = paths.sites.get(role, [])
        left = [
            site for site in sites
            if id(site.literal) not in written and any(_is_below(site, folder) for folder in folders)
        ]  # fmt: skip
        for site in left:
            draft.say(Kind.KEPT, "paths", site.literal, f"{site.text!r} stays as it is: the script unpacks it there")
        if left:
            paths.sites[role] = [site for site in sites if site not in left]
            paths.known |= {id(each) for each in targets if any(_is_below(site, inner(each)) for site in left)}


def _targets(draft: Draft, call: cst.Call) -> Iterator[cst.BaseExpression]:
    if any(isinstance(each, cst.If | cst.Try) for each in draft.above(call)):
        return  # only where it is not there yet: the contract may bring it unpacked
    # A name that others use, too, leads all of them to the contract's folder.
    if tail(call.func) == "extractall":
        named, place = argument(call, "path"), positional(call, 0)
    elif draft.resolve(call.func) == "shutil.unpack_archive":
        named, place = argument(call, "extract_dir"), positional(call, 1)
    else:
        return
    found = named.value if named is not None else place
    if found is not None and inner(found):
        yield found


def _is_below(site: Site, folder: str) -> bool:
    text, place = (each.removeprefix("./").rstrip("/") for each in (site.text, folder))
    return bool(place) and not _ARCHIVE.search(text) and (text == place or text.startswith(f"{place}/"))
