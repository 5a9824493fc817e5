"""What of a torch training has a `state_dict`: models, optimizers, and what goes along with them.

Each is known by how it is made, by what it is called, or by what the loop does with it: what is stepped and has its
gradients cleared is an optimizer, wherever it comes from.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.libraries import is_library
from outlast.adapt.resuming import ranks
from outlast.adapt.resuming.handed import handed_as
from outlast.adapt.resuming.loops import Values, parameters_of
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.scopes import own_classes, seen_elsewhere
from outlast.adapt.resuming.uses import CALLED, STEPPED, Uses
from outlast.adapt.whole import roots_of, words_of
from outlast.migrate.tree import dotted, positional, tail

#: what is called so has a state of its own, wherever it comes from
_HELPERS = re.compile(r"(?:lr_)?sched(?:uler|ule)?s?|sched(?:uler)?_\w+|\w+_(?:scheduler|sched)|(?:grad_|loss_)?scaler")
_MODEL = re.compile("model|net|network")
_MODEL_LIKE = re.compile(
    r"(?:\w+_)?(?:model|net|network|generator|discriminator|encoder|decoder|critic|actor|policy)(?:_\w+)?|net[A-Z]\w*"
)
_SCHEDULER = re.compile(r"(?:LR|Scheduler|Warmup\w*|LambdaLR|OneCycleLR|ReduceLROnPlateau)$")
#: methods that only modules have, when they are called without arguments
_OF_MODULES = frozenset({"eval", "parameters", "named_parameters", "state_dict", "zero_grad"})
#: classes of libraries that a module of the program is built on
_BASES = re.compile(
    r"\w*Module|Sequential|Module(?:List|Dict)|AveragedModel|(?:Distributed)?DataParallel|PreTrainedModel"
)
#: ways to spread one model over several processes
_SPREAD = re.compile(
    r"fully_shard|FullySharded|FSDP|deepspeed|parallelize_module|ZeroRedundancyOptimizer|megatron|colossalai|"
    r"ShardedDataParallel|fairscale|PipelineModule|tutel|fmoe"
)
#: classes of other libraries that keep an average of a model's weights, with a state of their own or without one
_AVERAGE = re.compile(r"(?:Model)?E(?:MA|ma)(?:V\d|Model)?|ModelAverage|ExponentialMovingAverage")
#: classes of other libraries that step
_OPTIMIZER = re.compile(r"Adam|SGD|RMSprop|Adagrad|Adadelta|Lamb|Lion|Adafactor|Optimizer$|RAdam|Ranger|LARS|Sophia")
_TENSORS = re.compile(
    r"torch\.(?:zeros|ones|rand|randn|randint|full|empty|tensor|linspace|eye|\w+_like|from_numpy|Tensor|normal)|"
    r"torch\.nn\.(?:parameter\.)?Parameter|torch\.autograd\.Variable"
)


@dataclass
class Modules:
    """What is to be saved of a torch training."""

    loaded: list[str] = field(default_factory=list)  # by their state_dict, models first
    groups: dict[str, str] = field(default_factory=dict)  # list or dict of such
    tensors: list[str] = field(default_factory=list)  # trained by themselves: filled in place
    under: dict[str, str] = field(default_factory=dict)  # those of `loaded` that are there only under a condition
    asked: dict[str, str] = field(
        default_factory=dict
    )  # those that may have no state → what another file makes them of
    wrapped: list[str] = field(default_factory=list)  # optimizers of another file: they may hold one, and have no state

    @property
    def names(self) -> list[str]:
        return [*self.loaded, *self.groups, *self.tensors]


def find_modules(draft: Draft, values: Values, uses: Uses) -> Modules:
    """Everything that is trained, and what goes along. `Refusal` where that is not certain."""
    spread = sorted(word for word in words_of(draft) if _SPREAD.match(word))
    if spread:
        said = f"each process holds a part of the model ({spread[0]}), and one file cannot"
        is_accelerated = "accelerate" in roots_of(draft)
        advice = "accelerator.save_state and load_state" if is_accelerated else "torch.distributed.checkpoint"
        raise Refusal(said, values.loop.node, f"save with {advice}")
    optimizers = find_optimizers(values, uses)
    groups = _groups(draft, uses)
    models = [name for each in optimizers for name in _given(draft, uses, each)]
    models += [name for name in _modules(draft, values, uses) if name not in (*models, *optimizers, *groups)]
    models += _copies(draft, uses, models)
    held = [name for name in groups if "step" not in uses.elements[name]]  # models without names of their own
    tensors = [name for each in optimizers for name in _tensors(draft, uses, each) if name not in (*models, *groups)]
    if not models and not tensors and not held:
        models = [name for name in uses.known if _MODEL.fullmatch(name.rpartition(".")[2])]
        likely = [name for name, methods in uses.methods.items() if CALLED in methods]
        models += [name for name in likely if _MODEL_LIKE.fullmatch(name.rpartition(".")[2])]
    models = [name for name in dict.fromkeys(models) if name in uses.known or name == "self"]
    models = [name for name in models if name not in groups and not is_inside(draft, uses, name)]
    again = handed_as(draft, values, uses, [*models, *optimizers])
    models, optimizers = [[name for name in each if name not in again] for each in (models, optimizers)]
    if not models and not tensors and not held:
        raise Refusal("the model of the optimizer is not in the loop's function", values.loop.node,
                      "build model and optimizer in the function of the loop")  # fmt: skip
    helpers = [name for name, origin in uses.known.items() if name in uses.used and _helps(uses, name, origin)]
    whole = [name for name in dict.fromkeys([*models, *optimizers, *helpers]) if name not in groups]
    under = {name: values.condition(name) for name in whole if values.may_be_missing(name)}
    under |= {name: asked for name in whole if (asked := _field_asked(draft, name))}
    averages = [name for name in _averages(draft, uses) if name not in (*whole, *groups)]
    whole += averages
    under |= {name: values.condition(name) for name in averages if values.may_be_missing(name)}
    for name, condition in _apex(draft, values).items():
        whole.append(name)
        under.update({name: condition} if condition else {})
    foreign = {name: _foreign(draft, uses, name) for name in helpers if _is_foreign(draft, uses, name)}
    wrapped = [name for name in optimizers if uses.made(name) is not None and _is_foreign(draft, uses, name)]
    return Modules(whole, groups, list(dict.fromkeys(tensors)), under, foreign, [*wrapped, *averages])


def _averages(draft: Draft, uses: Uses) -> list[str]:
    """Averages of a model's weights by a library; one of the program's own classes is known by its fields."""
    made = {name: call for name in uses.known if name in uses.used and (call := uses.made(name)) is not None}
    return [
        name for name, call in made.items()
        if _AVERAGE.fullmatch(tail(call.func)) and is_library(draft.resolve(call.func)) and not uses.alias(name)
    ]  # fmt: skip


def _field_asked(draft: Draft, name: str) -> str:
    """How to ask for a field that its class makes only in a branch: `if amp: self.scaler = GradScaler()`."""
    owner, _, field = name.rpartition(".")
    made = [
        node for node in draft.nodes
        if owner and isinstance(node, cst.AssignTarget | cst.AnnAssign) and dotted(node.target) == f"self.{field}"
    ]  # fmt: skip
    branches = [_branch(draft, node) for node in made]
    is_sure = any(each is None for each in branches) or any(
        each is not None and each.orelse is not None and {id(each.body), id(each.orelse)} <= _holding(draft, made)
        for each in branches
    )
    return f'hasattr({owner}, "{field}")' if made and not is_sure else ""


def _branch(draft: Draft, node: cst.CSTNode) -> cst.If | None:
    """The outermost branch around a node within its function."""
    inside = itertools.takewhile(lambda each: not isinstance(each, cst.FunctionDef), draft.above(node))
    return next((each for each in reversed(list(inside)) if isinstance(each, cst.If)), None)


def _holding(draft: Draft, nodes: Sequence[cst.CSTNode]) -> set[int]:
    return {id(each) for node in nodes for each in draft.above(node)}


def _is_foreign(draft: Draft, uses: Uses, name: str) -> bool:
    """Whether what goes along comes from where it cannot be seen: it may be `None`, or have no state to ask for."""
    made = uses.made(name)
    if made is None:
        return True
    root = dotted(made.func).partition(".")[0]
    is_of_value = root in uses.known and root != tail(made.func) and root not in uses.holders  # accelerator.prepare(…)
    path = draft.resolve(made.func)
    return not (is_of_value or name in uses.holders or is_library(path) or ranks.is_library(path.partition(".")[0]))


def _foreign(draft: Draft, uses: Uses, name: str) -> str:
    """The class of another file that it is an object of; empty where that is called as those of torch are."""
    made = uses.made(name)
    called = tail(made.func) if made is not None else ""
    return called if called[:1].isupper() and not re.search(r"(?:LR|Scheduler|GradScaler)$", called) else ""


def is_helper(name: str, origin: cst.Call) -> bool:
    """Whether a value goes along with an optimizer and has a state of its own: a scheduler, a scaler."""
    made = tail(origin.func)
    is_called_so = bool(_HELPERS.fullmatch(name.rpartition(".")[2]))
    return bool(_SCHEDULER.search(made)) or made == "GradScaler" or is_called_so


def _helps(uses: Uses, name: str, origin: cst.BaseExpression | None) -> bool:
    made, wrapped = uses.made(name), uses.values.wrapped.get(name)
    if isinstance(wrapped, cst.Call) and is_helper(name, wrapped):
        return True
    if made is not None:
        return is_helper(name, made) and (name not in uses.holders or _has_state(uses, name))
    is_called_so = bool(_HELPERS.fullmatch(name.rpartition(".")[2]))
    return is_called_so and (origin is None or isinstance(origin, cst.Name)) and "step" in uses.methods[name]


def _has_state(uses: Uses, name: str) -> bool:
    """Whether an object of a class of this file can be asked for its state."""
    bases = {tail(base.value) for home in uses.holders[name] for base in home.bases}
    if any(_BASES.fullmatch(base) or base == "Optimizer" or _SCHEDULER.search(base) for base in bases):
        return True
    return any(
        isinstance(node, cst.FunctionDef) and node.name.value == "load_state_dict"
        for home in uses.holders[name]
        for node in home.body.body
    )


def _apex(draft: Draft, values: Values) -> dict[str, str]:
    """Apex keeps the scales of losses in its module: its name, and the condition under which it is used."""
    name = next((each for each in ("amp",) if draft.names.resolve(cst.Name(each), [draft.module]) == "apex.amp"), "")
    calls = [call for call in draft.calls() if name and dotted(call.func) == f"{name}.initialize"]
    if len(calls) != 1 or draft.scope(calls[0]) is not values.scope:
        return {}
    condition = values.condition_at(draft.statement(calls[0]))
    return {} if condition is None else {name: condition}


def own_modules(draft: Draft) -> set[str]:
    """Classes of the program that are modules, also through another one of it."""
    found: set[str] = set()
    classes = list({**seen_elsewhere(draft, cst.ClassDef), **own_classes(draft)}.values())
    for _ in classes:
        found |= {
            node.name.value
            for node in classes
            if any(_BASES.fullmatch(tail(base.value)) or tail(base.value) in found for base in node.bases)
        }
    return found


def is_inside(draft: Draft, uses: Uses, name: str) -> bool:
    """Whether a field is part of a module, and saved with it."""
    home = uses.holders.get(name.rpartition(".")[0], [])
    return any(each.name.value in own_modules(draft) for each in home)


def _shown(draft: Draft, uses: Uses) -> set[str]:
    """What is somewhere treated as only modules are."""
    found = {name for name, methods in uses.methods.items() if methods & _OF_MODULES}
    found |= {name for name, methods in uses.methods.items() if CALLED in methods and "train" in methods}
    for call in draft.calls():
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _OF_MODULES and not call.args:
            found.update(uses.values_of(call.func.value, call, draft.scope(call)))
    return found


def _modules(draft: Draft, values: Values, uses: Uses) -> list[str]:
    """Modules beside those that an optimizer was given: a critic, an average of the weights, a learned optimizer."""
    own, shown, found = own_modules(draft), _shown(draft, uses), []
    for name, first in uses.known.items():
        if name not in uses.used:
            continue
        origin = uses.made(name)
        if origin is None:
            is_same = bool(_wrapped(first)) and _wrapped(first) in shown
            found += [name] if name in shown and not is_same else []  # `features = model.features`
            continue
        makers = {tail(call.func) for call in (origin, *draft.calls(origin))}
        is_plain = draft.resolve(origin.func).startswith(("torch.optim.", "torch.nn.functional."))
        is_plain = is_plain and "swa_utils" not in draft.resolve(origin.func)
        is_other = name in uses.holders and not _has_state(uses, name)
        is_made = bool(makers & own) or _is_module_made(draft, origin)
        if (name in shown or is_made) and not is_plain and not is_other and not _is_passing(makers):
            found.append(name)
    return [name for name in found if not uses.alias(name)]


def _copies(draft: Draft, uses: Uses, models: list[str]) -> list[str]:
    """`target = copy.deepcopy(model)`: a network that follows another one, and is none of an optimizer's."""
    found = []
    for name in uses.known:
        made = uses.made(name) if name in uses.used and name not in models else None
        given = positional(made, 0) if made is not None and tail(made.func) == "deepcopy" else None
        seen = uses.seen_as(dotted(given), draft.scope(given)) if given is not None else []
        found += [name] if any(each in models and not rest for each, rest in seen) else []
    return found


def _wrapped(origin: cst.BaseExpression | None) -> str:
    """`model` of `model.module` and of `model.module if several else model`: the same weights by another name."""
    if isinstance(origin, cst.IfExp):
        both = {_wrapped(each) or dotted(each) for each in (origin.body, origin.orelse)}
        return both.pop() if len(both) == 1 and "module" in (tail(origin.body), tail(origin.orelse)) else ""
    return dotted(origin).removesuffix(".module") if dotted(origin).endswith(".module") else ""


def _is_passing(makers: set[str]) -> bool:
    """Results of a model are no model."""
    return bool(makers & {"parameters", "named_parameters", "DataLoader", "list", "filter", "state_dict"})


def _given(draft: Draft, uses: Uses, optimizer: str) -> list[str]:
    """Models that an optimizer was given."""
    call, is_here = uses.known.get(optimizer), True
    if call is None:
        call, is_here = uses.made(optimizer), False
    if not isinstance(call, cst.Call):
        return []
    scope = draft.scope(call)
    owners = parameters_of(call, draft)
    if not is_here:
        return [name for each in owners for name in uses.handed_in(each, scope)]
    found = [name for each in owners for name, _ in uses.seen_as(each, scope)]
    given = [name for arg in call.args for name, rest in uses.seen_as(dotted(arg.value), scope) if not rest]
    return found + [name for name in given if CALLED in uses.methods[name] and name not in found]


def _tensors(draft: Draft, uses: Uses, optimizer: str) -> list[str]:
    """Tensors that an optimizer trains by themselves: `Adam([image])`."""
    call = uses.known.get(optimizer)
    given = positional(call, 0) if isinstance(call, cst.Call) else None
    if isinstance(given, cst.Name):
        given = uses.known.get(given.value)
    if not isinstance(given, cst.List | cst.Tuple) or not isinstance(call, cst.Call):
        return []
    scope = draft.scope(call)
    names = [name for each in given.elements for name, rest in uses.seen_as(dotted(each.value), scope) if not rest]
    return [name for name in names if CALLED not in uses.methods[name]]


def is_tensor(draft: Draft, origin: cst.BaseExpression | None) -> bool:
    """`torch.zeros(3, requires_grad=True)`, also with methods behind it."""
    while isinstance(origin, cst.Call):
        if _TENSORS.fullmatch(draft.resolve(origin.func)):
            return True
        origin = origin.func.value if isinstance(origin.func, cst.Attribute) else None
    return False


def _groups(draft: Draft, uses: Uses) -> dict[str, str]:
    """Lists and dictionaries of models or optimizers that have no names of their own."""
    found = {}
    for name, origin in uses.known.items():
        if name not in uses.used or uses.listed(name) or uses.alias(name):
            continue
        is_list, is_dict = (
            isinstance(origin, cst.List | cst.ListComp | cst.Tuple),
            isinstance(origin, cst.Dict | cst.DictComp),
        )
        methods = uses.elements[name] & {*_OF_MODULES, "step"}
        parts = [origin.elt] if isinstance(origin, cst.ListComp) else []
        parts += [origin.value] if isinstance(origin, cst.DictComp) else []
        parts += [each.value for each in origin.elements] if isinstance(origin, cst.List | cst.Dict) else []
        if (is_list or is_dict) and (methods or (parts and all(_is_module_made(draft, each) for each in parts))):
            found[name] = "dict" if is_dict else "list"
        elif (
            methods
            and isinstance(origin, cst.Call)
            and isinstance(origin.func, cst.Name)
            and origin.func.value == "dict"
        ):
            found[name] = "dict"
    return found


def _is_module_made(draft: Draft, value: cst.BaseExpression) -> bool:
    made = draft.resolve(value.func) if isinstance(value, cst.Call) else ""
    is_module = bool(
        re.fullmatch(r"torch\.nn\.(?!functional|Parameter|\w*Loss\b)[\w.]*[A-Z]\w*|torch\.optim\.[\w.]*[A-Z]\w*", made)
    )
    return is_module or (isinstance(value, cst.Call) and tail(value.func) in own_modules(draft))


def find_optimizers(values: Values, uses: Uses) -> list[str]:
    """Names of the optimizers that step in the loop."""
    if "torch" not in values.draft.names.roots and not _is_torch(values.draft, uses):
        return []
    # What an object holds that the rounds only hand on is used by whoever gets it.
    handed = uses.handed_on()
    return [
        name
        for name in uses.known
        if (name in uses.used or name.rpartition(".")[0] in handed)
        and not uses.alias(name) and _optimizes(values.draft, uses, name)
    ]  # fmt: skip


def _is_torch(draft: Draft, uses: Uses) -> bool:
    """Whether a file that does not import torch trains with it: only torch goes backward from a loss."""
    homes = {id(home): home for home in (draft, *(draft.home(function) for function in uses.functions))}.values()
    words = {word for home in homes for word in home.words}
    roots = {root for home in homes for root in home.names.roots}
    return "backward" in words and not roots & {"tensorflow", "paddle", "mxnet", "chainer", "jittor"}


def _optimizes(draft: Draft, uses: Uses, name: str) -> bool:
    """Of torch.optim, or from elsewhere: it steps and clears gradients, takes parameters, or is called so."""
    made, methods, last = uses.made(name), uses.methods[name], name.rpartition(".")[2]
    if _HELPERS.fullmatch(last) or (made is not None and _SCHEDULER.search(tail(made.func))):
        return False
    if name in uses.holders and not _has_state(uses, name):
        return False
    if made is not None and draft.resolve(made.func).startswith("torch.optim."):
        return "lr_scheduler" not in draft.resolve(made.func) and "swa_utils" not in draft.resolve(made.func)
    if isinstance(uses.known.get(name), cst.List | cst.Dict | cst.ListComp | cst.DictComp):
        return False
    is_called_so = bool(re.match(r"(?:\w+_)?opt(?:im|$|_)|optim", last))
    if {"step", "zero_grad"} <= methods or STEPPED in methods or ("step" in methods and is_called_so):
        return True
    takes = made is not None and (
        bool(parameters_of(made, draft)) or any(_MODEL.fullmatch(tail(arg.value)) for arg in made.args)
    )
    # Handed on to a function of another file, which steps it.
    is_handed = made is None and uses.known.get(name) is None and bool(re.match(r"optim", last)) and not methods
    is_known = made is not None and bool(_OPTIMIZER.search(tail(made.func)))
    return (is_called_so and (takes or is_known)) or is_handed
