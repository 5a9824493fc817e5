"""The numbers by which TensorFlow names checkpoints of the script's own: `ckpt-3` behind `ckpt-2`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import argument, dotted, positional, tail

_CHECKPOINT = "tensorflow.train.Checkpoint"


def save_counters(
    draft: Draft, visible: Mapping[str, cst.BaseExpression | None], reached: Iterable[cst.CSTNode]
) -> list[str]:
    """Those that count what the rounds save: after a stop they would begin at 1 again, and put the new over the old.

    `visible`: names at the loop, with what they were made of; `reached`: what a round runs.
    """
    made = {name: origin for name, origin in visible.items() if isinstance(origin, cst.Call)}
    kinds = {name: draft.resolve(origin.func) for name, origin in made.items()}
    saved = {
        dotted(node.func).removesuffix(".save")
        for node in reached
        if isinstance(node, cst.Call) and tail(node.func) == "save" and argument(node, "checkpoint_number") is None
    }
    saved |= {
        dotted(first)
        for name in saved
        if kinds.get(name) == f"{_CHECKPOINT}Manager" and (first := positional(made[name], 0)) is not None
    }
    return [f"{name}.save_counter" for name, kind in kinds.items() if kind == _CHECKPOINT and name in saved]
