"""Functions and classes that no file of a program names: a configuration does, and brings their arguments."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail


def is_unnamed(draft: Draft, function: cst.FunctionDef) -> bool:
    """Whether nobody is seen to call a function of a module, or to make or extend the class whose method it is."""
    home = next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)
    if not draft.is_module or (home is not None and function.name.value != "__init__"):
        return False
    name = home.name.value if home is not None else function.name.value
    bases = (base for each in draft.nodes if isinstance(each, cst.ClassDef) for base in each.bases)
    named = [*(tail(call.func) for call in draft.calls()), *(tail(base.value) for base in bases)]
    return name not in named and not any(name in other.words for other in draft.others)
