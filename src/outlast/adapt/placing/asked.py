"""Questions for a result by another spelling: `if not exists(join(getcwd(), "out")): mkdir("out")`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.code_folder import HERE
from outlast.adapt.placing.sources import Use

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths


def add_asked(draft: Draft, found: Paths, ways: Iterable[Use]) -> None:
    """Ask for a result where it will lie, although the question begins with the working folder."""
    results = {posixpath.normpath(site.text) for site in found.sites.get(Role.OUTPUT, ())}
    for use in ways:
        is_here = isinstance(use.other, cst.Call) and draft.resolve(use.other.func) in HERE
        if use.role is None and is_here and posixpath.normpath(use.after.lstrip("/") or ".") in results:
            found.others.setdefault(Role.OUTPUT, []).append(use)
