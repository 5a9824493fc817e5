"""Whether files of a program need the contract's values before the script has parsed its arguments.

A module may read its places when it is imported, also through functions that it calls then; and the script may call
such a function above its parser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.arguments.moments import Moments
from outlast.adapt.arguments.namespaces import called_name
from outlast.adapt.arguments.parsers import ArgparseSetup
from outlast.adapt.draft import Draft
from outlast.adapt.sight import Sight
from outlast.migrate.tree import tail


def is_read_early(sight: Sight, modules: Sequence[Draft], entry: Sight) -> bool:
    """Whether a value of the contract is read in this module before the script knows it."""
    options = sight.native.options.values() if sight.native is not None else ()
    asked = [option.call for option in options if option.is_required and option.call is not None]
    nodes = [*asked, *sight.places()]
    if sight.fetched or any(sight.draft.scope(node) is sight.draft.module for node in nodes):
        return True
    for draft, call, owner in _calls_towards(sight.draft, nodes, [*modules, entry.draft]):
        if draft is not entry.draft and draft.scope(call) is draft.module:
            return True
        # Functions of the script may parse themselves: what they call of other files is looked at where it stands.
        if draft is entry.draft and owner is not entry.draft and _is_above_parser(entry, call):
            return True
    return False


def _calls_towards(
    home: Draft, nodes: Sequence[cst.CSTNode], drafts: Sequence[Draft]
) -> Iterator[tuple[Draft, cst.Call, Draft]]:
    """Every call that leads to one of these places, in which file it stands, and in which its function does."""
    waiting = [(home, home.scope(node)) for node in nodes]
    seen: set[int] = set()
    while waiting:
        owner, function = waiting.pop()
        if not isinstance(function, cst.FunctionDef) or id(function) in seen:
            continue
        seen.add(id(function))
        name = called_name(owner, function)  # of a class, where that is what makes its objects
        around = next(
            (each for each in owner.above(function) if isinstance(each, cst.ClassDef | cst.FunctionDef)), None
        )
        is_method = name == function.name.value and isinstance(around, cst.ClassDef)
        for draft in drafts:
            for call in (each for each in draft.calls() if tail(each.func) == name):
                is_named = isinstance(call.func, cst.Name) or is_method or bool(draft.resolve(call.func))
                if is_named and not draft.is_of_library(call.func):
                    yield draft, call, owner
                    waiting.append((draft, draft.scope(call)))


def _is_above_parser(entry: Sight, call: cst.Call) -> bool:
    """Whether the script calls something, and only then parses."""
    native, draft = entry.native, entry.draft
    if not isinstance(native, ArgparseSetup) or call in draft.above(native.parsed):
        return False  # `main(parser.parse_args())`
    return Moments(draft).is_later(native.parsed, call)
