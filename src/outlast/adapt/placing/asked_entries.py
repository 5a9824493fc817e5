"""Functions that look a place up for whoever asks by name: `def place_of(name): return {"rows": "../rows"}[name]`."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.placing.flow import Flow
from outlast.migrate.tree import argument, inner, positional, tail


def asked_entry(
    flow: Flow, function: cst.FunctionDef, value: cst.BaseExpression, call: cst.CSTNode | None
) -> cst.BaseExpression:
    """What a function gives back to a call: the entry of its dictionary that is asked for, else the value as it is."""
    index = value.slice[0].slice if isinstance(value, cst.Subscript) and len(value.slice) == 1 else None
    name = tail(index.value) if isinstance(index, cst.Index) else ""
    if not isinstance(value, cst.Subscript) or name not in parameters_of(function) or not isinstance(call, cst.Call):
        return value
    named = argument(call, name)
    key = inner(named.value if named is not None else positional(call, parameters_of(function).index(name)))
    table = flow.value_of(value.value)
    entries = table.elements if isinstance(table, cst.Dict) and key else ()
    found = [each.value for each in entries if isinstance(each, cst.DictElement) and inner(each.key) == key]
    return found[0] if len(found) == 1 else value
