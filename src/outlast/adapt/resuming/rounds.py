"""How often a training runs in one start of a script: a checkpoint under one name serves exactly one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.arguments.namespaces import called_name
from outlast.adapt.draft import Draft, Scope
from outlast.adapt.needs import PASSED
from outlast.adapt.resuming.parts import parts_of
from outlast.adapt.resuming.ranks import are_several
from outlast.adapt.resuming.refusal import Refusal
from outlast.adapt.whole import roots_of
from outlast.migrate.tree import argument, dotted, tail

#: Libraries that choose the next training by what came out of those before.
_SEARCHES = frozenset("optuna hyperopt ray skopt nni ax bayes_opt keras_tuner kerastuner nevergrad deap".split())
_OF_PATHS = frozenset({"os", "path", "join", "environ", "get", "args", "opt"})
_REPEATS = (cst.For, cst.While, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


def refuse_repeated(draft: Draft, node: cst.CSTNode) -> None:
    """A second training (the next fold, the next seed) would find the checkpoint of the first and stop at once."""
    again = repeated_at(draft, node)
    if again is not None:
        said = f"the training is done more than once (again in line {draft.line(again)}), with one checkpoint for all"
        raise Refusal(said, node, "start each one as a run of its own, or save by hand: outlast.save")


def refuse_shared_file(draft: Draft, loop: cst.CSTNode) -> None:
    """Trainings that load one file behind their loops: for one that is passed, it is that of a later one."""
    saved = {
        _fixed(draft, arg.value) for call in draft.calls(loop) if "save" in tail(call.func) for arg in call.args
    } - {""}  # fmt: skip
    end = draft.span(loop)[1]
    for call in draft.calls(draft.scope(loop)):
        is_behind = draft.start(call) > end and "load" in tail(call.func)
        if is_behind and any(_fixed(draft, arg.value) in saved for arg in call.args):
            said = "each training loads a file behind its loop that the next one writes anew"
            raise Refusal(said, call, "give the file the number of the training")


def _fixed(draft: Draft, path: cst.CSTNode) -> str:
    """How a path is spelled that is the same in each training, also below the folder of a contract."""
    parts = [path, *draft.below(path)]
    names = {part.value for part in parts if isinstance(part, cst.Name)} - _OF_PATHS
    is_text = any(isinstance(part, cst.SimpleString) for part in parts)
    is_same = is_text and all(name in PASSED or name.startswith("contract") for name in names)
    return draft.source(path) if is_same and not isinstance(path, cst.FormattedString) else ""


def may_count(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether trainings that follow on one another can be told apart by counting them: each start has the same ones."""
    if not roots_of(draft).isdisjoint(_SEARCHES):
        return False
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if any(isinstance(each, cst.While) for each in _within(draft, at)):
            return False
        function = draft.scope(at)
        if isinstance(function, cst.FunctionDef) and id(function) not in seen:
            seen.add(id(function))
            waiting += _calls(draft, function)
    return True


def again_elsewhere(draft: Draft, node: cst.CSTNode) -> tuple[Draft, cst.CSTNode] | None:
    """The file of the program, and the place in it, that comes back to what a node does."""
    names = leading_to(draft, node)
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(node))
    for other in draft.others:
        calls = [
            call for call in other.calls() if tail(call.func) in names
            and (is_method or isinstance(call.func, cst.Name) or other.resolve(call.func))
        ]  # fmt: skip
        if not are_alternatives(other, calls):
            return other, calls[-1]
        again = next((found for call in calls if (found := repeated_at(other, call)) is not None), None)
        if again is not None:
            return other, again
    return None


def may_count_elsewhere(draft: Draft, node: cst.CSTNode) -> bool:
    """Whether such trainings can be told apart by counting, and none reads a file that the next one writes anew."""
    found = again_elsewhere(draft, node)
    names = leading_to(draft, node)
    if found is None or not isinstance(draft.scope(node), cst.FunctionDef):
        return False
    other, again = found
    calls = [call for call in other.calls() if tail(call.func) in names]
    inside = [*draft.calls(draft.scope(node)), *other.calls(other.scope(again))]
    inside += [each for call in calls for each in other.calls(other.scope(call))]
    loads = [call for call in inside if re.search(r"(?:^|_)load|restore", tail(call.func)) and call not in calls]
    start = min(other.start(call) for call in calls)
    is_read = any(draft.home(call) is draft or other.start(call) > start for call in loads)
    return not is_read and all(may_count(other, call) for call in calls) and may_count(draft, node)


def is_called(draft: Draft, scope: Scope) -> bool:
    """Whether it can be seen how often something is run: the module, or a function that this file calls by its name."""
    if not isinstance(scope, cst.FunctionDef):
        return True
    is_method = any(isinstance(each, cst.ClassDef) for each in draft.above(scope))
    return not is_method and any(True for _ in _calls(draft, scope))


def are_ways(draft: Draft, scopes: Sequence[Scope]) -> bool:
    """Whether a start runs one of several methods of a class, and once: `solver.train()` or `solver.train_both()`."""
    methods = [scope for scope in scopes if isinstance(scope, cst.FunctionDef)]
    owners = {id(owner) if (owner := _owner(draft, method)) is not None else 0 for method in methods}
    if len(methods) < len(scopes) or len(owners) > 1 or 0 in owners:
        return False
    for file in (draft, *draft.others):
        calls = [list(_calls(draft, method, file)) for method in methods]
        if not all(calls):
            if any(calls):
                return False
            continue
        called = [call for each in calls for call in each]
        return are_alternatives(file, called) and not any(repeated_at(file, call) for call in called)
    return False


def repeated_at(draft: Draft, node: cst.CSTNode) -> cst.CSTNode | None:
    """The loop, or the second call, by which what a node does is done again; None where it is done once."""
    seen: set[int] = set()
    while True:
        function = draft.scope(node)
        around = next((each for each in _within(draft, node) if isinstance(each, _REPEATS)), None)
        if around is not None:
            return around
        if not isinstance(function, cst.FunctionDef) or id(function) in seen:
            return None
        seen.add(id(function))
        calls = list(_calls(draft, function))
        if not are_alternatives(draft, calls):
            return calls[-1]
        if not calls:
            return None
        node = calls[0]


def are_alternatives(draft: Draft, nodes: Sequence[cst.CSTNode]) -> bool:
    """Whether of these places only one is ever reached."""
    return all(_is_either(draft, *pair) for pair in itertools.combinations(nodes, 2))


def _within(draft: Draft, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.FunctionDef):
            return
        # What a loop runs over is computed once, and what follows on its end is run once.
        is_once = isinstance(each, cst.For) and before in (each.iter, each.orelse)
        if not is_once and not isinstance(before, cst.CompFor):
            yield each
        before = each


def _owner(draft: Draft, function: cst.FunctionDef) -> cst.ClassDef | None:
    return next((each for each in draft.above(function) if isinstance(each, cst.ClassDef)), None)


def _calls(draft: Draft, function: cst.FunctionDef, file: Draft | None = None) -> Iterator[cst.Call]:
    """Calls of a function of this file, in it or in another. Methods are told from others of their name by what they
    are called on."""
    name = function.name.value
    owner = _owner(draft, function)
    file = file or draft
    makers = _makers(file, owner.name.value) if owner is not None else set()
    made = _instances(file, makers) if owner is not None else set()
    for call in file.calls():
        if tail(call.func) != name or file.scope(call) is function or not file.is_reached(call):
            continue
        if owner is None:
            if isinstance(call.func, cst.Name):
                yield call
        elif isinstance(call.func, cst.Attribute):
            on = call.func.value
            is_new = isinstance(on, cst.Call) and tail(on.func) in makers
            is_self = dotted(on) == "self" and any(each is owner for each in file.above(call))
            is_part = isinstance(on, cst.Subscript) and dotted(on.value) in made
            if is_new or is_self or is_part or dotted(on) in made:
                yield call


def _instances(draft: Draft, makers: set[str]) -> set[str]:
    """Names for objects of a class: what is made of it, lists and dictionaries of such, and what goes through these."""
    found: set[str] = set()
    for node in draft.nodes:
        if isinstance(node, cst.Assign):
            for target in (each.target for each in node.targets):
                whole = target.value if isinstance(target, cst.Subscript) else target
                parts = parts_of(whole, node.value, fields=True)
                found |= {each for each, part in parts.items() if part is not None and _makes(draft, part, makers)}
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            is_kept = tail(node.func) in ("append", "add", "insert")
            is_kept = is_kept and any(_makes(draft, arg.value, makers) for arg in node.args)
            found.update({dotted(node.func.value)} if is_kept else ())
    for node in draft.nodes:
        if isinstance(node, cst.For | cst.CompFor):
            through = {dotted(each) for each in (node.iter, *draft.below(node.iter))}
            if not found.isdisjoint(through - {""}):
                targets = (node.target, *draft.below(node.target))
                found |= {each.value for each in targets if isinstance(each, cst.Name)}
    return (found | set(_given(draft, found, makers))) - {""}


def _makers(draft: Draft, name: str) -> set[str]:
    """A class, and the functions of this file that give back an object of it."""
    found = {name}
    for function in draft.functions():
        returned = [node.value for node in draft.below(function) if isinstance(node, cst.Return) and node.value]
        bound = {
            tail(target.target)
            for node in draft.below(function)
            if isinstance(node, cst.Assign) and _makes(draft, node.value, {name})
            for target in node.targets
        }
        if any(
            _makes(draft, value, {name}) or (isinstance(value, cst.Name) and value.value in bound) for value in returned
        ):
            found.add(function.name.value)
    return found


def _given(draft: Draft, objects: set[str], makers: set[str]) -> Iterator[str]:
    """Parameters of functions of this file that are given such an object."""
    own = {function.name.value: function for function in draft.functions()}
    for call in draft.calls():
        function = own.get(tail(call.func))
        if function is None or function.name.value in makers:
            continue
        names = [param.name.value for param in (*function.params.params, *function.params.kwonly_params)]
        skip = names[:1] == ["self"]
        for at, arg in enumerate(call.args):
            if dotted(arg.value) in objects - {""} or _makes(draft, arg.value, makers):
                yield (
                    arg.keyword.value if arg.keyword is not None else names[at + skip] if at + skip < len(names) else ""
                )


def _makes(draft: Draft, value: cst.BaseExpression, makers: set[str]) -> bool:
    """Whether a value is a new object of a class (`Net().to(device)`), or lists some."""
    if isinstance(value, cst.Call):
        if tail(value.func) in makers:
            return True
        if isinstance(value.func, cst.Attribute) and _makes(draft, value.func.value, makers):
            return True
        return any(
            isinstance(arg.value, cst.List | cst.ListComp) and _makes(draft, arg.value, makers) for arg in value.args
        )
    listed = isinstance(value, cst.List | cst.Tuple | cst.Dict | cst.ListComp | cst.DictComp | cst.BinaryOperation)
    return listed and any(tail(call.func) in makers for call in draft.calls(value))


def leading_to(draft: Draft, node: cst.CSTNode) -> set[str]:
    """Names of the functions by which a place of a file is reached."""
    function = draft.scope(node)
    found = {called_name(draft, function)} if isinstance(function, cst.FunctionDef) else set()
    is_growing = bool(found)
    while is_growing:
        callers = {
            called_name(draft, scope)
            for call in draft.calls()
            if tail(call.func) in found and isinstance(scope := draft.scope(call), cst.FunctionDef)
        }
        is_growing = not callers <= found
        found |= callers
    return found


def started(draft: Draft) -> dict[str, cst.Call]:
    """Functions that processes or threads run, with the last call that says so: `Process(target=train)`."""
    return {
        tail(named.value): call
        for call in draft.calls()
        if tail(call.func) in ("Process", "Thread") and (named := argument(call, "target")) is not None
    }


def refuse_processes(draft: Draft, node: cst.CSTNode) -> None:
    """Processes that each run the training, and belong to no group: each would write the one checkpoint."""
    names = leading_to(draft, node)
    for each in (draft, *draft.others):
        for name, call in started(each).items():
            if name in names and repeated_at(each, call) is not None and not are_several(draft):
                said = f"several processes run this training, each by {name}(), and the checkpoint is one"
                raise Refusal(said, node, "let one process train, or save by hand what each one has: outlast.save")


def _is_either(draft: Draft, one: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two places lie in different branches of one `if`, or one where the other has failed."""
    branches = {id(each): branch for each, branch in _branches(draft, one)}
    return any(branches.get(id(each), branch) is not branch for each, branch in _branches(draft, other))


def _branches(draft: Draft, node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    before = node
    for each in draft.above(node):
        if isinstance(each, cst.If) or (isinstance(each, cst.Try) and before is not each.finalbody):
            yield each, before
        before = each
