"""Paths that are cut as texts: `self.path.rstrip("Datasets/")` takes letters away, and of another folder others."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.placing.paths import Paths
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, inner, positional, tail

_STRIPS = frozenset({"strip", "rstrip", "lstrip"})


def tell_cuts(draft: Draft, paths: Paths) -> None:
    """Name each place that gives way to the contract's, and of which letters are stripped."""
    sites = {id(site.literal) for found in paths.sites.values() for site in found}
    names = {
        dotted(target.target)
        for node in draft.nodes
        if isinstance(node, cst.Assign) and any(id(each) in sites for each in (node.value, *draft.below(node.value)))
        for target in node.targets
    } - {""}  # fmt: skip
    for call in draft.calls():
        if tail(call.func) not in _STRIPS or not isinstance(call.func, cst.Attribute):
            continue
        name = dotted(call.func.value)
        if name in names and re.search(r"[A-Za-z]{2}", inner(positional(call, 0))):
            said = f"{draft.source(call)} takes single letters away from the end of {name}, whatever its folder is"
            draft.say(Kind.HAND, "paths", call, said, "use os.path.dirname, or give that folder a name of its own")
