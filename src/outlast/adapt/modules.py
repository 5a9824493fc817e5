"""What of a torch training has a `state_dict`: models, optimizers, and what goes along with them."""

from __future__ import annotations

import re

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.loops import Values, parameters_of
from outlast.adapt.state import Refusal
from outlast.migrate.tree import dotted, tail

#: what is called so has a state of its own, wherever it comes from
_HELPERS = re.compile(r"(?:lr_)?sched(?:uler|ule)?|sched(?:uler)?_\w+|\w+_scheduler|(?:grad_|loss_)?scaler")
_MODEL = re.compile("model|net|network")
_SCHEDULER = re.compile(r"(?:LR|Scheduler|Warmup\w*|LambdaLR|OneCycleLR|ReduceLROnPlateau)$")
#: methods that only modules have, when they are called without arguments
_OF_MODULES = frozenset({"eval", "parameters", "named_parameters", "state_dict", "zero_grad"})
#: ways to spread one model over several processes
_SPREAD = re.compile(r"fully_shard|FullySharded|FSDP|deepspeed|parallelize_module")


def find_modules(draft: Draft, values: Values) -> list[str]:
    """Everything to be saved by its `state_dict`, models first. `Refusal` where that is not certain."""
    spread = sorted(word for word in draft.words if _SPREAD.match(word))
    if spread:
        said = f"each process holds a part of the model ({spread[0]}), and one file cannot"
        raise Refusal(said, values.loop.node, "save with torch.distributed.checkpoint")
    optimizers = find_optimizers(values)
    known = values.origins | values.fields()
    models: list[str] = []
    for name in optimizers:
        origin = known[name]
        models += parameters_of(origin, draft) if isinstance(origin, cst.Call) else []
    models += [name for name in _modules(draft, values, known) if name not in (*models, *optimizers)]
    if not models:
        models = [name for name in known if _MODEL.fullmatch(name.removeprefix("self."))]
    models = [name for name in dict.fromkeys(models) if name in known or name == "self"]
    if not models:
        raise Refusal("the model of the optimizer is not in the loop's function", values.loop.node,
                      "build model and optimizer in the function of the loop")  # fmt: skip
    helpers = [name for name, origin in known.items() if isinstance(origin, cst.Call) and is_helper(name, origin)]
    helpers += [name for name, origin in values.origins.items() if origin is None and _HELPERS.fullmatch(name)]
    helpers = [name for name in helpers if values.is_used(name) or name in values.reach]
    whole = list(dict.fromkeys([*models, *optimizers, *helpers]))
    missing = next((name for name in whole if values.may_be_missing(name)), "")
    if missing:
        raise Refusal(f"{missing} is there only under a condition", values.loop.node,
                      f"let it be None otherwise: {missing} = None")  # fmt: skip
    return whole


def is_helper(name: str, origin: cst.Call) -> bool:
    """Whether a value goes along with an optimizer and has a state of its own: a scheduler, a scaler."""
    made = tail(origin.func)
    is_called_so = bool(_HELPERS.fullmatch(name.removeprefix("self.")))
    return bool(_SCHEDULER.search(made)) or made == "GradScaler" or is_called_so


def own_modules(draft: Draft) -> set[str]:
    """Classes of the file that are modules."""
    return {
        node.name.value
        for node in draft.nodes
        if isinstance(node, cst.ClassDef) and any(tail(base.value) == "Module" for base in node.bases)
    }


def _modules(draft: Draft, values: Values, known: dict[str, cst.BaseExpression | None]) -> list[str]:
    """Modules beside those that an optimizer was given: a critic, an average of the weights, a learned optimizer."""
    own = own_modules(draft)
    shown = {
        dotted(call.func.value)
        for call in draft.calls()
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _OF_MODULES and not call.args
    }
    found = []
    for name, origin in known.items():
        if not (values.is_used(name) or name in values.reach):
            continue
        if not isinstance(origin, cst.Call):
            found += [name] if name in shown else []  # `features = model.features`
            continue
        makers = {tail(call.func) for call in (origin, *draft.calls(origin))}
        is_plain = draft.resolve(origin.func).startswith(("torch.optim.", "torch.nn.functional."))
        if (name in shown or makers & own) and not is_plain and not _is_passing(makers):
            found.append(name)
    return found


def _is_passing(makers: set[str]) -> bool:
    """Results of a model are no model."""
    return bool(makers & {"parameters", "named_parameters", "DataLoader", "list", "filter", "state_dict"})


def find_optimizers(values: Values) -> list[str]:
    """Names of the optimizers that step in the loop."""
    draft = values.draft
    mine = {name: origin for name, origin in values.fields().items() if name in values.reach}
    found = [
        name
        for name, origin in (values.origins | mine).items()
        if (name in mine or values.is_used(name)) and isinstance(origin, cst.Call) and _optimizes(draft, name, origin)
    ]
    passed = [name for name, origin in values.origins.items() if origin is None and re.match(r"(?:optim|opt)", name)]
    return found or ([name for name in passed if values.is_used(name)] if "torch" in draft.names.roots else [])


def _optimizes(draft: Draft, name: str, origin: cst.Call) -> bool:
    """Of torch.optim, or from elsewhere: it takes parameters, or is called so, and steps."""
    if _SCHEDULER.search(tail(origin.func)) or _HELPERS.fullmatch(name.rpartition(".")[2]):
        return False
    if draft.resolve(origin.func).startswith("torch.optim."):
        return True
    steps = any(tail(call.func) == "step" and dotted(call.func) == f"{name}.step" for call in draft.calls())
    is_called_so = bool(re.match(r"(?:\w+_)?opt(?:im|$|_)", name.rpartition(".")[2]))
    takes = bool(parameters_of(origin, draft)) or any(_MODEL.fullmatch(tail(arg.value)) for arg in origin.args)
    return "torch" in draft.names.roots and is_called_so and (steps or takes)
