"""Files that are begun before the rounds and that each round adds to: a table whose first line names its columns.

    with open(TABLE, "w") as file:
        csv.writer(file).writerow(["epoch", "loss"])
    for epoch in range(epochs): …  # with open(TABLE, "a") as file

After a stop the first lines would throw away what the rounds have written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.loops import Values, targets_of
from outlast.adapt.resuming.scopes import parameters
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_RULE = "resume"

_OPEN = frozenset({"open", "io.open", "codecs.open"})
_ASKS = frozenset({"exists", "isfile", "is_file"})
#: methods of a path that write all of a file
_WHOLE = frozenset({"write_text", "write_bytes"})
_MODE = re.compile(r"[rwax][bt+U]*")


def mode_of(draft: Draft, call: cst.Call) -> str:
    """What a file is opened for; empty where that is not written, or nothing is opened."""
    if is_of_path(draft, call) and tail(call.func) in _WHOLE:
        return "w"
    place = 0 if is_of_path(draft, call) else 1
    if place and draft.resolve(call.func) not in _OPEN:
        return ""
    given = argument(call, "mode")
    mode = given.value if given is not None else positional(call, place)
    text = inner(mode) if isinstance(mode, cst.SimpleString) else ""
    return text if _MODE.fullmatch(text) else ""


def path_of(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """The path of a file that a call opens."""
    if isinstance(call.func, cst.Attribute) and is_of_path(draft, call):
        return call.func.value
    return positional(call, 0)


def added_paths(draft: Draft, within: cst.CSTNode) -> list[cst.BaseExpression]:
    """The paths of files that something adds to: `open(path, "a")`."""
    calls = (call for call in draft.calls(within) if mode_of(draft, call).startswith("a"))
    return [path for call in calls if (path := path_of(draft, call)) is not None]


def is_of_path(draft: Draft, call: cst.Call) -> bool:
    """`path.open("a")`, `path.write_text(head)`: whether a path object is asked to open its own file."""
    if not isinstance(call.func, cst.Attribute) or tail(call.func) not in {"open", *_WHOLE}:
        return False
    return draft.resolve(call.func) not in _OPEN and not draft.is_of_library(call.func)


def find_added(draft: Draft, values: Values) -> list[str]:
    """Paths that each round adds to, as expressions that can be written where the loop stands.

    One that begins with a text of its own may be put below an option.
    """
    found = {}
    for path, hidden in _added(draft, values):
        text = draft.source(path)
        if text not in found:
            found[text] = text if _is_named(path) else draft.later(path, hidden)
    return list(found.values())


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
    if isinstance(path, cst.Call) and tail(path.func) in ("join", "Path") and path.args:
        path = path.args[0].value
    while isinstance(path, cst.BinaryOperation):
        path = path.left
    first = path.parts[0] if isinstance(path, cst.FormattedString) and path.parts else None
    if isinstance(first, cst.FormattedStringExpression):
        path = first.expression
    return isinstance(path, cst.Name | cst.Attribute)


def find_begun(draft: Draft, values: Values) -> list[cst.BaseExpression]:
    """The paths of such files, where the function of a loop begins them."""
    added = {draft.source(path) for path, _ in _added(draft, values)}
    start = draft.start(values.loop.top)
    return [
        path
        for call in draft.calls(values.scope)
        if draft.scope(call) is values.scope and draft.start(call) < start and mode_of(draft, call).startswith("w")
        and (path := path_of(draft, call)) is not None and draft.source(path) in added
        and _is_closed(draft, call, values) and not is_asked(draft, call)
    ]  # fmt: skip


def _added(draft: Draft, values: Values) -> Iterator[tuple[cst.BaseExpression, set[str]]]:
    """The paths that the rounds add to, and that are the same in each; with names that mean others there."""
    blocks: list[tuple[cst.CSTNode, set[str]]] = [(values.loop.node, set(values.bound))]
    for function in values.run_functions():
        own = {name for node in draft.below(function.body) for name in targets_of(node)}
        # A name of its own may be that of another file.
        hidden = set(parameters(function)) | own
        is_inside = any(each is values.scope for each in draft.above(function))
        # What is bound around both is one thing; elsewhere a name of the loop's function means another one.
        hidden |= values.bound if is_inside else set(values.origins)
        blocks.append((function, hidden))
    for block, hidden in blocks:
        for call in draft.calls(block):
            path = path_of(draft, call)
            if path is not None and mode_of(draft, call).startswith("a"):
                names = {each.value for each in (path, *draft.below(path)) if isinstance(each, cst.Name)}
                if not names & hidden:
                    yield path, set() if block is values.loop.node else hidden


def nowhere_if(draft: Draft, path: cst.BaseExpression, going_on: str) -> None:
    """Let a file that is there not be begun anew where the training goes on.

    The lines are run as before, for they may bind what is read later.
    """
    name = dotted(path)
    is_there = f" and os.path.exists({name})" if name else ""
    if isinstance(draft.parent(path), cst.Attribute):
        made = draft.names.name_for("pathlib.Path", [draft.module]) or f"type({draft.source(path)})"
        draft.enclose(path, f"({made}(os.devnull) if {going_on}{is_there} else ", ")")
    else:
        draft.enclose(path, f"os.devnull if {going_on}{is_there} else ", "")
    said = f"{draft.source(path)} is not begun anew after a stop: the rounds have added to it since"
    draft.say(Kind.CHANGED, _RULE, path, said)


def _is_closed(draft: Draft, call: cst.Call, values: Values) -> bool:
    """Whether a file is closed again before the rounds."""
    around = draft.parent(draft.parent(call) or call) if isinstance(draft.parent(call), cst.WithItem) else None
    is_around = around is not None and any(each is around for each in draft.above(values.loop.node))
    return not is_around and is_closed_in(draft, call, values.scope, draft.start(values.loop.top))


def is_closed_in(draft: Draft, call: cst.Call, scope: cst.CSTNode, before: int | None = None) -> bool:
    """Whether a file is closed again in its function, and before a place of the text."""
    around = draft.parent(call)
    if tail(call.func) in _WHOLE or isinstance(around, cst.WithItem):
        return True
    if isinstance(around, cst.Attribute):
        return around.attr.value == "close"
    names = [dotted(each.target) for each in around.targets] if isinstance(around, cst.Assign) else []
    closed = {dotted(each.func) for each in draft.calls(scope) if before is None or draft.start(each) < before}
    return any(f"{name}.close" in closed for name in names)


def is_asked(draft: Draft, call: cst.Call) -> bool:
    """`if not os.path.exists(path):` before it: it is begun only once already."""
    tests = [each.test for each in draft.above(call) if isinstance(each, cst.If)]
    nodes = [node for test in tests for node in (test, *draft.below(test))]
    return any(isinstance(node, cst.Call) and tail(node.func) in _ASKS for node in nodes)
