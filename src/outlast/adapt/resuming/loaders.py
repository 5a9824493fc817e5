"""Loaders that draw the order of their samples from a generator of their own, which the loop has no name for.

    def loaders(seed):
        order = torch.Generator().manual_seed(seed)
        return DataLoader(rows, shuffle=True, generator=order), DataLoader(tests)

A stint would begin with the first round's order again. The loader that the rounds go over holds its generator.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import seen_elsewhere
from outlast.adapt.resuming.uses import Uses
from outlast.migrate.tree import argument, dotted, positional, tail

_DEPTH = 3
#: what hands on the samples of a loader
_BARS = frozenset({"enumerate", "tqdm", "trange", "zip", "islice", "iter", "track", "cycle"})


def loader_generators(draft: Draft, values: Values, uses: Uses, named: list[str]) -> tuple[list[str], set[int]]:
    """`loader.generator` of each loader that the rounds go over, where none of those `named` is what it was given.

    Beside them the calls that make these loaders.
    """
    functions = {**seen_elsewhere(draft, cst.FunctionDef), **{each.name.value: each for each in draft.functions()}}
    found, calls = [], set()
    for name in _gone_over(draft, values, uses):
        made = uses.made(name)
        given = list(_given(draft, made, functions, _DEPTH)) if made is not None else []
        is_seen = made is not None and tail(made.func) == "DataLoader"
        # What a function calls its generator says nothing here.
        if any(not is_seen or tail(generator) not in named for _, generator in given):
            found.append(f"{name}.generator")
            calls |= {id(call) for call, _ in given}
    return list(dict.fromkeys(found)), calls


def _gone_over(draft: Draft, values: Values, uses: Uses) -> Iterator[str]:
    """Names of what loops within the rounds go over."""
    for block in (values.loop.node.body, *(function.body for function in uses.functions)):
        for node in draft.below(block):
            if isinstance(node, cst.For | cst.CompFor):
                for source in _sources(node.iter):
                    yield from (name for name, rest in uses.seen_as(dotted(source), draft.scope(node)) if not rest)


def _sources(node: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    if isinstance(node, cst.Call) and tail(node.func) in _BARS:
        for at in range(len(node.args)):
            given = positional(node, at)
            yield from _sources(given) if given is not None else ()
    else:
        yield node


def _given(
    draft: Draft, call: cst.Call, functions: dict[str, cst.FunctionDef], depth: int
) -> Iterator[tuple[cst.Call, cst.BaseExpression]]:
    """The loaders that a call makes, itself or by functions of the program, with their generators."""
    if tail(call.func) == "DataLoader":
        named = argument(call, "generator")
        if named is not None and not (isinstance(named.value, cst.Name) and named.value.value == "None"):
            yield call, named.value
        return
    function = functions.get(tail(call.func))
    if function is not None and depth:
        for each in draft.home(function).calls(function):
            yield from _given(draft, each, functions, depth - 1)
