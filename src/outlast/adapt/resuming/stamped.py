"""Places that a function of another file makes of the clock: `folder = make_folder(root)`, before the rounds.

def make_folder(root):
    return os.path.join(root, time.strftime("%m%d-%H%M"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.stamps import begins_files, is_made_before, keep_stamps, makes_anew, stamps_of
from outlast.migrate.tree import tail


@dataclass(frozen=True)
class Stamped:
    """A text of the time in another file than that of the rounds."""

    draft: Draft
    node: cst.CSTNode
    is_early: bool = False  # made when the file is imported


def find_stamped(draft: Draft, values: Values) -> list[Stamped]:
    """Texts of the time in what such functions give back, of which one call is all there is, and is made before."""
    if begins_files(draft, values):
        return []
    found: dict[int, Stamped] = {}
    for call in draft.calls():
        given = function_elsewhere(draft, call)
        if given is None or not is_made_before(draft, call, values) or not _is_only(draft, call):
            continue
        home, function = given
        if makes_anew(draft) or makes_anew(home):
            continue  # the folder is there in the next stint
        for each in home.below(function):
            if isinstance(each, cst.Return) and each.value is not None:
                stamps = (node for node in stamps_of(home, each.value) if home.scope(node) is function)
                found |= {id(node): Stamped(home, node) for node in stamps}
    return list(found.values())


def keep_stamped(found: Sequence[Stamped], draft: Draft, value: str) -> None:
    """Let all stints have the first one's, in one file. `value`: the contract's output folder."""
    for at, each in enumerate(found):
        if each.draft is draft:
            keep_stamps(draft, [each.node], draft.scope(each.node), value, f"resume-place{at or ''}")


def _is_only(draft: Draft, call: cst.Call) -> bool:
    calls = [each for file in (draft, *draft.others) for each in file.calls() if tail(each.func) == tail(call.func)]
    return len(calls) == 1
