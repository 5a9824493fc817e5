"""Iterators that are made before a loop of torch and deal its rounds their samples: `batches = iter(loader)`.

Which samples they deal follows from the random numbers at the moment when they were made, or dealt the first sample:
only then is their order drawn, unless other processes read ahead. A later stint makes them anew with these numbers and
passes over what was dealt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
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
        made = list(_made(draft, values, name))
        sources = {dotted(positional(each, 0)) for each in made if each is not None}
        calls = tuple(each for each in made if each is not None)
        is_same = len(sources) == 1 and "" not in sources and len(calls) == len(made)
        source = next(iter(sources), "")
        is_known = is_same and values.is_surely_there(name) and name in values.bindings
        if is_known and _is_loader(values, source) and is_only_drawn(draft, values, name):
            found.append(Dealt(name, calls))
    return found


def deal(draft: Draft, made: Sequence[cst.Call]) -> None:
    """Let the iterators that these calls make know where they are."""
    if not made:
        return

    def make() -> tuple[str]:
        name, torch = draft.free("ResumedIterator"), draft.names.name_for("torch", [draft.module])
        if not torch:
            draft.need_import("torch")
        draft.add_on_top([line.format(name, torch or "torch") for line in _CLASS])
        return (name,)

    (name,) = draft.once("dealt", make)
    for call in made:
        draft.replace(call.func, name)


def _made(draft: Draft, values: Values, name: str) -> Iterator[cst.Call | None]:
    """What a name is bound to in the function of the loop; None for all but `iter(loader)`."""
    for node in draft.nodes:
        is_bound = isinstance(node, cst.Assign) and any(dotted(each.target) == name for each in node.targets)
        if isinstance(node, cst.Assign) and is_bound and not _is_another(draft, values, node):
            value = node.value
            is_plain = isinstance(value, cst.Call) and draft.resolve(value.func) == "iter" and len(value.args) == 1
            is_here = draft.scope(node) is values.scope
            yield value if is_plain and is_here and isinstance(value, cst.Call) else None


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


def is_only_drawn(draft: Draft, values: Values, name: str) -> bool:
    """Whether a name is nowhere used but to bind it and to draw from it."""
    for node in draft.nodes:
        if not isinstance(node, cst.Name) or node.value != name or _is_another(draft, values, node):
            continue
        parent = draft.parent(node)
        around = draft.parent(parent) if parent is not None else None
        is_drawn = isinstance(parent, cst.Arg) and isinstance(around, cst.Call) and tail(around.func) == "next"
        is_field = isinstance(parent, cst.Attribute) and parent.attr is node
        if not (is_drawn or is_field or isinstance(parent, cst.AssignTarget)):
            return False
    return True


def _is_another(draft: Draft, values: Values, node: cst.CSTNode) -> bool:
    """Whether a name stands in a function that sees nothing of the loop's: there it is something else."""
    if not isinstance(values.scope, cst.FunctionDef):
        return False
    return not any(each is values.scope for each in (draft.scope(node), *draft.above(node)))
