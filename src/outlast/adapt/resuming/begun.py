"""Files that are begun before the rounds and that each round adds to: a table whose first line names its columns.

    with open(TABLE, "w") as file:
        csv.writer(file).writerow(["epoch", "loss"])
    for epoch in range(epochs): …  # with open(TABLE, "a") as file

After a stop the first lines would throw away what the rounds have written.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.visible import parameters
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_OPEN = frozenset({"open", "io.open", "codecs.open"})
_ASKS = frozenset({"exists", "isfile", "is_file"})


def mode_of(draft: Draft, call: cst.Call) -> str:
    """What a file is opened for; empty where that is not written, or nothing is opened."""
    if draft.resolve(call.func) not in _OPEN:
        return ""
    given = argument(call, "mode")
    mode = given.value if given is not None else positional(call, 1)
    return inner(mode) if isinstance(mode, cst.SimpleString) else ""


def find_begun(draft: Draft, values: Values) -> list[cst.BaseExpression]:
    """The paths of such files, where the function of a loop begins them."""
    added = set(_added(draft, values))
    start = draft.start(values.loop.top)
    return [
        path
        for call in draft.calls(values.scope)
        if draft.scope(call) is values.scope and draft.start(call) < start and mode_of(draft, call).startswith("w")
        and (path := positional(call, 0)) is not None and draft.source(path) in added
        and _is_closed(draft, call, values) and not _is_asked(draft, call)
    ]  # fmt: skip


def _added(draft: Draft, values: Values) -> Iterator[str]:
    """How the paths are spelled that the rounds add to, and that are the same in each."""
    blocks: list[tuple[cst.CSTNode, set[str]]] = [(values.loop.node, values.bound)]
    for function in values.run_functions():
        own = {name for node in draft.below(function.body) for name in targets_of(node)}
        # A name of its own may be that of another file.
        hidden = set(parameters(function)) | own
        blocks.append((function, hidden | (set(values.origins) if values.scope is not draft.module else set())))
    for block, hidden in blocks:
        for call in draft.calls(block):
            path = positional(call, 0)
            if path is not None and mode_of(draft, call).startswith("a"):
                names = {each.value for each in (path, *draft.below(path)) if isinstance(each, cst.Name)}
                if not names & hidden:
                    yield draft.source(path)


def _is_closed(draft: Draft, call: cst.Call, values: Values) -> bool:
    """Whether a file is closed again before the rounds."""
    around = draft.parent(call)
    if isinstance(around, cst.WithItem):
        block = draft.parent(around)
        return not any(each is block for each in draft.above(values.loop.node))
    if isinstance(around, cst.Attribute):
        return around.attr.value == "close"
    names = [tail(each.target) for each in around.targets] if isinstance(around, cst.Assign) else []
    start = draft.start(values.loop.top)
    closed = {dotted(each.func) for each in draft.calls(values.scope) if draft.start(each) < start}
    return any(f"{name}.close" in closed for name in names)


def _is_asked(draft: Draft, call: cst.Call) -> bool:
    """`if not os.path.exists(path):` before it: it is begun only once already."""
    tests = [each.test for each in draft.above(call) if isinstance(each, cst.If)]
    nodes = [node for test in tests for node in (test, *draft.below(test))]
    return any(isinstance(node, cst.Call) and tail(node.func) in _ASKS for node in nodes)
