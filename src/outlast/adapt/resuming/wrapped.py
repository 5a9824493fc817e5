"""Functions that a script gets for what a checkpoint cannot take as it is: optimizers of another file, which may have
no state and hold one that has, and models that each round wraps once more.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import positional, tail

_WRAPPERS = frozenset({"DataParallel", "DistributedDataParallel"})


def wrapped_again(values: Values) -> frozenset[str]:
    """`model = nn.DataParallel(model)` in a round: what is saved has other names than what a start loads into."""
    return frozenset(
        target.target.value
        for node in values.draft.below(values.loop.node.body)
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and tail(node.value.func) in _WRAPPERS
        for target in node.targets
        if isinstance(target.target, cst.Name) and target.target.value == tail(positional(node.value, 0))
    )


def add_helpers(draft: Draft, values: Values, wrapped: Collection[str], torch: str) -> tuple[str, str]:
    """Functions that read and put back the states of such names; none where there are none."""
    unwraps = bool(wrapped_again(values).intersection(wrapped))
    what = "wrapped again" if unwraps else "wrapped"
    if not wrapped:
        return "", ""
    read, put = draft.once(what, lambda: _add_helpers(draft, torch, unwraps=unwraps))
    return read, put


def _add_helpers(draft: Draft, torch: str, *, unwraps: bool) -> tuple[str, str]:
    """Functions for what may have no state of its own, but holds an optimizer, and counts steps beside it.

    Functions among the settings of an optimizer stay those of the new start: a file may not hold them.
    """
    read, put = draft.free("state_of"), draft.free("put_state")
    wrappers = f"({torch}.nn.DataParallel, {torch}.nn.parallel.DistributedDataParallel)"
    unwrap = [f"    while isinstance(part, {wrappers}):", "        part = part.module"] if unwraps else []
    draft.add_on_top(
        [
            "",
            f"def {read}(part):",
            '    """The state of an optimizer, or of what is wrapped around one: its numbers, and what it holds."""',
            *unwrap,
            '    if hasattr(part, "load_state_dict"):',
            "        state = part.state_dict()",
            '        groups = state.get("param_groups", []) if isinstance(state, dict) else []',
            "        plain = [{key: value for key, value in each.items() if not callable(value)} for each in groups]",
            '        return {**state, "param_groups": plain} if groups else state',
            "    numbers = {name: value for name, value in vars(part).items() if isinstance(value, (int, float))}",
            '    held = {name: value for name, value in vars(part).items() if hasattr(value, "load_state_dict")}',
            "    return {**numbers, **{name: value.state_dict() for name, value in held.items()}}",
            "",
            "",
            f"def {put}(part, state):",
            *unwrap,
            '    if hasattr(part, "load_state_dict"):',
            '        if isinstance(state, dict) and state.get("param_groups"):',
            '            groups = zip(part.state_dict()["param_groups"], state["param_groups"])',
            '            state = {**state, "param_groups": [{**own, **kept} for own, kept in groups]}',
            "        part.load_state_dict(state)",
            "        return",
            "    for name, value in state.items():",
            '        if hasattr(getattr(part, name), "load_state_dict"):',
            "            getattr(part, name).load_state_dict(value)",
            "        else:",
            "            setattr(part, name, value)",
            "",
        ]
    )
    return read, put
