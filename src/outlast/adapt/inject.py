"""Putting the lines of a training's state around its loop."""

from __future__ import annotations

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.loops import Values
from outlast.adapt.state import RULE, Names, State, is_distributed, is_first, plain_lines, torch_lines
from outlast.adapt.tensors import session_lines, tensorflow_lines
from outlast.migrate.engine import Kind

_LINES = {"torch": torch_lines, "plain": plain_lines, "session": session_lines, "tensorflow": tensorflow_lines}


def inject(draft: Draft, values: Values, state: State, value: str) -> None:
    """Make a loop go on from its last whole checkpoint and leave one after each round."""
    names = Names.choose(draft, values.loop.variable)
    draft.need_import("os")
    before, after = _LINES[state.kind](draft, values, state, names, value)
    loop = values.loop
    draft.add_before(loop.top, before)
    if loop.first is not None:
        draft.replace(loop.first, names.first)
    elif loop.counter is not None:
        at = draft.start(loop.counter.args[0]) if loop.counter.args else draft.span(loop.counter)[1] - 1
        draft.insert(at, f"{names.first}, " if loop.counter.args else names.first)
    guard = names.folder
    if values.outliving and isinstance(loop.node, cst.While):
        guard = f"{names.folder} and ({draft.source(loop.node.test)})"
    elif values.outliving and loop.stop is not None:
        guard = f"{names.folder} and {loop.variable} + 1 < {draft.source(loop.stop)}"
    if state.kind == "torch" and is_distributed(draft):
        guard += f" and {is_first(draft)}"
    draft.add_at_end(loop.node.body, [f"if {guard}:", *("    " + line for line in after)])
    kept = [name for name in state.kept if name != loop.variable]
    what = ", ".join([*state.loaded[: 0 if state.kind == "session" else None], *state.generators, *kept])
    draft.say(
        Kind.CHANGED,
        RULE,
        loop.node,
        f"goes on from its last checkpoint ({loop.variable}{', ' + what if what else ''})",
    )
