"""The state of a training that is not of torch or MindSpore: plain values, and TensorFlow 2."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.bringing import frameworks_of
from outlast.adapt.resuming.counters import is_named
from outlast.adapt.resuming.filled import filled_parameters
from outlast.adapt.resuming.kept import global_names, kept_fields, kept_values
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.plain_classes import makers_of, plain_classes
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.rounds import repeated_at, started
from outlast.adapt.resuming.state import PASSING, State
from outlast.adapt.resuming.tracked import Tracked
from outlast.adapt.resuming.unkept import NOT_KEPT
from outlast.adapt.resuming.uses import Uses
from outlast.adapt.whole import files_of
from outlast.migrate.tree import dotted, tail

#: Made by these, a value can be kept as it is.
_BUILT_IN = frozenset(
    "list dict set tuple int float bool str range len max min sum zip deque defaultdict Counter".split()
)
#: methods that train, by their names
_TRAINS = re.compile(r"train|learn|optimi[sz]e|update|step|fit|backward")
#: calls that train, by their names
_STARTS = re.compile(
    r"(?:partial_)?fit(?:_generator)?|train(?:ing)?(?:_(?:model|step|on_batch|epoch|one_epoch|batch|network|loop))?"
    r"|backward|apply_gradients|minimize|learn|run"
)


def plain_state(draft: Draft, values: Values) -> State:
    _refuse_models(draft, values)
    is_self = any(isinstance(node, cst.Name) and node.value == "self" for node in draft.below(values.loop.node))
    uses = Uses(draft, values)
    fields = _fields_of("self", draft, values, uses) if "self" in values.carried() or is_self else []
    whole = kept_values(draft, values, set())
    # Where any file of the program has a network of a framework, what an object holds is more than its fields.
    names = [] if any(frameworks_of(each) for each in files_of(draft)) else _held(draft, values, uses)
    held = {name: _fields_of(name, draft, values, uses) for name in names if name not in whole}
    kept = (*whole, *fields, *(field for several in held.values() for field in several))
    _refuse_strangers(draft, values, (*kept, *held))
    for function in draft.functions():
        if any(isinstance(node, cst.Global) for node in draft.below(function)):
            raise Refusal(f"{function.name.value}() changes global names", function, "pass them in and return them")
    return State("plain", kept=kept, filled=frozenset(kept).intersection(filled_parameters(draft, values)))


def changes_held(draft: Draft, values: Values) -> bool:
    """Whether the rounds call methods of an object whose class is in another file, and these change its fields."""
    uses = Uses(draft, values)
    is_plain = not any(frameworks_of(each) for each in files_of(draft))
    return is_plain and any(uses.changing(name) for name in _held(draft, values, uses))


def _held(draft: Draft, values: Values, uses: Uses, *, is_anywhere: bool = False) -> list[str]:
    """Objects of plain classes of other files that the rounds work with: of `net.train(rows)` the fields are kept."""
    return [
        name for name, homes in uses.holders.items()
        if name != "self" and "." not in name and uses.methods[name] and name in values.origins
        and name not in values.bound and all(is_anywhere or draft.home(home) is not draft for home in homes)
        and all(_is_plain_base(base, homes) for home in homes for base in home.bases)
    ]  # fmt: skip


def changes_self(draft: Draft, values: Values) -> bool:
    """Whether a loop in a method changes fields of its object, or may change what such a field holds: its layers."""
    uses = Uses(draft, values)
    own = {node.name.value for node in draft.nodes if isinstance(node, cst.ClassDef)}
    holds = (
        name.startswith("self.") and name in uses.used and origin is not None
        and any(isinstance(call, cst.Call) and tail(call.func) in own for call in (origin, *draft.below(origin)))
        for name, origin in uses.known.items()
    )  # fmt: skip
    return bool(uses.changing("self")) or any(holds)


def _fields_of(holder: str, draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Fields of an object that a training in plain Python may change. `Refusal` where one cannot be kept."""
    known = {
        name: origin
        for name, origin in uses.known.items()
        if name.startswith(f"{holder}.") and name.count(".") == holder.count(".") + 1
    }
    strangers = [base for home in uses.holders.get(holder, []) for base in home.bases
                 if not _is_plain_base(base, uses.holders[holder])]  # fmt: skip
    if holder not in uses.holders or strangers:
        said = f"the state of the training lies in {holder}"
        raise Refusal(said, values.loop.node, "use outlast.epochs and outlast.save")
    files = {id(each): each for each in (draft, *(draft.home(home) for home in uses.holders[holder]))}.values()
    own = {node.name.value for each in files for node in each.nodes if isinstance(node, cst.ClassDef)}
    changing, kept, plain = uses.changing(holder), list[str](), plain_classes(draft)
    for name, origin in known.items():
        first = changing.get(name, origin)
        makers = list(makers_of(draft, first))
        is_kept = all(
            each in own or each.startswith("numpy.") or each in _BUILT_IN or each.rpartition(".")[2] in plain
            for each in makers
        )
        is_kept = is_kept or _is_computed(draft, uses, name)
        is_used = bool(uses.methods[name]) and not isinstance(first, cst.Attribute | cst.Integer | cst.Float)
        is_state = name in changing or (bool(makers) and name in uses.used) or is_used
        if is_state and (not is_kept or (first is None or isinstance(first, cst.Lambda))):
            said = f"the state of the training lies in {holder}, and whether {name} can be kept is not certain"
            raise Refusal(said, values.loop.node, "use outlast.epochs and outlast.save")
        if is_state and (name in changing or not isinstance(first, cst.Name)):
            kept.append(name)
        elif is_state and name in uses.holders and name.count(".") == 1:
            # It was handed in, and whoever has done so goes on using it: it gets its fields back, not another object.
            kept += _fields_of(name, draft, values, uses)
        elif is_state:
            said = f"the state of the training lies in {holder}: {name} comes from outside of its class"
            raise Refusal(said, values.loop.node, "use outlast.epochs and outlast.save")
    return kept


def _is_computed(draft: Draft, uses: Uses, name: str) -> bool:
    """`self.weights -= self.rate * slopes`: a number or an array, whatever has made the first one."""
    operators = cst.SubtractAssign | cst.MultiplyAssign | cst.DivideAssign
    holder, _, field = name.partition(".")
    return any(
        isinstance(node, cst.AugAssign) and isinstance(node.operator, operators)
        and dotted(node.target) == f"self.{field}"
        for home in uses.holders[holder]
        for node in draft.below(home)
    )  # fmt: skip


def _is_plain_base(base: cst.Arg, homes: Sequence[cst.ClassDef]) -> bool:
    own = {home.name.value for home in homes}
    return tail(base.value) in {*own, "object", "ABC", "BaseEstimator", "ClassifierMixin", "RegressorMixin"}


def _refuse_models(draft: Draft, values: Values) -> None:
    """A loop that keeps plain values beside a network would go on with these and an untrained network."""
    loop = values.loop.node
    if any(draft.resolve(call.func).startswith("torch.optim.") for call in draft.calls(loop.body)):
        raise Refusal("this loop starts several trainings, one after the other", loop,
                      "start each one as a run of its own")  # fmt: skip
    if "torch" in draft.names.roots and "backward" in draft.words:
        raise Refusal("the optimizer is not in the loop's function", loop,
                      "build model and optimizer in the function of the loop")  # fmt: skip
    root = next(iter(frameworks_of(draft)), "")
    if root == "mindspore":
        advice = "save each Cell and the optimizer with mindspore.save_checkpoint: outlast.epochs(N, save=…, load=…)"
        raise Refusal("no optimizer or training Cell of MindSpore is seen to be called in this loop", loop, advice)
    if root:
        # It may be a loop around the training, which is then found where it is: in a function that this one calls.
        called = {tail(call.func) for call in draft.calls(loop.body)} | set(started(draft))
        elsewhere = {each.name.value for other in draft.others for each in other.functions()}
        said = f"what {root} trains in this loop, and how it is kept, is not visible here"
        advice = "save it and load it in this loop: outlast.epochs and outlast.save"
        raise Refusal(said, loop, advice, is_absent=bool(called & elsewhere))


def _refuse_strangers(draft: Draft, values: Values, kept: tuple[str, ...]) -> None:
    """`model.optimize_parameters()`, a method of another file that is called for what it changes."""
    found = []
    for call in draft.calls(values.loop.node.body):
        name, _, method = dotted(call.func).partition(".")
        origin = values.origins.get(name)
        is_alone = isinstance(draft.parent(call), cst.Expr)
        if not method or not isinstance(origin, cst.Call) or name in kept or not is_alone:
            continue
        if tail(origin.func) not in NOT_KEPT | PASSING and isinstance(origin.func, cst.Name):
            found.append((call, name, method, tail(origin.func)))
    if found:
        # The one that trains, by its name: others (`plotter.reset()`) may well change nothing that matters.
        call, name, method, made = max(found, key=lambda each: bool(_TRAINS.search(each[2])))
        own = {function.name.value for function in draft.functions()}
        why = "what it returns is not known" if made in own else "it is in another file"
        said = f"{name}.{method}() may change what is not saved: {name} is made by {made}, and {why}"
        raise Refusal(said, call, "use outlast.epochs and outlast.save")


def tensorflow_state(draft: Draft, values: Values) -> State:
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
    fields = [*kept_fields(draft, values, tracked), *dealt_fields(draft, values, {*tracked, *kept})]
    return State("tensorflow", tuple(tracked), kept=(*kept, *fields))


def dealt_fields(draft: Draft, values: Values, without: set[str], *, is_anywhere: bool = False) -> list[str]:
    """How far an object of another file has got that deals out samples: `batches.pointer`, `batches.order`."""
    uses = Uses(draft, values)
    return [
        field for name in _held(draft, values, uses, is_anywhere=is_anywhere) if name not in without
        for field, first in uses.changing(name).items()
        if all(_is_number(draft, call) for call in (first, *draft.calls(first)) if isinstance(call, cst.Call))
        and not isinstance(first, cst.Lambda | cst.Name) and tail(first) != "None"
    ]  # fmt: skip


def _is_number(draft: Draft, call: cst.Call) -> bool:
    name = draft.home(call).resolve(call.func) or tail(call.func)
    return name.startswith("numpy.") or name in _BUILT_IN


def starts_training(draft: Draft, values: Values) -> bool:
    """Whether the loop, or a function of the file that it runs, calls something that trains by its name."""
    bodies = (values.loop.node.body, *(function.body for function in values.run_functions()))
    return any(_STARTS.fullmatch(tail(call.func)) for body in bodies for call in draft.calls(body))


def fills_only(draft: Draft, values: Values) -> bool:
    """Whether each round only puts something at its own place of a list: `rows[i] = clean(rows[i])` is no training."""
    if is_named(values.loop) or starts_training(draft, values):
        return False
    body = list(draft.below(values.loop.node.body))
    for name in values.carried():
        for use in (node for node in body if isinstance(node, cst.Name) and node.value == name):
            part = draft.parent(use)
            at = part.slice[0].slice if isinstance(part, cst.Subscript) and part.value is use else None
            if not isinstance(at, cst.Index) or tail(at.value) != values.loop.variable:
                return False
    return not any(isinstance(node, cst.AugAssign) for node in body)


def is_episode(draft: Draft, values: Values) -> bool:
    """Whether a loop is done again and again, counts only to end some time, and is left before: a game, a trial."""
    inside = list(draft.below(values.loop.node.body))
    name = values.loop.variable.strip("_")  # of `_` nobody asks what it is
    is_left = any(isinstance(node, cst.Break | cst.Return) for node in inside)
    is_counted = any(isinstance(node, cst.Name) and node.value == name for node in inside)
    return is_left and not is_counted and repeated_at(draft, values.loop.node) is not None
