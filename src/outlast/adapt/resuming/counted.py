"""Generators of the program that rounds draw from: `rates = cosine_rates(0.1, epochs)`, `next(rates)`.

One that gives the same values in each start is brought to where it was by passing over what it has given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.dealt import is_only_drawn
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import dotted, tail

#: words of generators that deal samples, or draw by chance: they would give others, or have much to read again
_DEALS = re.compile(
    r"\w*(?:rand|shuffle|choice|sampl|loader|dataset|batch|open|read|permut|seed|input)\w*|"
    r"(?:log_?)?normal|uniform|bernoulli|multinomial|poisson|gauss|time\w*|perf_counter|uuid\d?|send|global",
    re.I,
)
_CLASS = [
    "class {0}:  # counts what a generator has given, which a later stint passes over",
    "    def __init__(self, source):",
    "        self.source, self.given = source, 0",
    "",
    "    def __iter__(self):",
    "        return self",
    "",
    "    def __next__(self):",
    "        value = next(self.source)",
    "        self.given += 1",
    "        return value",
    "",
    "    def state_dict(self):",
    '        return {{"given": self.given}}',
    "",
    "    def load_state_dict(self, state):",
    '        while self.given < state["given"]:',
    "            next(self)",
]


@dataclass(frozen=True)
class Counted:
    """A generator: its name, and the call that makes it."""

    name: str
    made: cst.Call


def find_counted(draft: Draft, values: Values) -> list[Counted]:
    """Generators that are made once before the loop, by a function of the program, and only drawn from."""
    drawn = dict.fromkeys(
        call.args[0].value.value
        for call in draft.calls(values.loop.node.body)
        if tail(call.func) == "next" and len(call.args) == 1 and isinstance(call.args[0].value, cst.Name)
    )
    found = []
    for name in drawn:
        bound = [
            node for node in draft.nodes
            if isinstance(node, cst.Assign) and any(dotted(each.target) == name for each in node.targets)
        ]  # fmt: skip
        made = bound[0].value if len(bound) == 1 and len(bound[0].targets) == 1 else None
        is_here = bool(bound) and draft.scope(bound[0]) is values.scope and name not in values.bound
        if isinstance(made, cst.Call) and is_here and values.is_surely_there(name):
            found += [Counted(name, made)] if _gives_same(draft, made) and is_only_drawn(draft, values, name) else []
    return found


def count(draft: Draft, counted: list[Counted]) -> None:
    """Let these generators know where they are."""

    def make() -> tuple[str]:
        name = draft.free("ResumedGenerator")
        draft.add_on_top(["", *(line.format(name) for line in _CLASS)])
        return (name,)

    for each in counted:
        (name,) = draft.once("counted", make)
        draft.enclose(each.made, f"{name}(", ")")


def _gives_same(draft: Draft, call: cst.Call) -> bool:
    """Whether a call makes a generator whose values follow from nothing but what it is given."""
    own = [each for each in draft.functions() if each.name.value == dotted(call.func)]
    elsewhere = function_elsewhere(draft, call)
    function = own[0] if len(own) == 1 else elsewhere[1] if elsewhere is not None and not own else None
    if function is None or function.asynchronous is not None:
        return False
    home = draft if own else elsewhere[0] if elsewhere is not None else draft
    nodes = list(_run_by(home, function, {id(function)}))
    words = {node.value for node in nodes if isinstance(node, cst.Name)}
    inside = list(draft.below(function.body))
    given = {param.name.value for param in (*function.params.params, *function.params.kwonly_params)}
    # What goes through something that it is given, as a loader, gives what that gives.
    through = {dotted(node.iter) for node in inside if isinstance(node, cst.For | cst.CompFor)}
    through |= {dotted(node.item) for node in inside if isinstance(node, cst.From)}
    is_own = not given & {each.partition(".")[0] for each in through} and not any(map(_DEALS.fullmatch, words))
    return is_own and any(isinstance(node, cst.Yield) for node in inside)


def _run_by(home: Draft, function: cst.FunctionDef, seen: set[int]) -> Iterator[cst.CSTNode]:
    """The nodes of a function, and of those of its file that it names."""
    nodes = list(home.below(function.body))
    yield from nodes
    words = {node.value for node in nodes if isinstance(node, cst.Name)}
    for each in home.functions():
        if each.name.value in words and id(each) not in seen:
            seen.add(id(each))
            yield from _run_by(home, each, seen)
