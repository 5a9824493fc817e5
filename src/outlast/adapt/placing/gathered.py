"""Results that a script finds again by a pattern: `glob("*.pkl")` behind `torch.save(net, "{}.pkl".format(epoch))`.

Below the contract's folder each name that is found begins with that folder; a number that is read from the start of
such a name is read from its last part then.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.paths import Paths
from outlast.adapt.placing.sites import Site
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.migrate.tree import tail

_FINDS = frozenset({"glob", "iglob"})
_NUMBERS = frozenset({"int", "float"})


def take_gathered(draft: Draft, paths: Paths) -> None:
    """Let patterns that find results look where these are."""
    moments = Moments(draft)
    wraps = paths.wraps.get(Role.OUTPUT, ())
    for site in list(paths.sites.get(Role.DATA, ())):
        call = _finding(draft, site)
        if call is not None and any(
            _is_found(wrap.text, site.text) and moments.is_later(call, wrap.use.sink.call) for wrap in wraps
        ):
            paths.sites[Role.DATA].remove(site)
            paths.sites.setdefault(Role.OUTPUT, []).append(site)
    sites = [site for each in paths.sites.values() for site in each if "/" not in site.text]
    calls = [call for site in sites if (call := _finding(draft, site)) is not None]
    # Two lists of one name share their loops.
    for node in {id(node): node for call in calls for node in _counted(draft, call)}.values():
        start, end = draft.span(node)
        draft.insert(start, "os.path.basename(")
        draft.insert(end, ")")
        draft.need_import("os")


def _finding(draft: Draft, site: Site) -> cst.Call | None:
    around = draft.parent(site.literal)
    call = draft.parent(around) if isinstance(around, cst.Arg) else None
    is_one = isinstance(call, cst.Call) and tail(call.func) in _FINDS and "*" in site.text
    return call if is_one and isinstance(call, cst.Call) else None


def _is_found(written: str, pattern: str) -> bool:
    """Whether a pattern finds a name of which some parts are not known; at least its suffix must be."""
    is_told = bool(written.strip(UNKNOWN)) and "/" not in written
    return is_told and fnmatch.fnmatchcase(written.replace(UNKNOWN, "0"), pattern)


def _counted(draft: Draft, call: cst.Call) -> Iterator[cst.Name]:
    """Where a number is read from a name that is found."""
    for loop in _loops_over(draft, call):
        name = tail(loop.target)
        for node in draft.below(loop.body):
            if isinstance(node, cst.Name) and node.value == name and _is_counted(draft, node):
                yield node


def _loops_over(draft: Draft, call: cst.Call) -> Iterator[cst.For]:
    """`for file in glob("*.pkl")`, also by the name that the list has."""
    around = draft.parent(call)
    named = [tail(each.target) for each in around.targets] if isinstance(around, cst.Assign) else []
    for node in draft.nodes:
        if isinstance(node, cst.For) and isinstance(node.target, cst.Name) and draft.scope(node) is draft.scope(call):
            over = node.iter
            if isinstance(over, cst.Call) and tail(over.func) == "sorted" and over.args:
                over = over.args[0].value
            if over is call or (isinstance(over, cst.Name) and over.value in named):
                yield node


def _is_counted(draft: Draft, node: cst.Name) -> bool:
    """`int(file.split(".")[0])`: a number that stands in the name of a file."""
    parent = draft.parent(node)
    if isinstance(parent, cst.Arg):
        return False  # of `int(os.path.basename(file)…)`, which says so already
    for each in draft.above(node):
        if isinstance(each, cst.Call) and isinstance(each.func, cst.Name):
            return each.func.value in _NUMBERS
        if isinstance(each, cst.BaseStatement | cst.BaseSmallStatement):
            return False
    return False
