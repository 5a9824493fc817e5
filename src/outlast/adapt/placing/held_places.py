"""Places that are values of a configuration, or begin where the code lies: one place has one role, whoever takes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.roles import RESULTS
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.adapt.resuming.own import is_resume
from outlast.migrate.tree import inner, tail


def by_place(draft: Draft, others: Mapping[Role, Sequence[Use]]) -> dict[Role, list[Use]]:
    """Uses by role: what is written to and read from holds results, what is only made and read from holds data."""
    found = {role: list(uses) for role, uses in others.items()}
    _leave_to_data(draft, found)
    written = {_spelled(draft, use) for use in found.get(Role.OUTPUT, [])} - {""}
    for role in (Role.WEIGHTS, Role.DATA):
        # What a script goes on from by its own flag is no input: `plan_resume` speaks of it.
        uses = [use for use in found.get(role, []) if role is Role.DATA or not is_resume(tail(use.other))]
        own = [use for use in uses if _spelled(draft, use) in written]
        found[role] = [use for use in uses if use not in own]
        found.setdefault(Role.OUTPUT, []).extend(own)
    return found


def _leave_to_data(draft: Draft, others: dict[Role, list[Use]]) -> None:
    """Who fetches data makes the folder for it, and what fetches is often a command that says nothing of that."""
    read = {_spelled(draft, use) for use in others.get(Role.DATA, []) if not RESULTS.search(_words(draft, use))} - {""}
    output = others.get(Role.OUTPUT, [])
    read -= {_spelled(draft, use) for use in output if not use.sink.makes}
    made = [use for use in output if _spelled(draft, use) in read]
    if made:
        others[Role.OUTPUT] = [use for use in output if use not in made]
        others[Role.DATA] += made


def _words(draft: Draft, use: Use) -> str:
    """The names of folders in a place."""
    parts = (use.other, *draft.below(use.other)) if use.other is not None else ()
    return "/".join([*(inner(each) for each in parts if isinstance(each, cst.SimpleString)), tail(use.other)])


def _spelled(draft: Draft, use: Use) -> str:
    """How a place of a configuration is written; below the folder of the code with what is there: `ROOT / cfg.data`."""
    around = draft.parent(use.other) if use.other is not None else None
    is_root = isinstance(around, cst.BinaryOperation) and around.left is use.other and use.after[:2] == f"/{UNKNOWN}"
    return draft.source(around if is_root and around is not None else use.other) if use.other is not None else ""
