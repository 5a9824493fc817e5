"""Files that are begun before the rounds and that each round adds to: a table whose first line names its columns.

    with open(TABLE, "w") as file:
        csv.writer(file).writerow(["epoch", "loss"])
    for epoch in range(epochs): …  # with open(TABLE, "a") as file

After a stop the first lines would throw away what the rounds have written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def find_added(draft: Draft, values: Values) -> list[str]:
    """Paths that each round adds to, as expressions that can be written where the loop stands.

    One that begins with a text of its own may be another one where it stands.
    """
    return list(dict.fromkeys(draft.source(path) for path in _added(draft, values) if _is_named(path)))


def size_pairs(files: Sequence[str]) -> list[str]:
    """How long such files are, as parts of a checkpoint."""
    return [f'"{_key(at)}": os.path.getsize({path}) if os.path.exists({path}) else 0' for at, path in enumerate(files)]


def cut_lines(files: Sequence[str], state: str) -> list[str]:
    """Lines that take off what a round has added that was not finished: it comes again."""
    return [
        line
        for at, path in enumerate(files)
        for line in (
            f"    if os.path.exists({path}):",
            f'        os.truncate({path}, min(os.path.getsize({path}), {state}["{_key(at)}"]))',
        )
    ]


def _key(at: int) -> str:
    return f"file_size{at or ''}"


def _is_named(path: cst.BaseExpression) -> bool:
    if isinstance(path, cst.Call) and tail(path.func) == "join" and path.args:
        path = path.args[0].value
    while isinstance(path, cst.BinaryOperation):
        path = path.left
    first = path.parts[0] if isinstance(path, cst.FormattedString) and path.parts else None
    if isinstance(first, cst.FormattedStringExpression):
        path = first.expression
    return isinstance(path, cst.Name | cst.Attribute)


def find_begun(draft: Draft, values: Values) -> list[cst.BaseExpression]:
    """The paths of such files, where the function of a loop begins them."""
    added = {draft.source(path) for path in _added(draft, values)}
    start = draft.start(values.loop.top)
    return [
        path
        for call in draft.calls(values.scope)
        if draft.scope(call) is values.scope and draft.start(call) < start and mode_of(draft, call).startswith("w")
        and (path := positional(call, 0)) is not None and draft.source(path) in added
        and _is_closed(draft, call, values) and not _is_asked(draft, call)
    ]  # fmt: skip


def _added(draft: Draft, values: Values) -> Iterator[cst.BaseExpression]:
    """The paths that the rounds add to, and that are the same in each."""
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
                    yield path


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
