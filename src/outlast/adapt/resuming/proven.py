"""Whether a script surely goes on by itself: from the very file that it saves, with all of its training, unasked.

A load alone proves nothing. It may wait for a setting, look for a file of another name, or leave the optimizer as it
was. What is not proven is not believed: then the script gets the lines that every other one gets.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.following import Following
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.scopes import parameters
from outlast.adapt.resuming.state import State
from outlast.migrate.tree import argument, dotted, inner, positional, tail

_LOADS = frozenset({"load", "load_checkpoint", "load_model", "restore", "load_weights", "latest_checkpoint"})
#: Calls that save, and where each is told the path.
_SAVES = {
    "save": ("f", 1), "dump": ("", 1), "save_weights": ("filepath", 0), "save_model": ("filepath", 1),
    "save_checkpoint": ("ckpt_file_name", 1), "savez": ("", 0), "save_pretrained": ("", 0),
}  # fmt: skip
#: Objects that save by themselves while a training runs.
_SAVERS = {"ModelCheckpoint": ("filepath", 0), "CheckpointManager": ("directory", 1)}
_RESTORES = frozenset({"load_state_dict", "load_weights", "set_weights", "restore", "load_param_into_net"})
_FOUND = re.compile(
    r"exists|is_?file|is_?dir|lexists|i?glob|rglob|listdir|iterdir|scandir|checkpoint_exists|"
    r"\w*(?:latest|newest|last|find|search|discover)\w*|sorted|max|natsorted|load\w*|restore\w*"
)
_MEASURES = frozenset({"len", "any", "bool", "list"})


class Proof:
    """Of one script. `starts` are the expressions that a loop, or a call that trains, begins to count from."""

    def __init__(
        self, draft: Draft, starts: Sequence[cst.BaseExpression], is_on: Callable[[cst.BaseExpression], bool],
        values: Values | None = None, state: State | None = None,
    ) -> None:  # fmt: skip
        self._draft, self._starts, self._is_on = draft, starts, is_on
        self._values, self._state = values, state
        self._loop = values.loop.node if values is not None else None
        self._follow = Following(draft, self._loop)

    def is_of_its_own_file(self) -> bool:
        """Whether the count comes from a file that is looked for unasked, and that the training writes."""
        loads = [
            node
            for start in self._starts
            for node in self._follow.sources(start)
            if isinstance(node, cst.Call | cst.Attribute) and self._loads(node) and self._is_unasked(node)
        ]
        saved = self._saved()
        return any(_is_same(text, other) for load in loads for text in self._paths(load) for other in saved)

    def is_whole(self) -> bool:
        """Whether all that goes from round to round is loaded as well."""
        if self._state is None or self._values is None:
            return True
        restored = set(self._restored())
        # A Checkpoint of TensorFlow counts what it saves in itself.
        loaded = [name for name in self._state.loaded if not name.endswith(".save_counter")]
        needed = [*loaded, *(name for name, _ in self._state.groups), *self._state.tensors]
        needed += [name for name in self._state.kept if name != self._values.loop.variable]
        return all(name in restored or self._is_bound_anew(name) for name in needed)

    # ---- the file

    def _loads(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Attribute):
            return node.attr.value == "latest_checkpoint"
        return isinstance(node, cst.Call) and tail(node.func) in _LOADS and bool(node.args)

    def _paths(self, load: cst.CSTNode) -> set[str]:
        if isinstance(load, cst.Call) and tail(load.func) != "latest_checkpoint":
            return self._follow.spelled(self._opened(positional(load, 0)))
        return self._follow.spelled(load if isinstance(load, cst.BaseExpression) else None)

    def _saved(self) -> set[str]:
        found: set[str] = set()
        for call in self._draft.calls():
            word, at = _SAVES.get(tail(call.func), ("", -1))
            if at >= 0 and not self._is_behind(call) and not self._is_rare(call):
                is_method = isinstance(call.func, cst.Attribute) and not self._draft.resolve(call.func)
                named = argument(call, word) if word else None
                given = named.value if named else positional(call, at)
                if given is None and is_method:
                    given = positional(call, 0)  # checkpoint.save(prefix), model.save(path)
                found |= self._follow.spelled(self._opened(given)) if given is not None else set()
            word, at = _SAVERS.get(tail(call.func), ("", -1))
            if at >= 0:
                named = argument(call, word)
                texts = self._follow.spelled(named.value if named else positional(call, at))
                found |= {f"{text}/*" for text in texts} if word == "directory" else texts
        return found

    def _opened(self, given: cst.BaseExpression | None) -> cst.BaseExpression | None:
        """The path of a file that `open` made, also under the name that `with` gave it."""
        if isinstance(given, cst.Call) and tail(given.func) == "open":
            return positional(given, 0)
        for each in self._draft.above(given) if isinstance(given, cst.Name) else ():
            for item in each.items if isinstance(each, cst.With) else ():
                if item.asname is not None and tail(item.asname.name) == tail(given):
                    return positional(item.item, 0) if isinstance(item.item, cst.Call) else None
        return given

    def _is_behind(self, call: cst.Call) -> bool:
        """Saved when all is done: after a stop there is nothing of that."""
        loop = self._loop
        return (
            loop is not None
            and self._draft.scope(call) is self._draft.scope(loop)
            and self._draft.start(call) >= self._draft.span(loop)[1]
        )

    def _is_rare(self, call: cst.Call) -> bool:
        """Saved in some rounds only (`if epoch % 100 == 0:`): a stop loses all that came since."""
        if self._values is None:
            return False
        bound = {*self._values.bound, self._values.loop.variable}
        around = self._values.above_in_loop(call) if self._is_inside(call) else ()
        tests = [each.test for each in around if isinstance(each, cst.If)]
        asked = [node for test in tests for node in (test, *self._draft.below(test))]
        return any(isinstance(node, cst.Name) and node.value in bound for node in asked)

    def _is_inside(self, call: cst.Call) -> bool:
        return self._loop is not None and any(each is self._loop for each in self._draft.above(call))

    # ---- the way to it

    def _is_unasked(self, node: cst.CSTNode, depth: int = 4) -> bool:
        """Whether only the file itself decides that a place is reached."""
        before = node
        for each in self._draft.above(node):
            if isinstance(each, cst.If | cst.IfExp) and before is not each.test and not self._is_search(each.test):
                return False
            if isinstance(each, cst.Match | cst.While):
                return False
            if isinstance(each, cst.IndentedBlock | cst.Module) and not self._is_passed(each, before):
                return False
            if isinstance(each, cst.FunctionDef):
                calls = self._follow.calls_of(each)
                return bool(depth) and any(self._is_unasked(call, depth - 1) for call in calls)
            before = each
        return True

    def _is_passed(self, block: cst.IndentedBlock | cst.Module, statement: cst.CSTNode) -> bool:
        """Whether a block comes to a statement: `if not resume: return` may leave it before."""
        for each in block.body:
            if each is statement:
                return True
            if not isinstance(each, cst.If) or isinstance(block, cst.Module) or self._is_search(each.test):
                continue
            if any(isinstance(node, cst.Return | cst.Raise) for node in self._draft.below(each)):
                return False
        return True

    def _is_search(self, test: cst.BaseExpression) -> bool:
        """Whether a condition asks for nothing but what lies there."""
        if isinstance(test, cst.BooleanOperation):
            return self._is_search(test.left) and self._is_search(test.right)
        if isinstance(test, cst.UnaryOperation):
            return self._is_search(test.expression)
        if isinstance(test, cst.NamedExpr):
            return self._is_search(test.value)
        if isinstance(test, cst.Comparison):
            target = test.comparisons[0]
            if isinstance(target.operator, cst.In | cst.NotIn):
                return isinstance(test.left, cst.SimpleString)  # "epoch" in checkpoint
            is_constant = isinstance(target.comparator, cst.Integer) or self._draft.source(target.comparator) in (
                "None", '""', "''",
            )  # fmt: skip
            is_start = tail(test.left) == "__name__" and inner(target.comparator) == "__main__"
            return is_start or (is_constant and self._is_search(test.left))
        if isinstance(test, cst.Call):
            first = positional(test, 0)
            if tail(test.func) in _MEASURES and first is not None:
                return self._is_search(first)
            return bool(_FOUND.fullmatch(tail(test.func)))
        if isinstance(test, cst.Name | cst.Attribute):
            if tail(test) in ("True", "latest_checkpoint") or self._is_on(test):
                return True
            values = [value for _, value in self._follow.bindings(test)] or self._follow.given(test)
            some = [value for value in values if tail(value) != "None"]
            return bool(some) and all(self._is_surely_there(value) for value in some)
        return False

    def _is_surely_there(self, value: cst.BaseExpression) -> bool:
        """The name of a file, what a search has found, or what was made of these."""
        if isinstance(value, cst.SimpleString):
            return bool(inner(value))
        if isinstance(value, cst.Call):
            return tail(value.func) in ("join", "Path") or self._is_search(value)
        return tail(value) == "True"

    # ---- what is loaded

    def _restored(self) -> Iterator[str]:
        """Names of what has its state loaded unasked, as the loop's function calls them."""
        for call in self._draft.calls():
            owners: list[cst.BaseExpression] = []
            if tail(call.func) in _RESTORES and self._is_unasked(call):
                first = positional(call, 0)
                if tail(call.func) == "load_param_into_net" and first is not None:
                    owners = [first]
                elif isinstance(call.func, cst.Attribute):
                    owners = [call.func.value]
            elif tail(call.func) == "Checkpoint":
                owners = [arg.value for arg in call.args if arg.keyword is not None]
            for owner in owners:
                yield from self._called_outside(owner)

    def _called_outside(self, owner: cst.BaseExpression, depth: int = 3) -> Iterator[str]:
        name = dotted(owner).removesuffix(".module")
        scope = self._draft.scope(owner)
        yield name
        if isinstance(scope, cst.FunctionDef) and isinstance(owner, cst.Name) and name in parameters(scope) and depth:
            for value in self._follow.given(owner):
                yield from self._called_outside(value, depth - 1)

    def _is_bound_anew(self, name: str) -> bool:
        """Whether a name is given something of what was loaded."""
        assert self._values is not None
        for each in self._follow.assigns:
            is_here = "." in name or self._draft.scope(each) is self._values.scope
            if not is_here or name not in set(_targets(each)) or not self._is_unasked(each):
                continue
            if any(self._loads(node) for node in self._follow.sources(each.value)):
                return True
        return False


def _targets(assign: cst.Assign) -> Iterator[str]:
    for target in assign.targets:
        parts = target.target.elements if isinstance(target.target, cst.Tuple | cst.List) else ()
        yield from (dotted(part.value) for part in parts) if parts else (dotted(target.target),)


def _is_same(loaded: str, saved: str) -> bool:
    """Whether two paths can be one file; a path of which nothing is known is none."""
    one, other = (re.sub(r"(?:^|(?<=/))\./|/+$", "", text) for text in (loaded, saved))
    if not one.strip("*/<>") or not other.strip("*/<>"):
        return False
    return fnmatch.fnmatchcase(one, _literal(other)) or fnmatch.fnmatchcase(other, _literal(one))


def _literal(text: str) -> str:
    return text.replace("[", "[[]")
