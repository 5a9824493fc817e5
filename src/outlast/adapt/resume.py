"""Going on where a stint before stopped: find the state of a training, restore it, save it whole.

The state is kept under one name, written aside and moved into place. Where it goes is known only in a stint
(`OUTLAST_CHECKPOINT`) or where the contract's output folder is given; by hand the script does what it did.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.frameworks.engines import plan_ignite
from outlast.adapt.frameworks.fitting import plan_mindspore
from outlast.adapt.frameworks.foreign import foreign_training
from outlast.adapt.frameworks.keras_fit import plan_keras
from outlast.adapt.frameworks.lightning import plan_lightning
from outlast.adapt.frameworks.trainers import plan_transformers
from outlast.adapt.resuming.cells import is_mindspore, mindspore_state
from outlast.adapt.resuming.celluses import CellUses
from outlast.adapt.resuming.counters import Loop, find_counting, find_loops, find_while_loops, is_outermost, named_first
from outlast.adapt.resuming.inject import inject
from outlast.adapt.resuming.kept import NOT_KEPT, global_names, kept_fields, kept_values
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.own import find_own_resume
from outlast.adapt.resuming.rounds import is_called, may_count, refuse_repeated, repeated_at
from outlast.adapt.resuming.state import PASSING, RULE, Refusal, State, random_sources
from outlast.adapt.resuming.told import say_places, say_privacy
from outlast.adapt.resuming.tracked import Tracked
from outlast.adapt.resuming.trained import is_torch, torch_state
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

#: Calls that a step of a training makes.
_STEPS = frozenset({"backward", "apply_gradients", "train_on_batch", "partial_fit"})
_Uses = TypeVar("_Uses", bound=Uses)
_FRAMEWORKS = ("torch", "tensorflow", "keras", "mindspore", "jax", "flax", "paddle", "mxnet", "chainer")


@dataclass(frozen=True)
class Plan:
    """A change that makes the script resume. `at` is where the output folder's option is read."""

    at: cst.CSTNode
    apply: Callable[[str], None]
    saves_results: bool = False  # it also sends the results to the output folder
    also: tuple[cst.CSTNode, ...] = ()  # more places where that option is read


def plan_resume(draft: Draft) -> Plan | None:
    """What to do, or None: nothing to do, or refused with a reason in the findings."""
    if "OUTLAST_CHECKPOINT" in draft.text or "outlast" in draft.names.roots:
        draft.say(Kind.KEPT, RULE, draft.first, "resumes already")
        return None
    own = find_own_resume(draft)
    if own is not None and not own.is_asked:
        advice = "keep its checkpoints below the output folder, so that the next stint finds them"
        draft.say(Kind.KEPT, RULE, draft.first, "loads a checkpoint and counts on from it already", advice)
        return None
    try:
        plan = _plan(draft)
        if own is not None:
            said = f"{own.words} goes on as before; in a stint nothing need be passed"
            # It is so once the lines are there.
            return dataclasses.replace(plan, apply=lambda value: _apply(draft, plan, value, said))
        return plan
    except Refusal as refusal:
        if own is not None:
            # It can be told to go on, so nothing need be written; but somebody must tell it, in every stint.
            if own.setting:
                said, advice = f"goes on only when {own.setting} is set", "set it to a place in the output folder"
                draft.say(Kind.DIFFERS, RULE, draft.first, said, advice)
                return None
            draft.say(
                Kind.DIFFERS, RULE, draft.first, f"goes on only when it is started with {own.words}",
                f"pass it, with a place in the output folder: outlast run … -- {own.words}",
            )  # fmt: skip
            return None
        draft.say(refusal.kind, RULE, refusal.node or draft.first, str(refusal), refusal.advice)
        return None


def _apply(draft: Draft, plan: Plan, value: str, said: str) -> None:
    plan.apply(value)
    draft.say(Kind.KEPT, RULE, draft.first, said)


def _plan(draft: Draft) -> Plan:
    _refuse_frameworks(draft)
    lightning = plan_lightning(draft)
    if lightning is not None:
        return Plan(lightning[0][0], lightning[1], saves_results=True, also=lightning[0][1:])
    trainer = plan_transformers(draft)
    if trainer is not None:
        return Plan(*trainer, saves_results=True)
    for fitted in (plan_keras(draft), plan_mindspore(draft), plan_ignite(draft)):
        if fitted is not None:
            return Plan(*fitted)
    nested = [Values(draft, loop) for loop in find_counting(draft)]
    whiles = [values for values in (Values(draft, loop) for loop in find_while_loops(draft)) if _counts(values)]
    uses = {id(values): Uses(draft, values) for values in (*nested, *whiles)}
    torch = [values for values in (*nested, *whiles) if is_torch(draft, values, uses[id(values)])]
    if torch:
        return _plan_several(draft, torch, uses, torch_state)
    if "mindspore" in draft.names.roots:
        cells = {id(values): CellUses(draft, values) for values in (*nested, *whiles)}
        trains = [values for values in (*nested, *whiles) if is_mindspore(draft, values, cells[id(values)])]
        if trains:
            return _plan_several(draft, trains, cells, mindspore_state)
    outer = {id(loop.node) for loop in find_loops(draft)}
    counting = [values for values in nested if id(values.loop.node) in outer]
    candidates = [*counting, *whiles]
    if not candidates:
        raise _no_loop(draft)
    sessions = [values for values in candidates if _session(draft, values)]
    tensorflow = [values for values in candidates if Tracked(draft, values).is_training]
    plain = [values for values in counting if values.carried()] or [values for values in whiles if values.carried()]
    found = _outer(sessions or tensorflow or plain)
    if not found:
        advice = "let the loop's function hold model and optimizer, or use outlast.epochs and outlast.save"
        where = candidates[0].loop.node
        raise Refusal("the training loop changes nothing that is visible in its function", where, advice)
    if len(found) > 1:
        raise _several(draft, found)
    values = found[0]
    refuse_repeated(draft, values.loop.node)
    find_state = _session_state if sessions else _tensorflow_state if tensorflow else _plain_state
    state = find_state(draft, values)
    _check(draft, values)
    return Plan(values.loop.node, lambda value: inject(draft, values, state, value))


def _plan_several(
    draft: Draft, found: list[Values], uses: dict[int, _Uses], find_state: Callable[[Draft, Values, _Uses], State]
) -> Plan:
    """Trainings one after the other: each has its checkpoint, and one that is done is passed at once."""
    run = {id(each) for values in found for each in (*values.run_functions(), *uses[id(values)].functions)}
    inside = {id(node) for values in found for node in draft.below(values.loop.node)}
    found = [values for values in found if id(values.loop.node) not in inside]
    found = [values for values in found if id(values.scope) not in run] or found
    named = {id(loop.node) for loop in named_first([values.loop for values in found])}
    found = [values for values in found if id(values.loop.node) in named]
    scopes = {id(values.scope): values.scope for values in found}
    if len(scopes) > 1 and not all(is_called(draft, scope) for scope in scopes.values()):
        raise _several(draft, found)
    planned = []
    for at, values in enumerate(found):
        is_again = repeated_at(draft, values.loop.node) is not None
        if is_again and not may_count(draft, values.loop.node):
            refuse_repeated(draft, values.loop.node)
        state = find_state(draft, values, uses[id(values)])
        _check(draft, values)
        planned.append((values, state, f"resume{at + 1 if at else ''}{'-' if is_again else ''}", is_again))

    def apply(value: str) -> None:
        for values, state, file, repeats in planned:
            inject(draft, values, state, value, file=file, repeats=repeats)

    return Plan(found[0].loop.node, apply, also=tuple(values.loop.node for values in found[1:]))


def _check(draft: Draft, values: Values) -> None:
    _refuse_loop(draft, values)
    random_sources(draft)
    say_places(draft, values)
    say_privacy(draft)


def _several(draft: Draft, found: list[Values]) -> Refusal:
    lines = ", ".join(str(draft.line(values.loop.node)) for values in found)
    advice = "name the one to go on with: for epoch in outlast.epochs(N)"
    return Refusal(f"there are {len(found)} training loops (lines {lines})", found[0].loop.node, advice)


def _counts(values: Values) -> bool:
    """Whether the counter of a `while` loop is there before it."""
    return values.loop.variable in values.origins and values.loop.variable in values.bound


def _outer(found: list[Values]) -> list[Values]:
    """Without loops of functions that another one of them calls: these are rounds within its rounds."""
    called = {id(function) for values in found for function in values.run_functions()}
    return [values for values in found if id(values.scope) not in called] or found


def _refuse_frameworks(draft: Draft) -> None:
    if _is_estimator(draft):
        raise Refusal(
            "the Estimator saves and resumes by itself",
            None,
            "its model_dir must lie in the output folder",
            Kind.DIFFERS,
        )


def _is_estimator(draft: Draft) -> bool:
    names = {draft.resolve(call.func) for call in draft.calls()}
    return any(
        re.fullmatch(
            r"tensorflow\.(?:compat\.v1\.|contrib\.)?(?:estimator\.)?(?:tpu\.)?\w*(?:Estimator|train_and_evaluate)",
            name,
        )
        for name in names
    )


def _no_loop(draft: Draft) -> Refusal:
    foreign = foreign_training(draft)
    if foreign is not None:
        return foreign
    whiles = [node for node in draft.nodes if isinstance(node, cst.While) and _trains(draft, node)]
    if whiles:
        return Refusal("the training loop is a while loop, and what counts its rounds is not certain", whiles[0],
                       "write it as for step in range(N), or use outlast.epochs")  # fmt: skip
    passes = [node for node in draft.nodes if isinstance(node, cst.For) and _is_one_pass(draft, node)]
    if passes:
        said = "the loop goes once through its samples, and where it stopped among them is not saved"
        return Refusal(said, passes[0], "put for epoch in range(N) around it, or use outlast.epochs")
    if any(tail(call.func) == "fit" for call in draft.calls()):
        return Refusal(
            "trains in one call that cannot be continued", None, "a stint must be long enough for it", Kind.DIFFERS
        )
    elsewhere = _trained_elsewhere(draft)
    if elsewhere is not None:
        name = draft.source(elsewhere.func)
        said = f"the training loop is not in this file: {name}() is in another one"
        return Refusal(said, elsewhere, f"adapt the file that {name} comes from, or use outlast.epochs there")
    is_plain = draft.names.roots.isdisjoint(_FRAMEWORKS)
    others = [node for node in draft.nodes if isinstance(node, cst.While) and is_plain and not _yields(draft, node)]
    if others:
        return Refusal("the only loop is a while loop, and what counts its rounds is not certain", others[0],
                       "write it as for step in range(N), or use outlast.epochs")  # fmt: skip
    return Refusal("no training loop of the form for epoch in range(N)", None, "use outlast.epochs(N)")


def _trained_elsewhere(draft: Draft) -> cst.Call | None:
    """A call that trains by its name, and is no function of this file."""
    own = {function.name.value for function in draft.functions()}
    named = re.compile(r"(?:(?:run|start|do)_)?train(?:ing|_model|_network|_loop)?|learn")
    for call in draft.calls():
        name = tail(call.func)
        takes = bool(call.args) or dotted(call.func).count(".") > 0
        if named.fullmatch(name) and name not in own and takes and not (name == "train" and not _is_run(draft, call)):
            return call
    return None


def _is_run(draft: Draft, call: cst.Call) -> bool:
    """`model.train()` and `model.train(False)` only choose how a module works."""
    values = [arg.value for arg in call.args]
    is_mode = not values or tail(values[0]) in ("True", "False")
    return not (is_mode and isinstance(call.func, cst.Attribute) and "eval" in draft.words)


def _trains(draft: Draft, loop: cst.For | cst.While) -> bool:
    """Whether a loop trains, by itself or through functions of this file; one that yields hands out samples."""
    own = {function.name.value: function for function in draft.functions()}
    waiting, seen = [] if _yields(draft, loop) else [loop.body], {loop.body}
    while waiting:
        block = waiting.pop()
        for call in draft.calls(block):
            if tail(call.func) in _STEPS or (tail(call.func) == "run" and "sess" in dotted(call.func)):
                return True
            function = own.get(tail(call.func))
            if function is not None and function.body not in seen:
                seen.add(function.body)
                waiting.append(function.body)
    return False


def _yields(draft: Draft, loop: cst.For | cst.While) -> bool:
    return any(isinstance(node, cst.Yield) for node in draft.below(loop.body))


def _is_one_pass(draft: Draft, loop: cst.For) -> bool:
    """`for step, batch in enumerate(loader)`, `for step, batch in zip(range(N), batches)`: no rounds, one long one."""
    is_alone = is_outermost(draft, loop) and repeated_at(draft, loop) is None
    return is_alone and _trains(draft, loop)


def _refuse_loop(draft: Draft, values: Values) -> None:
    loop = values.loop
    if loop.counter is not None and loop.variable in values.bound:
        raise Refusal(f"the loop changes its own counter {loop.variable}", loop.node)
    early = values.early_reads()
    if early:
        raise Refusal(f"{early[0]} goes from one round to the next but is not there before the loop", loop.node,
                      "give it a value before the loop")  # fmt: skip
    if values.outliving and not _is_simple(loop):
        raise Refusal(f"{sorted(values.outliving)[0]} is used behind the loop, and its end is computed", loop.node)
    if not draft.stands_alone(loop.node) or not draft.stands_alone(loop.top):
        raise Refusal("the loop shares its line with something else", loop.node)


def _is_simple(loop: Loop) -> bool:
    if isinstance(loop.node, cst.While):
        return not loop.is_endless
    return isinstance(loop.stop, cst.Name | cst.Attribute | cst.Integer | cst.Subscript | cst.BinaryOperation)


def _plain_state(draft: Draft, values: Values) -> State:
    _refuse_models(draft, values)
    is_self = any(isinstance(node, cst.Name) and node.value == "self" for node in draft.below(values.loop.node))
    if "self" in values.carried() or is_self:
        raise Refusal("the state of the training lies in self", values.loop.node, "use outlast.epochs and outlast.save")
    kept = kept_values(draft, values, set())
    _refuse_strangers(draft, values, kept)
    for function in draft.functions():
        if any(isinstance(node, cst.Global) for node in draft.below(function)):
            raise Refusal(f"{function.name.value}() changes global names", function, "pass them in and return them")
    return State("plain", kept=kept)


def _refuse_models(draft: Draft, values: Values) -> None:
    """A loop that keeps plain values beside a network would go on with these and an untrained network."""
    loop = values.loop.node
    if any(draft.resolve(call.func).startswith("torch.optim.") for call in draft.calls(loop.body)):
        raise Refusal("this loop starts several trainings, one after the other", loop,
                      "start each one as a run of its own")  # fmt: skip
    if "torch" in draft.names.roots and "backward" in draft.words:
        raise Refusal("the optimizer is not in the loop's function", loop,
                      "build model and optimizer in the function of the loop")  # fmt: skip
    root = next((root for root in _FRAMEWORKS if root in draft.names.roots), "")
    if root == "mindspore":
        advice = "save each Cell and the optimizer with mindspore.save_checkpoint: outlast.epochs(N, save=…, load=…)"
        raise Refusal("no optimizer or training Cell of MindSpore is seen to be called in this loop", loop, advice)
    if root:
        raise Refusal(f"what {root} trains in this loop, and how it is kept, is not visible here", loop,
                      "save it and load it in this loop: outlast.epochs and outlast.save")  # fmt: skip


def _refuse_strangers(draft: Draft, values: Values, kept: tuple[str, ...]) -> None:
    """`model.optimize_parameters()`, a method of another file that is called for what it changes."""
    for call in draft.calls(values.loop.node.body):
        name, _, method = dotted(call.func).partition(".")
        origin = values.origins.get(name)
        if (
            not method
            or not isinstance(origin, cst.Call)
            or name in kept
            or not isinstance(draft.parent(call), cst.Expr)
        ):
            continue
        if tail(origin.func) not in NOT_KEPT | PASSING and isinstance(origin.func, cst.Name):
            own = {function.name.value for function in draft.functions()}
            why = "what it returns is not known" if tail(origin.func) in own else "it is in another file"
            said = f"{name}.{method}() may change what is not saved: {name} is made by {tail(origin.func)}, and {why}"
            raise Refusal(said, call, "use outlast.epochs and outlast.save")


def _tensorflow_state(draft: Draft, values: Values) -> State:
    tracked = Tracked(draft, values).find()
    kept = kept_values(draft, values, set(tracked), torch=True)
    kept += tuple(name for name in global_names(draft, values) if name not in {*tracked, *kept})
    for name in kept:
        origin = values.origins.get(name)
        made = tail(origin.func) if isinstance(origin, cst.Call) else ""
        own = next((node for node in draft.nodes if isinstance(node, cst.ClassDef) and node.name.value == made), None)
        if own is not None and any(root in draft.source(own) for root in ("tf.", "keras", "tensorflow")):
            advice = "let it be a tf.Module, or save it by hand: outlast.save"
            raise Refusal(f"{name} holds something of TensorFlow, and {made} is no model", values.loop.node, advice)
    fields = kept_fields(draft, values, tracked)
    return State("tensorflow", tuple(tracked), kept=(*kept, *fields))


def _session(draft: Draft, values: Values) -> str:
    """The TensorFlow 1 session that the loop runs."""
    if "tensorflow" not in draft.names.roots:
        return ""
    for call in draft.calls(values.loop.node.body):
        name = tail(call.func.value) if tail(call.func) == "run" and isinstance(call.func, cst.Attribute) else ""
        made = tail(values.origins.get(name))
        # strategy.run(step) is of TensorFlow 2
        if name in values.origins and (not made or "sess" in f"{name} {made}".lower()):
            return name
    return ""


def _session_state(draft: Draft, values: Values) -> State:
    name = next(
        (
            each
            for path in ("tensorflow", "tensorflow.compat.v1")
            if (each := draft.names.name_for(path, [draft.module]))
        ),
        "",
    )
    if not name:
        raise Refusal("tensorflow is imported piece by piece", values.loop.node, "import tensorflow as tf")
    return State(
        "session",
        loaded=(_session(draft, values), name),
        kept=kept_values(draft, values, {_session(draft, values)}, torch=True),
    )
