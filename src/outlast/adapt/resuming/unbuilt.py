"""Models of Keras that only their first step can build: before it there is nothing that a checkpoint could fill."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail


def is_built_late(draft: Draft, name: str) -> bool:
    """Whether a class of the program is a model that Keras 3 cannot build ahead of a step: it does so by one input."""
    nodes = [node for each in (draft, *draft.others) if name in each.class_names for node in each.nodes]
    own = next((node for node in nodes if isinstance(node, cst.ClassDef) and node.name.value == name), None)
    if own is None:
        return False
    calls = [node for node in own.body.body if isinstance(node, cst.FunctionDef) and node.name.value == "call"]
    if not calls:
        return not any(word in draft.source(own) for word in ("Input", "input_shape", "input_dim", "Variable"))
    return any(len(_inputs(call)) > 1 or _takes_apart(call) for call in calls)


def _inputs(function: cst.FunctionDef) -> list[str]:
    named = [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]
    return [each for each in named[1:] if each not in ("training", "mask")]


def _takes_apart(function: cst.FunctionDef) -> bool:
    """`words, lengths = inputs`: the one input is several."""
    lines = [each for line in function.body.body if isinstance(line, cst.SimpleStatementLine) for each in line.body]
    return any(
        isinstance(line, cst.Assign)
        and isinstance(line.targets[0].target, cst.Tuple)
        and isinstance(line.value, cst.Name)
        and tail(line.value) in _inputs(function)
        for line in lines
    )
