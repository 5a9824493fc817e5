"""The state of a torch training: what its loop trains, draws from, and carries from round to round."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.ahead import fetched_ahead, loaded_before
from outlast.adapt.resuming.arrays import filled_places, is_table
from outlast.adapt.resuming.called import whole_of
from outlast.adapt.resuming.counted import find_counted
from outlast.adapt.resuming.dealt import find_dealt
from outlast.adapt.resuming.dealt_fields import find_dealt_fields
from outlast.adapt.resuming.filled import filled_parameters
from outlast.adapt.resuming.held_arrays import changed_parameters
from outlast.adapt.resuming.kept import CHANGES, WRITERS, is_container, is_plain, kept_values, leave_missing, say_unkept
from outlast.adapt.resuming.late import is_reset, made_late
from outlast.adapt.resuming.loaders import loader_generators
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.made_functions import refuse_functions
from outlast.adapt.resuming.modes import find_modes
from outlast.adapt.resuming.modules import Modules, find_modules, find_optimizers, is_helper, is_inside, is_tensor
from outlast.adapt.resuming.parts import targets_in
from outlast.adapt.resuming.read_again import can_be_read_again, is_archive
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.replaced import refuse_replaced
from outlast.adapt.resuming.scopes import global_names
from outlast.adapt.resuming.settings import set_fields
from outlast.adapt.resuming.state import RULE, State
from outlast.adapt.resuming.thawed import is_thawing
from outlast.adapt.resuming.turns import turned
from outlast.adapt.resuming.unkept import NOT_KEPT, is_no_value, unkept_in_field
from outlast.adapt.resuming.uses import CALLED, Uses
from outlast.adapt.resuming.wrapped import wrapped_again
from outlast.adapt.whole import roots_of
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, positional, tail

#: Words of libraries that compress weights, or train few of them.
_IN_PART = re.compile(
    r"BitsAndBytesConfig|load_in_[48]bit|prepare_model_for_(?:kbit|int8)_training|get_peft_model|PeftModel|Linear4bit|"
    r"Linear8bitLt"
)
#: what time it is, is another one in each stint
_CLOCKS = frozenset({"now", "today", "utcnow", "perf_counter", "monotonic"})
#: libraries that follow a training: each stint begins another record
_TRACKERS = frozenset({"wandb", "mlflow", "comet_ml", "neptune", "clearml", "swanlab", "aim", "dvclive"})
#: methods of texts that give texts, or lists of them
_WORDS = frozenset("split rsplit splitlines strip rstrip lstrip lower upper format join".split())
_ANEW = "save it with outlast.save if its state matters"


def is_torch(draft: Draft, values: Values, uses: Uses) -> bool:
    """Whether a loop trains something of torch that it has a name for."""
    return bool(
        find_optimizers(values, uses)
        or _optimizer_groups(uses)
        or _leaves(draft, values, uses)
        or _by_hand(draft, values, uses)
    )


def _by_hand(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Models from before the loop whose parameters it changes itself (`p.data.add_(p.grad, alpha=-lr)`), or by an
    optimizer that each round makes anew.
    """
    if "torch" not in roots_of(draft) or "backward" not in draft.words:
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
    tensors = [*found.tensors, *(name for name in _leaves(draft, values, uses) if name not in found.names)]
    generators = [name for name, origin in uses.known.items() if _is_generator(draft, origin)]
    held, loaders = loader_generators(draft, values, uses, generators)
    _refuse_hidden_generators(draft, loaders)
    fields = find_dealt_fields(draft, values, uses)
    saved = {*found.names, *tensors, *generators, *(each.name for each in fields)}
    kept, outer = kept_beside(draft, values, uses, saved)
    anew = turned(draft, values, found.names)
    kept = tuple(name for name in kept if name not in anew)
    refuse_functions(draft, values, kept)
    helpers = [name for name in found.loaded if (call := uses.made(name)) is not None and is_helper(name, call)]
    refuse_replaced(draft, values, [*optimized, *helpers])
    filled = [name for name in filled_parameters(draft, values) if name not in {*found.names, *tensors, *anew}]
    changed = [name for name in changed_parameters(draft, values) if name not in {*found.names, *tensors, *anew}]
    kept = tuple(dict.fromkeys([*kept, *filled, *changed]))
    holders = {name.rpartition(".")[0] for name in kept} - {""}
    for name, made in found.asked.items():
        if made:
            said = f"{name} is kept only if {made}, which is in another file, has state_dict and load_state_dict"
            draft.say(Kind.DIFFERS, RULE, values.loop.node, said, f"it starts anew in each stint otherwise: {_ANEW}")
    under = {
        name: values.condition(name) for name in (*found.groups, *tensors, *generators) if values.may_be_missing(name)
    }
    # Fields of what only a branch makes: `if args.eval: record = Record()`.
    bare = {holder: holder.partition(".")[0] for holder in holders}
    under |= {each: values.condition(root) for each, root in bare.items() if values.may_be_missing(root)}
    # What comes with the loaders from a function may be none.
    under |= {name: f'getattr({name.rpartition(".")[0]}, "generator", None) is not None' for name in held}
    drawn = [each.name for each in find_dealt(draft, values)]
    drawn += [each.name for each in find_counted(draft, values)]
    drawn += [each.name for each in fields if not each.kind]
    groups = {**found.groups, **{each.name: each.kind for each in fields if each.kind}}
    unsure = {*found.under, *found.asked, *found.wrapped, *(name for name in found.loaded if uses.may_be_none(name))}
    return State(
        "torch", (*found.loaded, *drawn), (*generators, *held), kept,
        maybe=frozenset(name for name in (*found.loaded, *holders) if uses.may_be_none(name)),
        under=(*found.under.items(), *under.items()), groups=tuple(groups.items()), tensors=tuple(tensors),
        asked=frozenset(found.asked), outer=outer, filled=frozenset(filled),
        wrapped=frozenset(found.wrapped) | (wrapped_again(values) & set(found.loaded)),
        partly=_trained_in_part(draft, values, uses, found.loaded),
        thawed=_thawed(draft, values, uses, found),
        dealt=tuple(dict.fromkeys(call for each in fields for call in each.made)),
        modes=find_modes(draft, values, uses, [name for name in found.loaded if name not in unsure]),
    )  # fmt: skip


def _thawed(draft: Draft, values: Values, uses: Uses, found: Modules) -> tuple[str, ...]:
    """Models of which some rounds freeze or thaw a part."""
    if not is_thawing(draft, values, (*values.run_functions(), *uses.functions)):
        return ()
    others = {*find_optimizers(values, uses), *found.asked, *found.under, *found.wrapped}
    others |= {name for name in found.loaded if (made := uses.made(name)) is not None and is_helper(name, made)}
    held = {name for name in found.loaded if {"parameters", "train", "eval", CALLED} & uses.methods.get(name, set())}
    return tuple(name for name in found.loaded if name in held - others and not uses.may_be_none(name))


def _trained_in_part(draft: Draft, values: Values, uses: Uses, loaded: list[str]) -> frozenset[str]:
    """Models of which most weights are compressed or frozen: what is not trained comes anew from where it came from.

    The state of compressed weights cannot be loaded into a model that is there already.
    """
    words = draft.words.union(*(other.words for other in draft.others))
    if not any(_IN_PART.fullmatch(word) for word in words):
        return frozenset()
    others = {*find_optimizers(values, uses), "amp"}
    models = [
        name
        for name in loaded
        if name not in others and not is_helper(name, uses.made(name) or cst.Call(cst.Name("_")))
    ]
    told = [
        name
        for name in models
        if any(
            isinstance(node, cst.Name) and _IN_PART.fullmatch(node.value)
            for _, value in values.bindings.get(name, [])
            if value is not None
            for node in draft.below(value)
        )
    ]
    return frozenset(told or models)


def kept_beside(draft: Draft, values: Values, uses: Uses, saved: set[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Values that go round beside what is trained, and those of them that are names of the module."""
    whole = {name for name in uses.holders if name not in values.bound}
    kept = [name for name in kept_values(draft, values, saved | whole, torch=True) if not uses.alias(name)]
    outer = [name for name in _changed_elsewhere(draft, values, uses) if name not in {*saved, *whole, *kept}]
    kept += [*outer, *(name for name in _fields(draft, values, uses, saved) if name not in saved)]
    kept += [name for name in _fields_from_outside(draft, values, uses, saved) if name not in {*saved, *kept}]
    kept += [name for name in set_fields(draft, values, uses) if name not in {*saved, *kept}]
    kept += [name for name in loaded_before(values) if name not in {*saved, *whole, *kept}]
    _say_set_on_models(draft, values, uses, saved, {*saved, *kept})
    reached = {name for name in outer if values.scope is not draft.module and name not in values.origins}
    return tuple(leave_missing(values, list(dict.fromkeys(kept)))), frozenset(
        reached - global_names(draft, values.scope)
    )


def _leaves(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Tensors that a loop trains without an optimizer, or that an optimizer gets by a way that is not seen.

    One that each round makes anew is none, and may have another shape in the next.
    """
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
        and not values.is_replaced(name)
    ]  # fmt: skip


def _is_generator(draft: Draft, origin: cst.BaseExpression | None) -> bool:
    """`torch.Generator()`, `torch.Generator().manual_seed(0)`."""
    while (
        isinstance(origin, cst.Call) and isinstance(origin.func, cst.Attribute) and tail(origin.func) == "manual_seed"
    ):
        origin = origin.func.value
    return isinstance(origin, cst.Call) and draft.resolve(origin.func) == "torch.Generator"


def _refuse_hidden_generators(draft: Draft, held: set[int]) -> None:
    """A generator without a name inside a loader deals out another order after a stop. `held`: those that have one."""
    for call in draft.calls():
        given = argument(call, "generator")
        is_reader = tail(call.func) == "DataLoader" or tail(call.func).endswith("Sampler")
        if is_reader and given is not None and _is_generator(draft, given.value) and id(call) not in held:
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
        for place in filled_places(node)
        for name, rest in uses.seen_as(dotted(place), draft.scope(node))
        if not rest
    }
    filled |= {name for name, methods in uses.methods.items() if methods & CHANGES}
    found = []
    for name, origin in uses.known.items():
        if "." in name or uses.alias(name) or name not in uses.used | rebound:
            continue
        made = tail(origin.func) if isinstance(origin, cst.Call) else ""
        held = cst.List | cst.Dict | cst.Set | cst.ListComp | cst.DictComp | cst.SetComp
        is_filled = isinstance(origin, held) or (made and is_plain(origin)) or is_table(draft, {}, origin)
        is_filled = is_filled or (isinstance(origin, cst.BinaryOperation) and is_container(draft, origin))
        is_rebound = name in rebound and origin is not None and made not in NOT_KEPT
        if is_rebound or (name in filled and is_filled):
            found.append(name)
    return found


def _fields(draft: Draft, values: Values, uses: Uses, saved: set[str]) -> list[str]:
    """`self.best`, `stopper.best`: plain at first, and changed by a method of the object's class."""
    kept, ahead = [], fetched_ahead(values)
    handed = uses.handed_on()
    for holder in uses.holders:
        if holder != "self" and can_be_read_again(draft, uses, holder):
            continue
        if holder != "self" and not uses.methods[holder]:
            # Whoever is handed an object may let it change itself; nothing else is seen of that.
            kept += [name for name, first in uses.changing(holder).items() if holder in handed and is_plain(first)]
            continue
        late = next(made_late(uses, holder), "") if holder != "self" else ""
        if late:
            # The fields that say that it is made already must not be there without it.
            said = f"{holder} starts anew in each stint: it makes {late} when it is first used"
            if not is_reset(draft, values, uses, holder):
                draft.say(Kind.DIFFERS, RULE, values.loop.node, said, _ANEW)
            continue
        for name, first in uses.changing(holder).items():
            if name in saved or _is_of_functions(draft, uses, name):
                continue
            made = {tail(each.func) for each in uses.field_values(name) if isinstance(each, cst.Call)}
            if any(is_no_value(value) for value in uses.field_values(name)) or is_archive(draft, uses, name):
                if not made & WRITERS:  # which begin anew in each stint as they should
                    draft.say(Kind.DIFFERS, RULE, values.loop.node, f"{name} starts anew in each stint", _ANEW)
            elif unkept := unkept_in_field(uses, name):
                say_unkept(draft, values, name, unkept)
            elif _is_value(draft, first) or name in ahead or _is_copied_state(first) or _is_of_text(draft, first):
                kept.append(name)
            elif (
                isinstance(first, cst.Call) and name not in uses.holders and tail(first.func) not in NOT_KEPT | _CLOCKS
            ):
                is_saved = any(each in uses.methods[name] for each in ("step", "eval", "parameters"))
                is_anew = is_saved or draft.resolve(first.func).partition(".")[0] in _TRACKERS
                if not is_anew and not (holder != "self" and is_reset(draft, values, uses, holder)):
                    draft.say(Kind.DIFFERS, RULE, values.loop.node, f"{name} starts anew in each stint", _ANEW)
    return kept


def _is_value(draft: Draft, first: cst.BaseExpression | None) -> bool:
    """Whether what a field is at first can be kept as it is: plain, an array, a tensor."""
    return is_plain(first) or (first is not None and is_table(draft.home(first), {}, first))


def _is_of_functions(draft: Draft, uses: Uses, name: str) -> bool:
    """Whether a field lists what is only called (`self.callbacks`), and no round adds to it."""
    field = f"self.{name.rpartition('.')[2]}"
    return uses.elements.get(name) == {CALLED} and not any(
        any(dotted(whole_of(target)) == field for target in targets_in(node))
        or (isinstance(node, cst.Call) and tail(node.func) in CHANGES and field in dotted(node.func))
        for function in uses.functions
        for node in draft.below(function.body)
    )


def _is_of_text(draft: Draft, value: cst.BaseExpression) -> bool:
    """`line.rstrip().split("\\t")`: words of a text, whatever else a round may put there."""
    return isinstance(value, cst.Call) and tail(value.func) in _WORDS and not draft.resolve(value.func)


def _is_copied_state(value: cst.BaseExpression) -> bool:
    """`deepcopy(model.state_dict())`: a value by itself. Without a copy it is what the model has, now and later."""
    given = positional(value, 0) if isinstance(value, cst.Call) and tail(value.func) == "deepcopy" else None
    return isinstance(given, cst.Call) and tail(given.func) == "state_dict"


def _fields_from_outside(draft: Draft, values: Values, uses: Uses, saved: set[str]) -> list[str]:
    """`agent.memory.append(…)`, `agent.epsilon *= 0.9`: fields of objects of this file that others change."""
    changed = [name for name, methods in uses.methods.items() if methods & CHANGES]
    late = {holder for holder in uses.holders if holder != "self" and any(made_late(uses, holder))}
    for block in (values.loop.node.body, *(function.body for function in uses.functions)):
        for node in draft.below(block):
            fields = [each for each in targets_in(node) if isinstance(each, cst.Attribute)]
            for place in [*fields, *filled_places(node)]:
                changed += [name for name, rest in uses.seen_as(dotted(place), draft.scope(node)) if not rest]
    return [
        name
        for name in dict.fromkeys(changed)
        if (holder := name.rpartition(".")[0]) in uses.holders
        and holder not in late
        and name not in uses.holders
        and (_is_value(draft, uses.known[name]) or uses.is_empty(name))
        and not (seen := _same_as(draft, uses, name)) & saved
        and seen.isdisjoint(uses.holders)
        and not unkept_in_field(uses, name)
    ]


def _same_as(draft: Draft, uses: Uses, name: str) -> set[str]:
    """What a field is another name of: `self.best = self.model` holds no weights of its own."""
    values = [value for value in uses.field_values(name) if isinstance(value, cst.Name | cst.Attribute)]
    return {each for value in values for each, rest in uses.seen_as(dotted(value), draft.scope(value)) if not rest}


def _say_set_on_models(draft: Draft, values: Values, uses: Uses, saved: set[str], kept: set[str]) -> None:
    """`net.negatives = net.sample()` in some rounds: a field that the state of a model does not hold."""
    for node in draft.below(values.loop.node.body):
        target = node.target if isinstance(node, cst.AssignTarget) else None
        name = dotted(target) if isinstance(target, cst.Attribute) else ""
        is_sometimes = any(isinstance(each, cst.If) for each in values.above_in_loop(node)) if name else False
        if is_sometimes and name.rpartition(".")[0] in saved and name not in kept and "grad" not in name:
            said = f"{name} is set in some rounds and is no part of what is saved: it starts anew in each stint"
            draft.say(Kind.DIFFERS, RULE, node, said, "set it in each round, or give it to register_buffer")
