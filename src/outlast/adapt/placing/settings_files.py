"""Files of settings that settings name, or that lie in a folder with others: they travel with the code."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.arguments.setup import CODE_FILE
from outlast.adapt.draft import Draft
from outlast.migrate.tree import inner, tail

_LOADS = re.compile(r"(?:yaml|ruamel\.yaml|toml|tomllib|tomli)\.(?:\w+_)?load(?:s|_all)?|omegaconf\.OmegaConf\.load")


def is_beside_settings(draft: Draft, node: cst.CSTNode) -> bool:
    """`run.parent / "options.yaml"`: a folder in which settings are looked for."""
    parent = draft.parent(node)
    if isinstance(parent, cst.BinaryOperation):
        return bool(CODE_FILE.search(inner(parent.right)))
    call = draft.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and any(CODE_FILE.search(inner(arg.value)) for arg in call.args)


def is_read_as_settings(draft: Draft, call: cst.Call) -> bool:
    """`yaml.safe_load(path.read_text())`, `with open(path) as file: yaml.safe_load(file)`."""
    for each in draft.above(call):
        if isinstance(each, cst.Call) and _LOADS.fullmatch(draft.resolve(each.func)):
            return True
        if isinstance(each, cst.WithItem):
            name, block = tail(each.asname.name) if each.asname is not None else "", draft.parent(each)
            return any(
                _LOADS.fullmatch(draft.resolve(inside.func)) and any(tail(arg.value) == name for arg in inside.args)
                for inside in (draft.calls(block.body) if isinstance(block, cst.With) and name else ())
            )
        if isinstance(each, cst.BaseCompoundStatement):
            return False
    return False
