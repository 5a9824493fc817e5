"""The folder that paths have in common: it gives way to the contract's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from outlast.adapt.placing.sites import Site

#: what a path begins with before its folders have names: it stays in the default
_BASE = re.compile(r"(?:(?:\.{1,2}|~)(?:/+|$))+")


def base_of(text: str) -> str:
    found = _BASE.match(text)
    return found.group() if found else ""


def named(base: str) -> str:
    return "/".join(part for part in base.split("/") if part not in ("", "."))


def names_of(site: Site) -> list[str]:
    """The folders of a path that have names."""
    skipped = len([part for part in base_of(site.text).split("/") if part])
    folders = site.folders
    return folders[max(skipped - (1 if site.text.startswith("./") else 0), 0) :]


def shared(paths: Sequence[Sequence[str]]) -> list[str]:
    found: list[str] = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        found.append(parts[0])
    return found


def told(cuts: Sequence[tuple[Site, int]]) -> str:
    """Which folder gives way, where one above it might as well be meant: `data/maps`, and not `data`.

    `cuts`: how much of each path gives way. A folder that is read as a whole needs no word.
    """
    folders = {site.text[:cut].rstrip("/") for site, cut in cuts}
    folder = next(iter(folders)) if len(folders) == 1 else ""
    names = [part for part in folder[len(base_of(folder)) :].split("/") if part]
    is_below = all(site.text[cut:].strip("/") for site, cut in cuts)
    return folder if len(names) > 1 and is_below else ""
