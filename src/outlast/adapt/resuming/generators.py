"""Global sources of random numbers, whose state goes into a checkpoint."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft

#: Generators that hold their own numbers.
_OWN_STATE = frozenset({"default_rng", "RandomState", "Generator", "SeedSequence", "PCG64", "MT19937"})
#: Libraries that change samples by chance, with the numbers of Python and of numpy.
_CHANGERS = re.compile(r"(?:timm\.data|albumentations|audiomentations|imgaug|nlpaug|torch_geometric)\.")


def random_sources(draft: Draft) -> list[tuple[str, str, str]]:
    """(key, how it is read, how it is put back) for each global source of random numbers that the program may use."""
    found = []
    files = (draft, *draft.others)
    used = {each.resolve(call.func) for each in files for call in each.calls()}
    is_changed = any(_CHANGERS.match(each) for each in used)
    is_global = is_changed or any(
        each.startswith("numpy.random.") and each.rpartition(".")[2] not in _OWN_STATE for each in used
    )
    if is_global or any(map(_hands_on_numpy, files)):
        numpy = whole_module(draft, "numpy")
        found.append(("numpy_random", f"{numpy}.random.get_state()", f"{numpy}.random.set_state({{}})"))
    is_drawn = any(each.names.name_for("random", [each.module]) for each in files)
    if is_drawn or is_changed or any(each.startswith("random.") for each in used):
        plain = whole_module(draft, "random")
        found.append(("random", f"{plain}.getstate()", f"{plain}.setstate({{}})"))
    return found


def _hands_on_numpy(draft: Draft) -> bool:
    """Whether numpy's numbers have another name: `rng = np.random`, `draw = np.random.randn`."""
    for node in draft.nodes:
        if not isinstance(node, cst.Attribute) or not isinstance(draft.parent(node), cst.Assign | cst.Arg | cst.Param):
            continue
        name = draft.resolve(node)
        if name == "numpy.random" or (name.startswith("numpy.random.") and name.rpartition(".")[2] not in _OWN_STATE):
            return True
    return False


def whole_module(draft: Draft, module: str) -> str:
    """What a module is called; `from random import shuffle` has only a part of it."""
    name = draft.names.name_for(module, [draft.module])
    if not name and not draft.is_unbound(module) and not _is_only_module(draft, module):
        draft.need_import("importlib")  # the script has something else of that name
        return f'importlib.import_module("{module}")'
    if not name:
        draft.need_import(module)
    return name or module


def _is_only_module(draft: Draft, module: str) -> bool:
    """Whether a name is that of the module wherever it stands: functions may import it for themselves."""
    return all(
        draft.resolve(node) == module
        for node in draft.nodes
        if isinstance(node, cst.Name) and node.value == module
        and not (isinstance(parent := draft.parent(node), cst.Attribute) and parent.attr is node)
    )  # fmt: skip
