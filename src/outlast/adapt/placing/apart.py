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


def name_below(site: Site, every: Sequence[Site]) -> str:
    """What a path of Windows is called below the contract's folder; empty where it is that folder itself.

    What lies in the folder of another site goes with that folder, in whichever file it is written.
    """
    opaque = [each for each in every if each.is_opaque]
    own = _names(site)
    around = min(
        (_names(each) for each in opaque if each.is_folder and _is_in(own, _names(each))), key=len, default=own
    )
    is_whole = len(opaque) == len(every) and all(_is_in(_names(each), around) for each in every)
    is_root = is_whole and (around != own or site.is_folder)
    return "/".join([*([] if is_root else around[-1:]), *own[len(around) :]])


def _names(site: Site) -> list[str]:
    return _SLASHES.split(site.text.rstrip("\\/"))


def _is_in(names: Sequence[str], folder: Sequence[str]) -> bool:
    return list(names[: len(folder)]) == list(folder)


def tell_last_names(draft: Draft, opaque: Sequence[Site], every: Sequence[Site], role: Role, name: str) -> None:
    """Of places of Windows in several folders: that the contract's one must hold them by their last names."""
    told = [site for site in every if site.is_opaque]
    folders = {tuple(_names(site)[:-1]) for site in told}
    if role is Role.OUTPUT or not opaque or len(folders) < 2:
        return
    held = ", ".join(sorted({name_below(site, every).partition("/")[0] for site in told} - {""}))
    said = f"what lay in several places is looked for by its last name: --{name} must hold {held}"
    draft.say(Kind.DIFFERS, "paths", opaque[0].literal, said)
