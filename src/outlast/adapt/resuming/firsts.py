"""What a script saves before its rounds, and what its rounds save in a temporary folder: the best weights so far.

    with TemporaryDirectory() as folder:
        best = os.path.join(folder, "best.pt")
        torch.save(model.state_dict(), best)
        for epoch in range(epochs): …  # torch.save(model.state_dict(), best) where it is better

After a stop the first line would put what the model was at the start in the place of what the rounds have found, and
the folder would be another one.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.begun import find_begun, nowhere_if
from outlast.adapt.resuming.logs import Log
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import RULE, Names
from outlast.migrate.engine import Kind
from outlast.migrate.lines import line_start
from outlast.migrate.tree import argument, positional, tail

_FOLDERS = frozenset({"tempfile.TemporaryDirectory", "tempfile.mkdtemp"})


@dataclass(frozen=True)
class Firsts:
    """Lines before a loop that must know of its checkpoint. `folders`: names of temporary ones, where they are made."""

    draft: Draft
    loop: cst.CSTNode
    saves: tuple[cst.CSTNode, ...]
    folders: tuple[tuple[str, cst.CSTNode], ...]
    begun: tuple[cst.BaseExpression, ...] = ()  # paths of files that are begun anew, and that the rounds add to
    logs: tuple[Log, ...] = ()

    def put(self, names: Names, places: list[str]) -> bool:
        """Let them mind the checkpoint; whether the lines that say where it lies stand before the first of them now."""
        if not (self.saves or self.folders or self.begun or self.logs):
            return False
        draft, going_on = self.draft, f"{names.folder} and os.path.exists({names.path})"
        # Behind the line that makes a folder everything is known that the lines need; a save comes later.
        begins = [draft.statement(each) for each in (*self.begun, *(log.call for log in self.logs))]
        first = min([*self.saves, *begins, *(made for _, made in self.folders)], key=draft.start)
        is_made = any(made is first for _, made in self.folders)
        for name, made in self.folders:
            self._add_behind(made, [
                *(places if made is first else []),
                f"if {names.folder}:",
                f'    {name} = {names.path} + ".files"  # what the rounds leave there outlives a stop',
                f"    os.makedirs({name}, exist_ok=True)",
            ])  # fmt: skip
            draft.say(Kind.CHANGED, RULE, made, f"{name} lies beside the checkpoint, so that what is in it is kept")
        if not is_made:
            draft.add_before(_beside(draft, first, self.loop), places)
        for save in self.saves:
            draft.add_before(save, [f"if not ({going_on}):"])
            _indent(draft, save)
            draft.say(Kind.CHANGED, RULE, save, "is not saved anew after a stop: the rounds have saved it since")
        for path in self.begun:
            nowhere_if(draft, path, going_on)
        for log in self.logs:
            self._add_behind(draft.statement(log.call), log.go_on(draft, names.folder, names.path))
        return True

    def _add_behind(self, made: cst.CSTNode, lines: list[str]) -> None:
        if isinstance(made, cst.With):
            assert isinstance(made.body, cst.IndentedBlock)
            self.draft.add_before(made.body.body[0], lines)
        else:
            self.draft.add_after(made, lines)


def find_firsts(draft: Draft, values: Values, logs: tuple[Log, ...] = ()) -> Firsts:
    """Everything of that kind in the function of a loop, before it; beside it the `logs` that go on."""
    loop, start = values.loop.node, draft.start(values.loop.top)
    paths = [path for call in draft.calls(loop) if (path := saved_path(draft, call)) is not None]
    written = {draft.source(path) for path in paths if not _names(draft, path) & values.bound}
    before = [call for call in draft.calls(values.scope) if draft.start(call) < start and _is_own(draft, call, values)]
    saves = [
        draft.statement(call) for call in before
        if (path := saved_path(draft, call)) is not None and draft.source(path) in written and _is_alone(draft, call)
    ]  # fmt: skip
    used = {name for path in paths for name in _origins(draft, path, values)}
    made = [each for call in before if draft.resolve(call.func) in _FOLDERS for each in _bound(draft, call)]
    around = {id(each) for each in draft.above(loop)}
    return Firsts(
        draft,
        loop,
        tuple(saves),
        tuple((name, at) for name, at in made if name in used and (id(at) in around or _is_beside(draft, at, loop))),
        tuple(find_begun(draft, values)),
        logs,
    )


def saved_path(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """Where `torch.save` writes to."""
    if draft.resolve(call.func) != "torch.save":
        return None
    named = argument(call, "f")
    return named.value if named is not None else positional(call, 1)


def _is_own(draft: Draft, call: cst.Call, values: Values) -> bool:
    return draft.scope(call) is values.scope


def _is_alone(draft: Draft, call: cst.Call) -> bool:
    line = draft.parent(call)
    statement = draft.statement(call)
    is_line = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
    return isinstance(line, cst.Expr) and is_line and draft.stands_alone(statement)


def _names(draft: Draft, node: cst.CSTNode) -> set[str]:
    return {each.value for each in (node, *draft.below(node)) if isinstance(each, cst.Name)}


def _origins(draft: Draft, path: cst.CSTNode, values: Values) -> set[str]:
    """Names that a path is put together from, and those that these come from."""
    found = _names(draft, path)
    waiting = list(found)
    while waiting:
        for _, value in values.bindings.get(waiting.pop(), []):
            fresh = (_names(draft, value) if value is not None else set()) - found
            found |= fresh
            waiting += fresh
    return found


def _bound(draft: Draft, call: cst.Call) -> list[tuple[str, cst.CSTNode]]:
    """`with TemporaryDirectory() as name`, `name = mkdtemp()`: the name, and the statement."""
    parent = draft.parent(call)
    if isinstance(parent, cst.WithItem) and parent.asname is not None and isinstance(parent.asname.name, cst.Name):
        around = draft.parent(parent)
        is_block = isinstance(around, cst.With) and isinstance(around.body, cst.IndentedBlock)
        return [(parent.asname.name.value, around)] if is_block and around is not None else []
    if isinstance(parent, cst.Assign) and tail(call.func) == "mkdtemp":
        targets = [each.target for each in parent.targets]
        return [(each.value, draft.statement(call)) for each in targets if isinstance(each, cst.Name)]
    return []


def _beside(draft: Draft, node: cst.CSTNode, loop: cst.CSTNode) -> cst.CSTNode:
    """The statement that holds a node and stands in a block around the loop."""
    blocks = {id(each) for each in draft.above(loop)}
    return next(each for each in (node, *draft.above(node)) if id(draft.parent(each)) in blocks)


def _is_beside(draft: Draft, node: cst.CSTNode, loop: cst.CSTNode) -> bool:
    return _beside(draft, node, loop) is node


def _indent(draft: Draft, statement: cst.CSTNode) -> None:
    """One step further in, line by line, unless a text goes over several lines."""
    start, end = draft.span(statement)
    at = line_start(draft.data, start)
    has_text = any(
        isinstance(each, cst.SimpleString | cst.FormattedString) and "\n" in draft.source(each)
        for each in draft.below(statement)
    )
    for line in draft.data[at:end].splitlines(keepends=True):
        if at <= start or (line.strip() and not has_text):
            draft.insert(at, draft.indent)
        at += len(line)
