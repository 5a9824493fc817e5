"""Iterators that are made before a loop of torch and deal its rounds their samples: `batches = iter(loader)`.

Which samples they deal follows from the random numbers at the moment when they were made, or dealt the first sample:
only then is their order drawn, unless other processes read ahead. A later stint makes them anew with these numbers and
passes over what was dealt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.cycled import CLASS as _CYCLE
from outlast.adapt.resuming.cycled import goes_on_without_end
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import argument, dotted, positional, tail

_LOADERS = re.compile(r"\w*load(?:er)?s?\w*|(?:data)?_?dl|\w+_dl", re.I)
_CLASS = [
    "class {0}:  # an iterator that a later stint can bring to where it was",
    "    def __init__(self, source):",
    "        self.source, self.numbers, self.drawn, self.dealt = source, {1}.get_rng_state(), None, 0",
    "        self.rest = iter(source)",
    "",
    "    def __iter__(self):",
    "        return self",
    "",
    "    def __next__(self):",
    "        if not self.dealt:  # the order may be drawn with the first sample",
    "            self.drawn = {1}.get_rng_state()",
    "        sample = next(self.rest)",
    "        self.dealt += 1",
    "        return sample",
    "",
    "    def state_dict(self):",
    '        return {{"numbers": self.numbers, "drawn": self.drawn, "dealt": self.dealt}}',
    "",
    "    def load_state_dict(self, state):",
    "        now = {1}.get_rng_state()",
    '        {1}.set_rng_state(state["numbers"])',
    "        self.__init__(self.source)",
    '        if state["dealt"]:',
    '            {1}.set_rng_state(state["drawn"])',
    '        while self.dealt < state["dealt"]:',
    "            next(self)",
    "        {1}.set_rng_state(now)",
]


@dataclass(frozen=True)
class Dealt:
    """An iterator: its name, and the calls that make it, before the loop and in it."""

    name: str
    made: tuple[cst.Call, ...]


def find_dealt(draft: Draft, values: Values) -> list[Dealt]:
    """Iterators over a loader that rounds draw from, and that nothing else is done with."""
    if any(argument(call, "generator") for call in draft.calls() if tail(call.func) == "DataLoader"):
        return []  # its order follows from that generator
    drawn = dict.fromkeys(
        call.args[0].value.value
        for call in draft.calls(values.loop.node.body)
        if tail(call.func) == "next" and call.args and isinstance(call.args[0].value, cst.Name)
    )
    found = []
    for name in drawn:
        calls = _made(draft, values, name)
        sources = {_word(positional(each, 0)) for each in calls}
        is_same = len(sources) == 1 and "" not in sources
        is_known = is_same and values.is_surely_there(name) and name in values.bindings
        is_loader = sources == {name} or (is_known and _is_loader(values, next(iter(sources))))
        if is_known and is_loader and is_only_drawn(draft, values, name, calls):
            found.append(Dealt(name, calls))
    return found


def deal(draft: Draft, made: Sequence[cst.Call]) -> None:
    """Let the iterators that these calls make know where they are."""
    for call in made:
        is_endless = tail(call.func) != "iter"
        name = _helper(draft, "ResumedCycle", _CYCLE) if is_endless else _helper(draft, "ResumedIterator", _CLASS)
        if is_endless:
            draft.insert(draft.start(call.args[0].value), f"{draft.source(call.func)}, ")
        draft.replace(call.func, name)


def _helper(draft: Draft, word: str, lines: Sequence[str]) -> str:
    def make() -> tuple[str]:
        name, torch = draft.free(word), draft.names.name_for("torch", [draft.module])
        if not torch:
            draft.need_import("torch")
        draft.add_on_top(["", *(line.format(name, torch or "torch") for line in lines)])
        return (name,)

    (name,) = draft.once(word, make)
    return name


def _made(draft: Draft, values: Values, name: str) -> tuple[cst.Call, ...]:
    """The calls of `iter(loader)` or `cycle(loader)` that make what a name stands for; none where it is more than that.

    The loader itself may have had the name before: `rows = DataLoader(data)`, `rows = cycle(rows)`.
    """
    bound = [
        node for node in draft.all_assigns
        if any(dotted(each.target) == name for each in node.targets) and not _is_another(draft, values, node)
    ]  # fmt: skip
    calls = [node.value for node in bound if isinstance(node.value, cst.Call)]
    made = [each for each in calls if is_dealing(draft, each)]
    loaders = [each for each in calls if each not in made and tail(each.func).endswith("Loader")]
    is_same = not loaders or all(_word(positional(each, 0)) == name for each in made)
    is_here = all(draft.scope(node) is values.scope for node in bound)
    return tuple(made) if is_here and is_same and len(made) + len(loaders) == len(bound) else ()


def is_dealing(draft: Draft, call: cst.Call) -> bool:
    """Whether a call makes what deals samples of the one thing that it is given."""
    is_plain = draft.resolve(call.func) == "iter" and len(call.args) == 1
    return is_plain or goes_on_without_end(draft, call)


def _word(node: cst.BaseExpression | None) -> str:
    """What something is called, or what makes it: `cycle(DataLoader(rows))`."""
    return tail(node.func) if isinstance(node, cst.Call) else dotted(node)


def _is_loader(values: Values, source: str) -> bool:
    """Whether something can be gone through from its beginning again; what a generator has dealt is gone."""
    if source.partition(".")[0] in values.bound:
        return False
    origin = values.origins.get(source)
    made = tail(origin.func) if isinstance(origin, cst.Call) else ""
    is_kept = made in ("cycle", "iter", "map", "zip", "chain") or isinstance(origin, cst.GeneratorExp)
    return not is_kept and (is_called_loader(source.rpartition(".")[2]) or made.endswith("Loader"))


def is_called_loader(word: str) -> bool:
    return bool(_LOADERS.fullmatch(word))


def is_only_drawn(draft: Draft, values: Values, name: str, making: Sequence[cst.Call] = ()) -> bool:
    """Whether a name is nowhere used but to bind it, also by a call that is `making` it, and to draw from it."""
    for node in draft.nodes:
        if not isinstance(node, cst.Name) or node.value != name or _is_another(draft, values, node):
            continue
        parent = draft.parent(node)
        around = draft.parent(parent) if parent is not None else None
        is_drawn = isinstance(parent, cst.Arg) and isinstance(around, cst.Call) and tail(around.func) == "next"
        is_drawn = is_drawn or around in making
        is_field = isinstance(parent, cst.Attribute) and parent.attr is node
        if not (is_drawn or is_field or isinstance(parent, cst.AssignTarget)):
            return False
    return True


def _is_another(draft: Draft, values: Values, node: cst.CSTNode) -> bool:
    """Whether a name stands in a function that sees nothing of the loop's: there it is something else."""
    if not isinstance(values.scope, cst.FunctionDef):
        return False
    return not any(each is values.scope for each in (draft.scope(node), *draft.above(node)))
