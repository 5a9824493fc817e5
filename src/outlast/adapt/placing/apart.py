"""Places that no folder holds together: each is looked for by its last name in the contract's folder."""

from __future__ import annotations

import re
from collections.abc import Sequence

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.sites import Site
from outlast.migrate.engine import Kind

_SLASHES = re.compile(r"[\\/]+")


def is_way(site: Site) -> bool:
    """Whether other names follow behind what is written: a folder, or a name that is filled in or found later."""
    return site.is_folder or site.is_open


def by_name(sites: Sequence[Site]) -> dict[int, str] | None:
    """Site → its place below the contract's folder; None where two would meet there.

    What lies in a folder that is a site itself goes with that folder.
    """
    roots = sorted({_root(site) for site in sites if is_way(site)}, key=len)
    found: dict[int, str] = {}
    for site in sites:
        whole = _root(site) if is_way(site) else site.text
        around = next((root for root in roots if (whole + "/").startswith(root + "/")), whole)
        found[id(site)] = around.rpartition("/")[2] + whole[len(around) :]
    places: dict[str, set[str]] = {}
    for site in sites:
        places.setdefault(found[id(site)], set()).add(_root(site) if is_way(site) else site.text)
    is_named = all(below.strip("./~") and ":" not in below for below in places)
    return found if is_named and all(len(each) == 1 for each in places.values()) else None


def _root(site: Site) -> str:
    return "/".join(site.folders)


def last_name(site: Site) -> str:
    return _SLASHES.split(site.text.rstrip("\\/"))[-1]


def tell_last_names(draft: Draft, opaque: Sequence[Site], role: Role, name: str) -> None:
    """Of places of Windows in several folders: that the contract's one must hold them by their last names."""
    folders = {tuple(_SLASHES.split(site.text.rstrip("\\/"))[:-1]) for site in opaque}
    if role is Role.OUTPUT or len(folders) < 2:
        return
    held = ", ".join(sorted({last_name(site) for site in opaque}))
    said = f"what lay in several places is looked for by its last name: --{name} must hold {held}"
    draft.say(Kind.DIFFERS, "paths", opaque[0].literal, said)
