"""What the function of a loop is handed has two names there: its parameter, and what the script calls it.

One of them is enough in a checkpoint. Of several objects that are handed in one after the other (`first.run()`,
`second.run()`), each is the parameter of its own training, and may be gone when the next one is done.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import is_method, parameters
from outlast.adapt.resuming.uses import Uses
from outlast.adapt.signatures import fits
from outlast.migrate.tree import dotted, tail


def handed_as(draft: Draft, values: Values, uses: Uses, saved: list[str]) -> set[str]:
    """Names of the script for what is saved by the name of a parameter."""
    function = values.scope
    if not isinstance(function, cst.FunctionDef):
        return set()
    names, skip = parameters(function), int(is_method(draft, function))
    found: set[str] = set()
    for call in draft.calls():
        if tail(call.func) != function.name.value or draft.scope(call) is function or not fits(call, function, skip):
            continue
        for at, arg in enumerate(call.args):
            given = arg.keyword.value if arg.keyword is not None else "".join(names[at + skip : at + skip + 1])
            if given in saved and _is_same(draft, values, given):
                found.update(_named(draft, uses, arg.value))
    return found - set(names)


def _named(draft: Draft, uses: Uses, value: cst.BaseExpression) -> Iterator[str]:
    root, _, rest = dotted(value).partition(".")
    scope = draft.scope(value)
    if root == "self" and rest:
        home = next((each for each in draft.above(scope) if isinstance(each, cst.ClassDef)), None)
        yield from (f"{holder}.{rest}" for holder, chain in uses.holders.items() if home in chain)
    elif scope is draft.module and root:
        yield dotted(value)


def _is_same(draft: Draft, values: Values, name: str) -> bool:
    """Whether a parameter is still what was handed in, or something around it: `model = DataParallel(model)`."""
    return all(
        isinstance(value, cst.Call)
        and "copy" not in tail(value.func)
        and any(tail(each) == name for each in draft.below(value) if isinstance(each, cst.Name))
        for _, value in values.bindings.get(name, [])
    )
