"""Functions that a script gets for an optimizer of another file, which may have no state and hold one that has."""

from __future__ import annotations

from outlast.adapt.draft import Draft


def add_helpers(draft: Draft) -> tuple[str, str]:
    """Functions for what may have no state of its own, but holds an optimizer, and counts steps beside it."""
    read, put = draft.free("state_of"), draft.free("put_state")
    draft.add_on_top(
        [
            "",
            f"def {read}(part):",
            '    """The state of an optimizer, or of what is wrapped around one: its numbers, and what it holds."""',
            '    if hasattr(part, "load_state_dict"):',
            "        return part.state_dict()",
            "    numbers = {name: value for name, value in vars(part).items() if isinstance(value, (int, float))}",
            '    held = {name: value for name, value in vars(part).items() if hasattr(value, "load_state_dict")}',
            "    return {**numbers, **{name: value.state_dict() for name, value in held.items()}}",
            "",
            "",
            f"def {put}(part, state):",
            '    if hasattr(part, "load_state_dict"):',
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
