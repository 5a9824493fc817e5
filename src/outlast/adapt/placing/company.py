"""Folders of data that are written in a script beside those that it is told: an option, a configuration.

They are counted together: `Pairs(config.TRAIN_DIR)` and `Pairs("dataset/val")` are two folders, and stay two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.arguments.setup import Option
from outlast.adapt.needs import PASSED, Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site
from outlast.migrate.tree import tail

#: what only another file can tell the value of; of a place below the code's folder it is written out
_ASKED = (cst.Name, cst.Attribute, cst.Subscript)


@dataclass(frozen=True)
class Company:
    """What stands beside the literals of one role."""

    written: tuple[str, ...] = ()  # folders that the script writes out
    told: tuple[Site, ...] = ()  # defaults of options
    has_unknown: bool = False  # a folder whose value is not seen


def company_of(role: Role, paths: Paths, options: Mapping[str, Option], elsewhere: Sequence[Site]) -> Company:
    """The folders of data of a script; for anything else what is written in it stands for itself."""
    sites = [site for site in paths.sites.get(role, ()) if role is Role.DATA]
    written = [site for site in sites if site.is_folder and not site.is_here]
    folders = [own for own, is_folder in paths.options.get(role, {}).items() if is_folder and own not in PASSED]
    defaults = [options[own].default for own in folders if own in options]
    is_near = not any(site.is_absolute for site in (*sites, *elsewhere))
    near = [Site(cst.SimpleString('""'), text, True) for text in defaults if text]
    told = [site for site in near if is_near and not site.is_absolute and site.text.strip("./")]
    others = [
        use for use in paths.others.get(role, ())
        if use.is_folder and isinstance(use.other, _ASKED) and tail(use.other) not in PASSED
    ]  # fmt: skip
    has_entry = any(entry.role is role and entry.is_folder for entry in paths.entries)
    if not written:
        return Company()
    has_unknown = bool(others) or has_entry or len(told) < len(defaults)
    return Company(tuple(site.text for site in written), tuple(told), has_unknown)


def is_apart(place: str, folder: str) -> bool:
    """Whether a place lies beside a folder, not in it; where one is absolute, nobody can tell."""
    place, folder = (text.removeprefix("./").rstrip("/") for text in (place, folder))
    is_known = place.startswith("/") == folder.startswith("/")
    return is_known and not (place + "/").startswith(folder + "/")
