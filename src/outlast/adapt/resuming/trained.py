"""The state of a torch training: what its loop trains, draws from, and carries from round to round."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.kept import CHANGES, NOT_KEPT, is_plain, kept_values
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.modules import Modules, find_modules, find_optimizers, is_inside, is_tensor
from outlast.adapt.resuming.state import RULE, Refusal, State
from outlast.adapt.resuming.uses import Uses
from outlast.adapt.resuming.visible import global_names
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, tail

_ANEW = "save it with outlast.save if its state matters"


def is_torch(draft: Draft, values: Values, uses: Uses) -> bool:
    """Whether a loop trains something of torch that it has a name for."""
    return bool(
        find_optimizers(values, uses)
        or _optimizer_groups(uses)
        or _leaves(draft, uses)
        or _by_hand(draft, values, uses)
    )


def _by_hand(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Models from before the loop whose parameters it changes itself (`p.data.add_(p.grad, alpha=-lr)`), or by an
    optimizer that each round makes anew.
    """
    if "torch" not in draft.names.roots or "backward" not in draft.words:
        return []
    blocks = [values.loop.node.body, *(function.body for function in values.run_functions())]
    made = [draft.resolve(call.func) for block in blocks for call in draft.calls(block)]
    is_made = any(name.startswith("torch.optim.") and "lr_scheduler" not in name for name in made)
    if "grad" not in draft.words and not is_made:
        return []
    return [
        name for name, methods in uses.methods.items()
        if "parameters" in methods and "." not in name and name not in values.bound
    ]  # fmt: skip


def _optimizer_groups(uses: Uses) -> list[str]:
    return [name for name, methods in uses.elements.items() if {"step", "zero_grad"} <= methods]


def torch_state(draft: Draft, values: Values, uses: Uses) -> State:
    optimized = find_optimizers(values, uses) or _optimizer_groups(uses) or _by_hand(draft, values, uses)
    found = find_modules(draft, values, uses) if optimized else Modules()
    tensors = [*found.tensors, *(name for name in _leaves(draft, uses) if name not in found.names)]
    generators = [name for name, origin in uses.known.items() if _is_generator(draft, origin)]
    _refuse_hidden_generators(draft)
    kept, outer = kept_beside(draft, values, uses, {*found.names, *tensors, *generators})
    for name, made in found.asked.items():
        if made:
            said = f"{name} is kept only if {made}, which is in another file, has state_dict and load_state_dict"
            draft.say(Kind.DIFFERS, RULE, values.loop.node, said, f"it starts anew in each stint otherwise: {_ANEW}")
    return State(
        "torch", tuple(found.loaded), tuple(generators), kept,
        maybe=frozenset(name for name in found.loaded if uses.may_be_none(name)),
        under=tuple(found.under.items()), groups=tuple(found.groups.items()), tensors=tuple(tensors),
        asked=frozenset(found.asked), outer=outer,
    )  # fmt: skip


def kept_beside(draft: Draft, values: Values, uses: Uses, saved: set[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Values that go round beside what is trained, and those of them that are names of the module."""
    whole = {name for name in uses.holders if name not in values.bound}
    kept = [name for name in kept_values(draft, values, saved | whole, torch=True) if not uses.alias(name)]
    outer = [name for name in _changed_elsewhere(draft, values, uses) if name not in {*saved, *whole, *kept}]
    kept += [*outer, *(name for name in _fields(draft, values, uses, saved) if name not in saved)]
    kept += [name for name in _set_fields(draft, values, uses) if name not in {*saved, *kept}]
    reached = {name for name in outer if values.scope is not draft.module and name not in values.origins}
    return tuple(dict.fromkeys(kept)), frozenset(reached - global_names(draft, values.scope))


def _leaves(draft: Draft, uses: Uses) -> list[str]:
    """Tensors that a loop trains without an optimizer, or that an optimizer gets by a way that is not seen."""
    if "backward" not in draft.words and "grad" not in draft.words:
        return []
    asked = {dotted(call.func).rpartition(".")[0] for call in draft.calls() if tail(call.func) == "requires_grad_"}
    asked |= {
        dotted(node.target).rpartition(".")[0]
        for node in draft.nodes
        if isinstance(node, cst.AssignTarget) and tail(node.target) == "requires_grad"
    }
    return [
        name
        for name, origin in uses.known.items()
        if name in uses.used and is_tensor(draft, origin) and not uses.alias(name) and not is_inside(draft, uses, name)
        and (name in asked or (origin is not None and re.search(r"requires_grad|Parameter", draft.source(origin))))
    ]  # fmt: skip


def _is_generator(draft: Draft, origin: cst.BaseExpression | None) -> bool:
    """`torch.Generator()`, `torch.Generator().manual_seed(0)`."""
    while (
        isinstance(origin, cst.Call) and isinstance(origin.func, cst.Attribute) and tail(origin.func) == "manual_seed"
    ):
        origin = origin.func.value
    return isinstance(origin, cst.Call) and draft.resolve(origin.func) == "torch.Generator"


def _refuse_hidden_generators(draft: Draft) -> None:
    """A generator without a name inside a loader deals out another order after a stop."""
    for call in draft.calls():
        given = argument(call, "generator")
        is_reader = tail(call.func) == "DataLoader" or tail(call.func).endswith("Sampler")
        if is_reader and given is not None and _is_generator(draft, given.value):
            advice = "give it a name before the loop: generator = torch.Generator()"
            raise Refusal("the generator of the samples has no name to save it by", given, advice)


def _changed_elsewhere(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Names of the module that functions change while the loop runs: `global best`, `losses.append(loss)`."""
    rebound = values.bound & global_names(draft, values.scope)
    for function in uses.functions:
        bound = {name for node in draft.below(function.body) for name in targets_of(node)}
        rebound |= bound & global_names(draft, function)
    filled = {
        name
        for function in uses.functions
        for node in draft.below(function.body)
        if isinstance(node, cst.AssignTarget | cst.AugAssign) and isinstance(node.target, cst.Subscript)
        for name, rest in uses.seen_as(dotted(node.target.value), draft.scope(node))
        if not rest
    }
    filled |= {name for name, methods in uses.methods.items() if methods & CHANGES}
    found = []
    for name, origin in uses.known.items():
        if "." in name or uses.alias(name) or name not in uses.used | rebound:
            continue
        made = tail(origin.func) if isinstance(origin, cst.Call) else ""
        is_container = isinstance(origin, cst.List | cst.Dict | cst.Set) or (made and is_plain(origin))
        is_rebound = name in rebound and origin is not None and made not in NOT_KEPT
        if is_rebound or (name in filled and is_container):
            found.append(name)
    return found


def _fields(draft: Draft, values: Values, uses: Uses, saved: set[str]) -> list[str]:
    """`self.best`, `stopper.best`: plain at first, and changed by a method of the object's class."""
    kept = []
    for holder in uses.holders:
        if holder != "self" and not uses.methods[holder]:
            continue
        for name, first in uses.changing(holder).items():
            if is_plain(first):
                kept.append(name)
            elif isinstance(first, cst.Call) and name not in uses.holders and tail(first.func) not in NOT_KEPT:
                is_saved = name in saved or any(each in uses.methods[name] for each in ("step", "eval", "parameters"))
                if not is_saved:
                    draft.say(Kind.DIFFERS, RULE, values.loop.node, f"{name} starts anew in each stint", _ANEW)
    return kept


def _set_fields(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """`args.lr`, where each round makes it from what it was."""
    found = []
    for node in draft.below(values.loop.node.body):
        target, read = None, ""
        if isinstance(node, cst.AugAssign):
            target, read = node.target, dotted(node.target)
        elif isinstance(node, cst.Assign) and len(node.targets) == 1:
            target = node.targets[0].target
            read = next(
                (dotted(each) for each in (node.value, *draft.below(node.value)) if dotted(each) == dotted(target)), ""
            )
        name = dotted(target)
        root = name.partition(".")[0]
        is_outside = root in uses.known and root not in values.bound and root not in uses.holders
        if name.count(".") == 1 and read == name and is_outside:
            found.append(name)
    return list(dict.fromkeys(found))
