"""Names that a start makes of the clock: `best = f"runs/{stamp}/best.pt"`, where `stamp = time.strftime("%m%d-%H%M")`.

The next stint would look for the best weights under a name of its own, and leave its curves in another folder. So the
first one's name holds for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft, Scope
from outlast.adapt.elsewhere import function_elsewhere
from outlast.adapt.resuming.begun import added_paths, mode_of, path_of
from outlast.adapt.resuming.clocks import Bound, has_clock, is_clock, is_stamp
from outlast.adapt.resuming.firsts import saved_path
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.outputs import drawn_path, made_path
from outlast.adapt.resuming.scopes import is_method, parameters
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.adapt.wrapping import add_argument
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, dotted, keyword_or_place, positional, tail

#: what makes a folder, or leaves files of its own in one: nothing is lost where it is the same one again
_MAKES = frozenset({"os.makedirs", "os.mkdir"})
_WRITERS = frozenset({"SummaryWriter", "FileWriter", "CSVLogger", "TensorBoardLogger", "create_file_writer"})
#: (keyword, place) of what Keras and MindSpore save to
_SAVES = {"save_weights": ("filepath", 0), "save_checkpoint": ("ckpt_file_name", 1)}
#: (keyword, place) of what callbacks of Keras and Estimators of TensorFlow write to
_TAKERS = {
    "ModelCheckpoint": ("filepath", 0), "CSVLogger": ("filename", 0), "Estimator": ("model_dir", 1),
    "RunConfig": ("model_dir", 0), "TensorBoard": ("log_dir", 0),
}  # fmt: skip
_DEPTH = 4


def find_stamps(draft: Draft, values: Values) -> list[cst.CSTNode]:
    """Texts of the time in the paths that a loop saves to, which are made before it and once in each start.

    Those of other results as well, unless each start begins a file anew that may lie there.
    """
    inside = draft.calls(values.loop.node)
    paths = [path for call in inside if (path := _saved(draft, call) or drawn_path(draft, call)) is not None]
    paths += added_paths(draft, values.loop.node)
    if not begins_files(draft, values):
        paths += result_paths(draft)
    return _in_paths(draft, values, paths)


def find_given_stamps(draft: Draft, at: cst.CSTNode) -> list[cst.CSTNode]:
    """The same in the places that callbacks of Keras, or an Estimator, go on writing to; `at` trains."""
    here = draft.scope(at)
    paths = [
        path
        for call in draft.calls()
        if tail(call.func) in _TAKERS and draft.scope(call) in (here, draft.module)
        and (path := keyword_or_place(call, *_TAKERS[tail(call.func)])) is not None
    ]  # fmt: skip
    calls = [call for call in draft.calls() if draft.scope(call) in (here, draft.module)]
    paths += [arg.value for call in calls if _makes_takers(draft, call) for arg in call.args]
    found = {
        id(node): node
        for path in paths
        for node in stamps_of(draft, path)
        if draft.scope(node) is draft.module or (draft.scope(node) is here and draft.start(node) < draft.start(at))
    }
    return sorted(found.values(), key=draft.start)


def _makes_takers(draft: Draft, call: cst.Call) -> bool:
    """Whether a function of the program makes what goes on writing: `callbacks = make_callbacks(folder, name)`."""
    own = next((each for each in draft.functions() if each.name.value == tail(call.func)), None)
    home, function = (draft, own) if own is not None else function_elsewhere(draft, call) or (draft, None)
    return function is not None and any(tail(each.func) in _TAKERS for each in home.calls(function.body))


def say_stamps(draft: Draft, values: Values, kept: Sequence[cst.CSTNode]) -> None:
    """Name those that stay: each stint has one of its own."""
    for stamp in _in_paths(draft, values, result_paths(draft)):
        if not any(stamp is each for each in kept):
            said = f"{_shown(draft, stamp)} is another one in each start: each stint has a place of its own"
            draft.say(Kind.DIFFERS, RULE, stamp, said, "give them a name that stays the same")
    for other in draft.others:
        _say_folders(other, kept)


def _say_folders(draft: Draft, kept: Sequence[cst.CSTNode]) -> None:
    """`LossHistory(folder)` of another file, which makes a folder of its own there."""
    calls = [
        call for call in draft.calls() if isinstance(draft.scope(call), cst.FunctionDef) and draft.is_reached(call)
    ]
    paths = [path for call in calls if (path := _folder(draft, call)) is not None]
    paths += _returned_paths(draft)
    stamps = {id(stamp): stamp for path in paths for stamp in stamps_of(draft, path)}
    for stamp in (each for each in stamps.values() if not any(each is one for one in kept)):
        said = f"{_shown(draft, stamp)} is another one in each start: each stint has a place of its own"
        draft.say(Kind.DIFFERS, RULE, stamp, said, "give it a name that stays the same")


def _returned_paths(draft: Draft) -> list[cst.BaseExpression]:
    """What functions give back that are run and put a path together: `return os.path.join(root, now)`."""
    returned = [
        node.value for node in draft.nodes
        if isinstance(node, cst.Return) and node.value is not None and draft.is_reached(node)
    ]  # fmt: skip
    return [
        value for value in returned
        if any(
            draft.resolve(call.func) == "os.path.join"
            for part in reached(draft, value) for call in (part, *draft.below(part)) if isinstance(call, cst.Call)
        )
    ]  # fmt: skip


def keep_stamps(
    draft: Draft, stamps: Sequence[cst.CSTNode], scope: cst.CSTNode, value: str, file: str = "resume"
) -> None:
    """Let all stints have the first one's. `value`: the contract's output folder, as the loop in `scope` reads it."""
    for at, stamp in enumerate(stamps):
        folder = f"{ENVIRON} or {value}" if value and is_readable(draft, value, stamp, scope) else ENVIRON
        (helper,) = draft.once("stamps", lambda: _add_helper(draft))
        rest = f'{folder}, "{file}{at or ""}.name")'
        if isinstance(stamp, cst.FormattedStringExpression):
            # Before Python 3.12 no quotes of its own kind may stand in a text.
            name = draft.free("first_stamp")
            draft.add_before(draft.statement(stamp), [f"{name} = {helper}({_text(draft, stamp)}, {rest}"])
            draft.replace(stamp, f"{{{name}}}")
        else:
            draft.enclose(stamp, f"{helper}(", f", {rest}")
        said = f"{_shown(draft, stamp)} is another one in each start: all stints have the first one's"
        draft.say(Kind.CHANGED, RULE, stamp, said)
    if stamps and not value:
        _let_exist(draft, stamps)


def is_readable(draft: Draft, value: str, at: cst.CSTNode, scope: cst.CSTNode) -> bool:
    """Whether the output folder has the name there that it has in the loop's function, and is known already."""
    if not value or value.startswith(("contract", "os.environ")) or draft.scope(at) is scope:
        return True
    # Elsewhere that folder may have another name; one that is the module's is the same everywhere.
    return _is_of_module(draft, value.partition(".")[0], at, scope)


def _let_exist(draft: Draft, stamps: Sequence[cst.CSTNode]) -> None:
    """A folder that gets the first stint's name is there in the next one; by hand it is a new one as before."""
    for call in draft.calls():
        is_bare = draft.resolve(call.func) in _MAKES and len(call.args) == 1 and isinstance(call.func, cst.Attribute)
        of_path = made_path(draft, call) if argument(call, "exist_ok") is None else None
        path = positional(call, 0) if is_bare else of_path
        if path is None or is_asked_for(draft, call):
            continue
        if not any(stamp is each for stamp in stamps for each in stamps_of(draft, path)):
            continue
        if of_path is not None:
            add_argument(draft, call, f"exist_ok=bool({ENVIRON})")
        elif isinstance(call.func, cst.Attribute):
            draft.replace(call.func.attr, "makedirs")
            draft.insert(draft.span(path)[1], f", exist_ok=bool({ENVIRON})")


def makes_anew(draft: Draft) -> bool:
    """Whether a file makes a folder without asking whether it is there: a second time that fails."""
    calls = (call for call in draft.calls() if draft.resolve(call.func) in _MAKES and len(call.args) == 1)
    return any(not is_asked_for(draft, call) for call in calls)


def is_asked_for(draft: Draft, call: cst.Call) -> bool:
    """Whether a folder is made only where it is not there."""
    around = [each for each in draft.above(call) if isinstance(each, cst.If | cst.Try)]
    return any(isinstance(each, cst.Try) or "exists" in draft.source(each.test) for each in around)


def _is_of_module(draft: Draft, name: str, stamp: cst.CSTNode, scope: cst.CSTNode) -> bool:
    """Whether a name that the loop's function reads is the module's, and bound before a stamp of the module."""
    function = scope if isinstance(scope, cst.FunctionDef) else None
    hidden = set(parameters(function)) if function is not None else set()
    lines = [
        node for node in draft.nodes
        if isinstance(node, cst.Assign) and any(dotted(each.target) == name for each in node.targets)
    ]  # fmt: skip
    is_module = bool(lines) and all(draft.scope(node) is draft.module for node in lines) and name not in hidden
    is_before = any(draft.start(node) < draft.start(stamp) for node in lines)
    return is_module and is_before and draft.scope(stamp) is draft.module


def _shown(draft: Draft, stamp: cst.CSTNode) -> str:
    return draft.source(stamp.expression if isinstance(stamp, cst.FormattedStringExpression) else stamp)


def _text(draft: Draft, stamp: cst.FormattedStringExpression) -> str:
    """What a text is filled with, as an expression of its own."""
    source = draft.source(stamp.expression)
    spec = "".join(draft.source(part) for part in stamp.format_spec or ())
    return f'format({source}, "{spec}")' if spec else f"str({source})"


def _add_helper(draft: Draft) -> tuple[str]:
    name = draft.free("first_name")
    draft.need_import("os")
    draft.add_on_top([
        f"def {name}(name, folder, file):",
        '    """What the first stint made of the clock, so that the next ones find its results."""',
        "    path = os.path.join(folder, file) if folder else None",
        "    if path and not os.path.exists(path):",
        "        os.makedirs(folder, exist_ok=True)",
        '        with open(path + ".part", "w") as part:',
        "            part.write(name)",
        '        os.replace(path + ".part", path)',
        "    return open(path).read() if path else name",
    ])  # fmt: skip
    return (name,)


def begins_files(draft: Draft, values: Values) -> bool:
    """Whether a start empties files that its rounds write to: in a folder of its own it has its own."""
    inside = {id(call) for call in draft.calls(values.loop.node)}
    calls = [(each, call) for each in (draft, *draft.others) for call in each.calls()]
    added = {
        each.source(path) for each, call in calls if mode_of(each, call)[:1] == "a" and (path := path_of(each, call))
    }
    return any(
        mode_of(each, call).startswith("w") and id(call) not in inside
        and (not _is_whole(each, call, values) or each.source(path_of(each, call) or call) in added)
        for each, call in calls
    )  # fmt: skip


def _is_whole(draft: Draft, call: cst.Call, values: Values) -> bool:
    """Whether a file is written in one go (settings, a table at the end): there it is the same, or its last state."""
    around = draft.parent(call)
    if isinstance(around, cst.WithItem):
        return not any(each is draft.parent(around) for each in draft.above(values.loop.node))
    return isinstance(around, cst.Arg | cst.Attribute) or tail(call.func) != "open"


def result_paths(draft: Draft) -> list[cst.BaseExpression]:
    """Folders of results that are made or written to, and files that are saved."""
    return [path for call in draft.calls() if (path := _folder(draft, call)) is not None]


def _saved(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """Where weights are saved to."""
    is_known = tail(call.func) in _SAVES and "torch" not in draft.names.roots
    return keyword_or_place(call, *_SAVES[tail(call.func)]) if is_known else saved_path(draft, call)


def _folder(draft: Draft, call: cst.Call) -> cst.BaseExpression | None:
    """A folder of results, or a file that is saved."""
    if (path := _saved(draft, call) or made_path(draft, call) or drawn_path(draft, call)) is not None:
        return path
    if tail(call.func) in _WRITERS:
        named = next((found for each in ("log_dir", "logdir", "save_dir") if (found := argument(call, each))), None)
        return named.value if named is not None else positional(call, 0)
    return positional(call, 0) if draft.resolve(call.func) in _MAKES else None


def _in_paths(draft: Draft, values: Values, paths: Sequence[cst.BaseExpression]) -> list[cst.CSTNode]:
    """Stamps that paths are made of, which a start makes once and before its rounds."""
    found: dict[int, cst.CSTNode] = {}
    for path in paths:
        for node in stamps_of(draft, path, values):
            if is_made_before(draft, node, values):
                found[id(node)] = node
    return sorted(found.values(), key=draft.start)


def is_made_before(draft: Draft, node: cst.CSTNode, values: Values) -> bool:
    """Whether a start makes something once, and before its rounds."""
    # A function that leads to the loop's may stand behind it in the file.
    is_before = draft.scope(node) is not values.scope or draft.start(node) < draft.start(values.loop.top)
    return is_before and _is_once(draft, node, values)


def stamps_of(draft: Draft, path: cst.BaseExpression, values: Values | None = None) -> Iterator[cst.CSTNode]:
    """Every stamp that a path is made of."""
    found: dict[int, Bound] = {}
    for value in reached(draft, path, values):
        scope = draft.scope(value)
        if id(scope) not in found:
            found[id(scope)] = _bound(draft, scope)
        yield from _outermost(draft, value, found[id(scope)])


def reached(draft: Draft, path: cst.BaseExpression, values: Values | None = None) -> Iterator[cst.BaseExpression]:
    """Everything that a path is made of, through names, fields and parameters."""
    waiting: list[tuple[cst.BaseExpression, int]] = [(path, _DEPTH)]
    seen: set[tuple[str, int]] = set()
    found: dict[int, Bound] = {}
    while waiting:
        value, depth = waiting.pop()
        scope = draft.scope(value)
        if id(scope) not in found:
            found[id(scope)] = _bound(draft, scope)
        bound = found[id(scope)]
        yield value
        for name in names_in(draft, value):
            # What a round binds has a name of its own in each.
            is_own = values is not None and scope is values.scope and name in values.bound
            if (name, id(scope)) not in seen and not is_own and depth:
                seen.add((name, id(scope)))
                waiting += [(each, depth - 1) for each in (*bound.get(name, ()), *_handed_in(draft, scope, name))]


def _is_once(draft: Draft, node: cst.CSTNode, values: Values) -> bool:
    """Whether a start makes it once: in the module, in the function of the loop, or in one that leads there."""
    if any(isinstance(each, cst.For | cst.While | cst.Lambda) for each in draft.above(node)):
        return False
    scope = draft.scope(node)
    if scope is values.scope or scope is draft.module:
        return True
    return isinstance(scope, cst.FunctionDef) and not is_method(draft, scope) and _leads(draft, scope, values)


def _leads(draft: Draft, function: cst.FunctionDef, values: Values) -> bool:
    """Whether a function calls the one of the loop, and is called once itself."""
    name = values.scope.name.value if isinstance(values.scope, cst.FunctionDef) else ""
    calls = [call for call in draft.calls() if tail(call.func) == function.name.value]
    return len(calls) < 2 and any(tail(call.func) == name for call in draft.calls(function))


def _handed_in(draft: Draft, scope: Scope, name: str) -> Iterator[cst.BaseExpression]:
    """What the one call of a function gives for a parameter."""
    if not isinstance(scope, cst.FunctionDef) or name not in parameters(scope):
        return
    calls = [call for call in draft.calls() if tail(call.func) == scope.name.value]
    if len(calls) == 1:
        named = argument(calls[0], name)
        given = named.value if named else positional(calls[0], parameters(scope).index(name) - is_method(draft, scope))
        if given is not None:
            yield given


def names_in(draft: Draft, value: cst.CSTNode) -> set[str]:
    """Names and fields that a value is made of: `stamp`, `args.out`."""
    return {dotted(each) for each in (value, *draft.below(value)) if isinstance(each, cst.Name | cst.Attribute)} - {""}


def _bound(draft: Draft, scope: Scope) -> Bound:
    """What the names of a function are bound to, and those of the module that it does not hide."""
    found: Bound = {}
    for place in dict.fromkeys((scope, draft.module)):
        own: Bound = {}
        for node in draft.all_assigns:
            if draft.scope(node) is place:
                for target in node.targets:
                    if name := dotted(target.target):
                        own.setdefault(name, []).append(node.value)
        found = {**own, **found}
    return found


def _outermost(draft: Draft, node: cst.CSTNode, bound: Bound) -> Iterator[cst.CSTNode]:
    if isinstance(node, cst.FormattedStringExpression):
        expression, spec = node.expression, node.format_spec or ()
        is_plain = node.conversion is None and all(isinstance(part, cst.FormattedStringText) for part in spec)
        is_whole = isinstance(expression, cst.Name | cst.Attribute) and is_clock(draft, expression, bound)
        if is_plain and (has_clock(draft, expression) or is_whole):
            yield node
            return
    if isinstance(node, cst.Call) and is_stamp(draft, node, bound):
        yield node
        return
    for each in node.children:
        yield from _outermost(draft, each, bound)
