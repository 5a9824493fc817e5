"""Models of which some rounds freeze or thaw a part: `if epoch == 5: net.unfreeze()`.

Which parameters are trained is no part of a model's state. A stint that begins behind such a round would train others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.migrate.tree import tail


def is_thawing(draft: Draft, values: Values, functions: Iterable[cst.FunctionDef]) -> bool:
    """Whether the rounds may do so. `functions`: what they call."""
    blocks = [values.loop.node.body, *(function.body for function in functions)]
    return any(_sets(draft, block) or _calls_setter(draft, block) for block in blocks)


def thawed_pairs(names: Sequence[str]) -> list[str]:
    return [f'"{name}.requires_grad": [each.requires_grad for each in {name}.parameters()]' for name in names]


def thawed_lines(draft: Draft, names: Sequence[str], state: str) -> Iterator[str]:
    for name in names:
        part, is_trained = draft.free("resume_part"), draft.free("is_trained")
        yield f'    for {part}, {is_trained} in zip({name}.parameters(), {state}["{name}.requires_grad"]):'
        yield f"        {part}.requires_grad = {is_trained}"


def _sets(draft: Draft, block: cst.CSTNode) -> bool:
    """`part.requires_grad = True`, `net.head.requires_grad_(True)`."""
    return any(
        (isinstance(node, cst.AssignTarget) and tail(node.target) == "requires_grad")
        or (isinstance(node, cst.Call) and tail(node.func) == "requires_grad_")
        for node in draft.below(block)
    )


def _calls_setter(draft: Draft, block: cst.CSTNode) -> bool:
    """Whether a function or method of the program that does so is called."""
    called = {tail(call.func) for call in draft.calls(block)}
    return any(
        function.name.value in called and _sets(each, function.body)
        for each in (draft, *draft.others) if "requires_grad" in each.text
        for function in each.functions()
    )  # fmt: skip
