"""Scripts that copy their files with MoXing themselves."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import PASSED
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail


def tell_copying(draft: Draft) -> None:
    """Nothing is done to the paths of such a script; many copy only where a setting says so."""
    said = "copies its files with MoXing itself: paths stay as they are"
    draft.say(Kind.KEPT, "paths", draft.first, said)
    setting = next((found for each in (draft, *draft.others) if (found := _asked(each))), "")
    if setting:
        advice = f"pass it with the other options: outlast run … -- --{setting}=True"
        draft.say(Kind.DIFFERS, "paths", draft.first, f"its files are copied only where {setting} is set", advice)


def _asked(draft: Draft) -> str:
    """`if config.enable_modelarts:` around what is done with the contract's options."""
    for node in draft.nodes:
        if not isinstance(node, cst.If) or not dotted(node.test) or tail(node.test) in PASSED:
            continue
        below = list(draft.below(node.body))
        is_ours = any(isinstance(each, cst.Attribute) and each.attr.value in PASSED for each in below)
        copies = any(isinstance(each, cst.Call) and "copy" in tail(each.func) for each in below)
        if is_ours or (copies and "moxing" in draft.names.roots):
            return tail(node.test)
    return ""
