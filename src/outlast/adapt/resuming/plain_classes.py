"""Classes of other files of a program whose objects hold numbers, arrays and each other, and can be saved whole."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.migrate.tree import tail

#: makes what no file can hold, or stands for something outside of the program
_OPENS = frozenset({"open", "iter", "Thread", "Lock", "Popen", "socket", "connect"})


def plain_classes(draft: Draft) -> set[str]:
    """Their names."""
    return {
        node.name.value
        for file in draft.others
        for node in file.module.body
        if isinstance(node, cst.ClassDef) and _is_plain(file, node)
    }


def _is_plain(file: Draft, made: cst.ClassDef) -> bool:
    """Whether a class calls nothing but numpy, the program and what Python has built in."""
    if any(tail(base.value) != "object" for base in made.bases):
        return False
    if any(isinstance(node, cst.Lambda | cst.Yield | cst.With) for node in file.below(made)):
        return False
    return all(_is_plain_call(file, call) for call in file.calls(made))


def _is_plain_call(file: Draft, call: cst.Call) -> bool:
    name = file.resolve(call.func)
    is_ours = "." not in name or name.startswith((".", "numpy.")) or name.partition(".")[0] in file.seen
    return is_ours and tail(call.func) not in _OPENS


def makers_of(draft: Draft, value: cst.BaseExpression | None) -> Iterator[str]:
    """What a value, or something in it, is made by; of `{"sgd": SGD, "adam": Adam}[name.lower()]()` all of them."""
    chosen: set[int] = set()
    for call in (value, *draft.calls(value)) if value is not None else ():
        if not isinstance(call, cst.Call) or id(call) in chosen:
            continue
        names = _table(draft, call.func) if isinstance(call.func, cst.Subscript) else []
        if names:
            chosen |= {id(each) for each in draft.calls(call.func)}
            yield from names
        elif not (isinstance(call.func, cst.Attribute) and isinstance(call.func.value, cst.Call)):
            # `np.zeros(3).astype(int)`: what the inner call makes tells what this is.
            yield draft.home(call).resolve(call.func) or tail(call.func)


def _table(draft: Draft, chosen: cst.Subscript) -> list[str]:
    """The names that a dictionary in the same function has for what is chosen of it."""
    home = draft.home(chosen)
    tables = [
        each.value for each in home.below(home.scope(chosen))
        if isinstance(each, cst.Assign) and tail(each.targets[0].target) == tail(chosen.value)
    ]  # fmt: skip
    if len(tables) != 1 or not isinstance(tables[0], cst.Dict) or not isinstance(chosen.value, cst.Name):
        return []
    return [tail(each.value) for each in tables[0].elements]
