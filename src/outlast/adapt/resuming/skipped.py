"""Questions for a file that keep a script from training: `if os.path.exists(best): load(best)`, `else:` the loop.

Where the rounds of the loop save that very file, it is there after a stop too, and nothing would go on. So in a stint
the answer is no: a training that is done passes its rounds at once anyway. Nor does a stint begin with what such a file
holds (`if os.path.exists(net): load(net)` in front of the loop): the checkpoint has it, or the first round comes again,
and a stop while it was written has left a part of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.following import Following
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.state import ENVIRON, RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import positional, tail

_ASKS = frozenset({"exists", "isfile", "lexists", "is_file"})
#: functions and methods that fill a model with what was saved
_LOADS = re.compile(r"load_(?:state_dict|weights|checkpoint|model|param_into_net|params?)|restore\w*|resume\w*")
_ENDS = frozenset({"exit", "_exit", "quit"})


def go_on_training(draft: Draft, values: Values, value: str) -> None:
    """Let questions that would skip the loop answer no where a checkpoint has a place: a stint's, or `value`."""
    place = f"({ENVIRON} or {value})" if value else ENVIRON
    skipping = [call for call in _skipping(draft, values) if _is_of_rounds(draft, values, call)]
    for call in skipping:
        _answer_no(draft, call, place, "does not skip the training in a stint: its own rounds save that file")
    # Without a folder of the contract the file lies where it did, and may be one from before all stints.
    for call in _loading(draft, values) if value else ():
        if call not in skipping and _is_of_rounds(draft, values, call):
            _answer_no(
                draft, call, value, "loads nothing where results go to the contract: its own rounds save that file"
            )


def _answer_no(draft: Draft, call: cst.Call, place: str, said: str) -> None:
    is_whole = isinstance(draft.parent(call), cst.If)
    draft.enclose(call, f"{'' if is_whole else '('}not {place} and ", "" if is_whole else ")")
    draft.say(Kind.CHANGED, RULE, call, f"{draft.source(call)} {said}")


def _is_of_rounds(draft: Draft, values: Values, question: cst.Call) -> bool:
    """Whether a question is about a file that the rounds of the loop save."""
    asked = _path(question)
    return asked is not None and bool(_texts(draft, values, asked) & _saved(draft, values))


def _skipping(draft: Draft, values: Values) -> Iterator[cst.Call]:
    """Questions of which the answer yes leads past the loop."""
    before: cst.CSTNode = values.loop.node
    for each in draft.above(values.loop.node):
        if isinstance(each, cst.If):
            yield from _asking(draft, each.test, is_skipped=before is not each.body)
        if isinstance(each, cst.IndentedBlock | cst.Module):
            for line in each.body[: next(at for at, one in enumerate(each.body) if one is before)]:
                if isinstance(line, cst.If) and _leaves(draft, line.body):
                    yield from _asking(draft, line.test, is_skipped=True)
        if each is values.scope:
            return
        before = each


def _loading(draft: Draft, values: Values) -> Iterator[cst.Call]:
    """Questions in front of the loop, and of the calls that lead to it, of which the answer yes loads something.

    A script that is told to by an option asks for that first: its flag works as before.
    """
    calls = Following(draft, None).calls_of(values.scope) if isinstance(values.scope, cst.FunctionDef) else []
    for at in (values.loop.node, *calls):
        before: cst.CSTNode = at
        for each in draft.above(at):
            if isinstance(each, cst.IndentedBlock | cst.Module):
                for line in each.body[: next(at for at, one in enumerate(each.body) if one is before)]:
                    yield from _loading_by(draft, line) if isinstance(line, cst.If) else ()
            if isinstance(each, cst.FunctionDef):
                break
            before = each


def _loading_by(draft: Draft, line: cst.If) -> Iterator[cst.Call]:
    """The question of `if os.path.exists(net): load(net)`, or of `if not …: … else: load(net)`."""
    is_not = isinstance(line.test, cst.UnaryOperation) and isinstance(line.test.operator, cst.Not)
    call = line.test.expression if is_not and isinstance(line.test, cst.UnaryOperation) else line.test
    branch = line.orelse if is_not else line.body
    loads = branch is not None and any(_LOADS.fullmatch(tail(each.func)) for each in draft.calls(branch))
    if loads and isinstance(call, cst.Call) and tail(call.func) in _ASKS:
        yield call


def _asking(draft: Draft, test: cst.BaseExpression, *, is_skipped: bool) -> Iterator[cst.Call]:
    """Questions in a condition, where yes makes it what skips the loop."""
    for node in (test, *draft.below(test)):
        if isinstance(node, cst.Call) and tail(node.func) in _ASKS and draft.scope(node) is draft.scope(test):
            negations = 0
            for each in draft.above(node):
                if each is draft.parent(test):
                    break
                negations += isinstance(each, cst.UnaryOperation) and isinstance(each.operator, cst.Not)
            if (negations % 2 == 0) is is_skipped:
                yield node


def _leaves(draft: Draft, block: cst.BaseSuite) -> bool:
    """Whether nothing behind a branch is run after it."""
    last = block.body[-1] if block.body else None
    part = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    call = part.value if isinstance(part, cst.Expr) else None
    return isinstance(part, cst.Return) or (isinstance(call, cst.Call) and tail(call.func) in _ENDS)


def _path(call: cst.Call) -> cst.BaseExpression | None:
    """The file that a question is about: `os.path.isfile(best)`, `best.exists()`."""
    if call.args:
        return positional(call, 0)
    return call.func.value if isinstance(call.func, cst.Attribute) else None


def _saved(draft: Draft, values: Values) -> set[str]:
    """Paths that the rounds save to."""
    blocks = [values.loop.node.body, *(function.body for function in values.run_functions())]
    saves = (call for block in blocks for call in draft.calls(block) if _saves(call))
    return {text for call in saves for arg in call.args for text in _texts(draft, values, arg.value)}


def _saves(call: cst.Call) -> bool:
    name = tail(call.func).lower()
    return "save" in name or name == "dump"


def _texts(draft: Draft, values: Values, path: cst.BaseExpression) -> set[str]:
    """How a path is written in the loop's function, and what is known of its text."""
    spelled = Following(draft, values.loop.node).spelled(path)
    found = {text for text in spelled if "*" not in text}  # the same text, but not only the same kind of text
    if isinstance(path, cst.Name | cst.Attribute | cst.Call) and draft.scope(path) is values.scope:
        found.add("".join(draft.source(path).split()))  # however its lines are broken
    return found
