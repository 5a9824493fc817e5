"""Trainings in a session of TensorFlow 1: which one a loop runs, also where an object of the program holds it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.kept import kept_fields, kept_values
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.state import State
from outlast.adapt.resuming.states import dealt_fields
from outlast.adapt.resuming.uses import Uses
from outlast.adapt.whole import files_of, roots_of
from outlast.migrate.tree import dotted, tail

#: what makes the step of a training that a session runs
_MAKES_STEPS = frozenset({"minimize", "apply_gradients", "create_train_op", "optimize_loss"})
_SESSIONS = frozenset({"Session", "InteractiveSession"})


def session_of(draft: Draft, values: Values) -> str:
    """The session that the loop runs."""
    if "tensorflow" not in draft.names.roots:
        return _held_session(draft, values)
    fields = values.field_values()
    for call in draft.calls(values.loop.node.body):
        name = dotted(call.func.value) if tail(call.func) == "run" and isinstance(call.func, cst.Attribute) else ""
        made = tail(values.origins.get(name) or next(iter(fields.get(name, [])), None))
        is_named = "sess" in f"{name} {made}".lower()
        # strategy.run(step) is of TensorFlow 2
        if (name in values.origins and (not made or is_named)) or (name in fields and is_named):
            return name
    return _held_session(draft, values)


def _held_session(draft: Draft, values: Values) -> str:
    """`model.sess`, which a step of the training runs in a method of the object's class."""
    if "tensorflow" not in roots_of(draft) or not any(True for _ in _makers(draft)):
        return ""
    uses = Uses(draft, values)
    found = [
        name for name, methods in uses.methods.items()
        if "run" in methods and not name.startswith("self.") and "sess" in name.rpartition(".")[2].lower()
        and name.rpartition(".")[0] in uses.holders
    ]  # fmt: skip
    steps = _steps(draft)
    bodies = [function.body for function in uses.functions]
    is_training = any(
        tail(node) in steps
        for body in bodies for node in draft.below(body) if isinstance(node, cst.Name | cst.Attribute)
    )  # fmt: skip
    return found[0] if len(found) == 1 and is_training else ""


def _makers(draft: Draft) -> Iterator[str]:
    """What makes the sessions of a program, by their full names."""
    for file in files_of(draft):
        for call in file.calls():
            if tail(call.func) in _SESSIONS:
                yield file.resolve(call.func)


def _steps(draft: Draft) -> set[str]:
    """What a program calls the steps that its optimizers make."""
    return {
        tail(target.target)
        for file in files_of(draft) for node in file.of(cst.Assign)
        if any(tail(call.func) in _MAKES_STEPS for call in file.calls(node))
        for target in node.targets
    }  # fmt: skip


def runs_training(draft: Draft, values: Values) -> bool:
    """Whether a session runs what an optimizer has made: another loop may draw pictures with it."""
    made = _steps(draft)
    return any(
        tail(call.func) == "run" and any(tail(node) in made for arg in call.args for node in (arg, *draft.below(arg)))
        for call in draft.calls(values.loop.node.body)
    )


def session_state(draft: Draft, values: Values) -> State:
    session = session_of(draft, values)
    given = (*kept_values(draft, values, {session}, torch=True), *kept_fields(draft, values, [session]))
    dealt = dealt_fields(draft, values, {*given, session}, is_anywhere=True)
    return State("session", loaded=(session, _root(draft, values, session)), kept=(*given, *dealt))


def _root(draft: Draft, values: Values, session: str) -> str:
    """Where a Saver is found: version 2 of TensorFlow has it in `compat.v1` alone."""
    name = draft.names.name_for("tensorflow", [draft.module])
    old = draft.names.name_for("tensorflow.compat.v1", [draft.module])
    if not name and not old:
        if "." not in session:
            raise Refusal("tensorflow is imported piece by piece", values.loop.node, "import tensorflow as tf")
        draft.need_import("tensorflow")
        name = "tensorflow"
    is_compat = any(made.startswith("tensorflow.compat.v1.") for made in _makers(draft))
    return f"{name}.compat.v1" if name and is_compat else name or old
