"""Which values go into a checkpoint as they are: what goes from round to round and has no state to be asked for."""

from __future__ import annotations

import re
from collections.abc import Collection

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.arrays import is_table
from outlast.adapt.resuming.given_back import is_container_given_back
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.resuming.shuffled import is_shuffled
from outlast.adapt.resuming.state import PASSING, RULE
from outlast.adapt.resuming.unkept import NOT_KEPT, unkept_in, unkept_in_field
from outlast.adapt.resuming.visible import Visible
from outlast.migrate.engine import Kind
from outlast.migrate.tree import dotted, tail

_PLAIN = (
    cst.Integer, cst.Float, cst.SimpleString, cst.Name, cst.UnaryOperation, cst.List, cst.Dict, cst.Attribute, cst.Set,
    cst.Tuple, cst.BinaryOperation, cst.Subscript, cst.ListComp, cst.DictComp, cst.IfExp, cst.Comparison,
)  # fmt: skip
_CONTAINERS = frozenset(
    "list dict set deque defaultdict Counter OrderedDict array zeros ones empty full default_rng RandomState "
    "Random".split()
)
#: What writes records: each stint begins them anew as it should.
WRITERS = frozenset({"SummaryWriter", "open", "writer", "getLogger", "tqdm"})
#: Methods that change a container.
CHANGES = frozenset(
    "append extend insert add update pop remove clear setdefault appendleft popleft extendleft discard".split()
)
#: What makes an environment of Gym: a world of its own, which may hold a window or a simulator.
ENVIRONMENTS = re.compile(r"(?:gym|gymnasium)\.(?:make|vector\.\w+)|\.?(?:\w+\.)*make_(?:\w+_)?envs?")
#: methods and fields by which an object of a library gathers something: `tracker.log_step(step)`, `tracker.history`
_GATHERS = re.compile(r"(?:\w+_)?(?:log|record|track|observe|collect|measure|note|add|update|append)(?:_\w+)?")
_GATHERED = re.compile(
    r"(?:\w+_)?(?:history|records?|loss(?:es)?|scores?|results?|metrics|stats|values|best(?:_\w+)?|counts?)"
)
#: Parameters that are handed on and not changed.
_PASSED = re.compile("f|fh|file|log|logger|writer|args|cfg|config")


def global_names(draft: Draft, values: Values) -> list[str]:
    """Names of the module that functions change while the loop runs: `global best_acc`."""
    called = {tail(call.func) for call in draft.calls(values.loop.node.body)}
    found = []
    for function in draft.functions():
        names = {
            tail(item.name) for node in draft.below(function) if isinstance(node, cst.Global) for item in node.names
        }
        if not names or function.name.value not in called:
            continue
        if values.scope is not draft.module:
            raise Refusal(f"{function.name.value}() changes global names", function, "pass them in and return them")
        found += [name for name in values.origins if name in names]
    return list(dict.fromkeys(found))


def is_plain(value: cst.BaseExpression | None) -> bool:
    """Whether a value of that origin can be kept in a file as it is."""
    made = tail(value.func) if isinstance(value, cst.Call) else ""
    return isinstance(value, _PLAIN) or made in _CONTAINERS or made in ("float", "int", "time", "len", "max", "min")


def kept_fields(draft: Draft, values: Values, whole: list[str]) -> list[str]:
    """`self.best` and its like: plain at first, and changed by the class that holds the loop."""
    kept = []
    visible = Visible(draft, values)
    for name, first in visible.changing("self").items() if values.owner is not None else ():
        opened = any(isinstance(each, cst.Call) and tail(each.func) in NOT_KEPT for each in visible.field_values(name))
        if name in whole or opened:
            continue
        if unkept := unkept_in_field(visible, name):
            say_unkept(draft, values, name, unkept)
        elif is_plain(first):
            kept.append(name)
        elif isinstance(first, cst.Call) and tail(first.func) != "function":  # which only makes a graph of a method
            said = f"{name} starts anew in each stint"
            draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "save it with outlast.save if its state matters")
    return kept


def kept_values(draft: Draft, values: Values, without: set[str], *, torch: bool = False) -> tuple[str, ...]:
    """What goes round by value. Data sets and devices only pass through; files and threads cannot be kept."""
    kept = []
    for name in values.carried():
        origin = values.origins[name]
        made = tail(origin.func) if isinstance(origin, cst.Call) else ""
        is_rebound = name in values.bound or name in values.found
        # `losses = state["losses"]` of the script's own checkpoint is what `losses = []` was before.
        is_held = any(_is_held(value) for _, value in values.bindings.get(name, []))
        is_filled = name in values.filled and is_table(draft, values.bindings, origin)
        if name in without or made in NOT_KEPT or (made in PASSING and not (is_rebound or is_held or is_filled)):
            continue
        if isinstance(origin, cst.Call) and ENVIRONMENTS.fullmatch(draft.resolve(origin.func)):
            continue  # it is told that it begins anew
        if name == "self" or (origin is not None and any(isinstance(e, cst.Lambda) for e in draft.below(origin))):
            continue
        if unkept := unkept_in(draft, values, name):
            say_unkept(draft, values, name, unkept)
            continue
        is_kept = is_held or is_filled or is_container(draft, origin) or is_container_given_back(draft, values, name)
        if torch and not is_rebound and not is_kept and not is_shuffled(draft, values.loop.node.body, name):
            if isinstance(origin, cst.Call) and _is_updated(draft, values, name):
                said = f"{name} starts anew in each stint"
                draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "save it with outlast.save if its state matters")
            continue
        is_opened = values.scope is draft.module or bool(_PASSED.fullmatch(name))
        if not torch and origin is None and not is_rebound and is_opened:
            continue
        kept.append(name)
    if torch:
        _say_gathering(draft, values, {*without, *values.carried()})
    return tuple(leave_missing(values, kept))


def say_unkept(draft: Draft, values: Values, name: str, made: Collection[str]) -> None:
    """What holds iterators or their like; writers begin anew in each stint as they should."""
    if set(made) <= WRITERS:
        return
    said = f"{name} starts anew in each stint: no file can hold {_said(made)}"
    advice = "samples come in another order after a stop" if "iter" in made else "save what matters with outlast.save"
    draft.say(Kind.DIFFERS, RULE, values.loop.node, said, advice)


def _said(made: Collection[str]) -> str:
    return "the iterators in it" if "iter" in made else f"what {min(made)}() makes"


def _is_held(value: cst.BaseExpression | None) -> bool:
    if isinstance(value, cst.IfExp):  # `old_losses(path) if resume else []`
        return _is_held(value.body) or _is_held(value.orelse)
    return isinstance(value, cst.List | cst.Dict | cst.Set)


def leave_missing(values: Values, names: list[str]) -> list[str]:
    """Those of some names that are surely there; others are kept if they are, like what only some rounds make."""
    missing = {name for name in names if values.may_be_missing(name)}
    values.occasional |= missing
    return [name for name in names if name not in missing]


def _is_updated(draft: Draft, values: Values, name: str) -> bool:
    """`ema.update(model)`, `meter.step()`: something of an unknown kind that goes along with the training."""
    lines = [
        line for each in values.loop.node.body.body if isinstance(each, cst.SimpleStatementLine) for line in each.body
    ]
    if any(
        isinstance(line, cst.Expr) and isinstance(line.value, cst.Call) and dotted(line.value.func) == f"{name}.reset"
        for line in lines
    ):
        return False  # each round begins it anew
    words = {f"{name}.{word}" for word in ("update", "step", "append", "push", "add")}
    return any(dotted(call.func) in words for call in draft.calls(values.loop.node.body))


def _say_gathering(draft: Draft, values: Values, without: Collection[str]) -> None:
    """Objects of libraries that gather something in the rounds, which is looked at when these are over."""
    called = {dotted(call.func).rpartition(".")[::2] for call in draft.calls(values.loop.node.body)}
    gathering = {name for name, method in called if _GATHERS.fullmatch(method)}
    for name, origin in values.origins.items():
        if name not in gathering or name in without or not isinstance(origin, cst.Call):
            continue
        if (read := _read_behind(draft, values, name)) and name not in values.bound:
            said = f"{name} starts anew in each stint: {read} then holds what the last one has gathered"
            draft.say(Kind.DIFFERS, RULE, values.loop.node, said, "save it with outlast.save if its state matters")


def _read_behind(draft: Draft, values: Values, name: str) -> str:
    end = draft.span(values.loop.node)[1]
    found = (
        dotted(node) for node in draft.below(values.scope)
        if isinstance(node, cst.Attribute) and dotted(node.value) == name and _GATHERED.fullmatch(node.attr.value)
        and draft.start(node) >= end
    )  # fmt: skip
    return next(found, "")


def is_container(draft: Draft, origin: cst.BaseExpression | None) -> bool:
    """Whether a torch script changes such a thing in place: containers, arrays, and plain classes of its own."""
    if isinstance(origin, cst.BinaryOperation):  # `[0.0] * epochs`
        return is_container(draft, origin.left) or is_container(draft, origin.right)
    if not isinstance(origin, cst.Call):
        return isinstance(origin, cst.List | cst.Dict | cst.Set | cst.ListComp | cst.DictComp)
    made = tail(origin.func)
    own = next((node for node in draft.nodes if isinstance(node, cst.ClassDef) and node.name.value == made), None)
    return made in _CONTAINERS or (own is not None and all(tail(base.value) == "object" for base in own.bases))
