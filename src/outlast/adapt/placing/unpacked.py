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
    folders = [folder for call in draft.calls() if id(call) not in aside for folder in _targets(draft, call)]
    sites = paths.sites.get(Role.DATA, [])
    left = [site for site in sites if any(_is_below(site, folder) for folder in folders)]
    for site in left:
        draft.say(Kind.KEPT, "paths", site.literal, f"{site.text!r} stays as it is: the script unpacks it there")
    if left:
        paths.sites[Role.DATA] = [site for site in sites if site not in left]


def _targets(draft: Draft, call: cst.Call) -> Iterator[str]:
    if any(isinstance(each, cst.If | cst.Try) for each in draft.above(call)):
        return  # only where it is not there yet: the contract may bring it unpacked
    # A name that others use, too, leads all of them to the contract's folder.
    if tail(call.func) == "extractall":
        named = argument(call, "path")
        yield inner(named.value if named is not None else positional(call, 0))
    elif draft.resolve(call.func) == "shutil.unpack_archive":
        named = argument(call, "extract_dir")
        yield inner(named.value if named is not None else positional(call, 1))


def _is_below(site: Site, folder: str) -> bool:
    text, place = (each.removeprefix("./").rstrip("/") for each in (site.text, folder))
    return bool(place) and not _ARCHIVE.search(text) and (text == place or text.startswith(f"{place}/"))
