"""Putting the lines of a training's state around its loop."""

from __future__ import annotations

import dataclasses

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.cells import are_spread
from outlast.adapt.resuming.counted import count, find_counted
from outlast.adapt.resuming.counters import is_plain_read
from outlast.adapt.resuming.dealt import deal, find_dealt
from outlast.adapt.resuming.firsts import find_firsts
from outlast.adapt.resuming.loops import Values
from outlast.adapt.resuming.own_tables import find_tables, keep_tables
from outlast.adapt.resuming.pace import clock, is_quick, paced
from outlast.adapt.resuming.parameters import mindspore_lines
from outlast.adapt.resuming.ranks import may_be_several
from outlast.adapt.resuming.renewed import changes_counter, is_due_next
from outlast.adapt.resuming.skipped import go_on_training
from outlast.adapt.resuming.state import RULE, Names, State, place_lines, plain_lines, torch_lines
from outlast.adapt.resuming.tensors import session_lines, tensorflow_lines, tensorflow_places
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, positional

_LINES = {
    "torch": torch_lines,
    "plain": plain_lines,
    "session": session_lines,
    "tensorflow": tensorflow_lines,
    "mindspore": mindspore_lines,
}


_FILES = {"torch": "resume.pt", "plain": "resume.pkl", "mindspore": "resume.pkl"}

#: of more places than these, the lines would be most of the loop
_FEW = 2


def inject(
    draft: Draft, values: Values, state: State, value: str, *, file: str = "resume", repeats: bool = False
) -> None:
    """Make a loop go on from its last whole checkpoint and leave one after each round."""
    names = dataclasses.replace(Names.choose(draft, values.loop.variable), file=file)
    if repeats:
        # A training that is done goes through its loop no more, and what follows comes out as before.
        names = dataclasses.replace(names, count=draft.free("training_count"))
        draft.need_import("itertools")
        draft.add_on_top([f"{names.count} = itertools.count()"])
    if (state.kind == "torch" and may_be_several(draft)) or (state.kind == "mindspore" and are_spread(draft)):
        names = dataclasses.replace(names, here=draft.free("saves_here"))
    draft.need_import("os")
    if state.kind == "torch":
        deal(draft, [*(call for each in find_dealt(draft, values) for call in each.made), *state.dealt_by(draft)])
    if state.kind in ("torch", "tensorflow"):
        count(draft, find_counted(draft, values))
    if changes_counter(values):
        _hold_number(draft, values)
    before, after = _LINES[state.kind](draft, values, state, names, value)
    loop = values.loop
    when = [names.folder, *([names.here] if names.here else [])]
    quick = is_quick(draft, values, state.kind, state.steps)
    anew = is_due_next(draft, values)
    end = _end(draft, values) if quick or anew or values.outliving else ""
    last = _is_last(draft, values, end)
    if values.outliving and last:
        when.append(last[0])
    is_due = anew
    if quick:
        due, now = draft.free("resume_due"), clock(draft)
        before.append(f"{due} = {now}")
        is_due = " and ".join(each for each in (anew, f"{now} >= {due}") if each)
        after = paced(after, due, now)
    if quick or anew:
        # A training that is done stays done, however soon after its last checkpoint.
        when.append(f"({is_due} or {last[1]})" if last and not values.outliving else is_due)
    if end and loop.stop is not None:
        before.append(f"{end} = {draft.source(loop.stop)}")
    places = _places(state.kind, names, value)
    if places:
        # It is asked for earlier where something before the loop must know of it.
        if find_firsts(draft, values, state.logs).put(names, places):
            before = [line for line in before if line not in places]
        if not names.count and names.file == "resume":
            keep_tables(draft, find_tables(draft, values), names, places, value)
    draft.add_before(loop.top, before)
    go_on_training(draft, values, value)
    if loop.is_apart and isinstance(loop.node, cst.For):
        start = f" - ({draft.source(loop.first)})" if loop.first is not None else ""
        draft.need_import("itertools")
        draft.replace(loop.node.iter, f"itertools.islice({draft.source(loop.node.iter)}, {names.first}{start}, None)")
    elif loop.first is not None:
        draft.replace(loop.first, names.first)
        if end and loop.stop is not None:
            draft.replace(loop.stop, end)
    elif end and loop.stop is not None:
        draft.replace(loop.stop, f"{names.first}, {end}")
    elif loop.counter is not None:
        at = draft.start(loop.counter.args[0]) if loop.counter.args else draft.span(loop.counter)[1] - 1
        draft.insert(at, f"{names.first}, " if loop.counter.args else names.first)
    if loop.numbered is not None:
        _number_on(draft, loop.numbered, loop.first, names.first)
    save = [f"if {' and '.join(when)}:", *("    " + line for line in after)]
    draft.add_at_end(loop.node.body, save)
    _save_early(draft, loop.node, save)
    kept = [name for name in state.kept if name != loop.variable]
    loaded = state.loaded if state.kind != "session" else ()
    what = ", ".join([*loaded, *(name for name, _ in state.groups), *state.tensors, *state.generators, *kept])
    draft.say(
        Kind.CHANGED,
        RULE,
        loop.node,
        f"goes on from its last checkpoint ({loop.variable}{', ' + what if what else ''})",
    )


def _hold_number(draft: Draft, values: Values) -> None:
    """Note the number of a round where it begins, as the round changes the variable that had it."""
    held = draft.free(f"this_{values.loop.variable}")
    draft.add_before(values.loop.node.body.body[0], [f"{held} = {values.loop.variable}"])
    values.loop = dataclasses.replace(values.loop, held=held)


def _number_on(draft: Draft, numbered: cst.Call, first: cst.BaseExpression | None, here: str) -> None:
    """`enumerate(range(1, N + 1))` numbers on: behind its start by the rounds from the first one to this."""
    done = here if first is None else f"{here} - {_closed(draft, first)}"
    keyword = argument(numbered, "start")
    start = keyword.value if keyword is not None else positional(numbered, 1)
    if start is None:
        draft.insert(draft.span(numbered)[1] - 1, f", {done}")
    else:
        draft.replace(start, f"{_closed(draft, start)} + {done}")


def _closed(draft: Draft, node: cst.BaseExpression) -> str:
    source = draft.source(node)
    return source if isinstance(node, cst.Name | cst.Attribute | cst.Integer) else f"({source})"


def _places(kind: str, names: Names, value: str) -> list[str]:
    """The lines that say where the checkpoint lies, and which file tells that there is one."""
    if kind == "tensorflow":
        return tensorflow_places(names, value) if not names.count else []
    return place_lines(names, value, _FILES[kind]) if kind in _FILES else []


def _save_early(draft: Draft, loop: cst.For | cst.While, save: list[str]) -> None:
    """Save also where `continue` ends a round; where there are many such places, they are told."""
    ends = [
        node for node in draft.below(loop.body)
        if isinstance(node, cst.Continue)
        and next(each for each in draft.above(node) if isinstance(each, cst.For | cst.While)) is loop
    ]  # fmt: skip
    for node in ends:
        statement = draft.statement(node)
        is_alone = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
        if is_alone and len(ends) <= _FEW:
            draft.add_before(statement, save)
            continue
        said = "a round that this line ends leaves no checkpoint: after a stop it is run again"
        draft.say(Kind.DIFFERS, RULE, node, said, "put the rest of the round behind else: instead")


def is_steady(draft: Draft, values: Values) -> bool:
    """Whether the end of a loop can be asked for in each round, and is always the same."""
    stop = values.loop.stop
    if stop is None:
        return True
    names = {each.value for each in (stop, *draft.below(stop)) if isinstance(each, cst.Name)}
    return is_plain_read(draft, stop) and not names & values.changed


def _end(draft: Draft, values: Values) -> str:
    """Where a loop ends, or a name for that where it is computed: it is computed once."""
    loop = values.loop
    if loop.stop is None or loop.is_apart or is_steady(draft, values):
        return ""
    return draft.free(f"{loop.variable.strip('_') or 'round'}_end")


def _is_last(draft: Draft, values: Values, end: str) -> tuple[str, str] | None:
    """Expressions for "another round follows" and "this was the last one", at the end of a round."""
    loop = values.loop
    if isinstance(loop.node, cst.While) and not loop.is_endless:
        test = draft.source(loop.node.test)
        return f"({test})", f"not ({test})"
    if loop.stop is None:
        return None
    stop = end or draft.source(loop.stop)
    if loop.stride is not None and not isinstance(loop.stride, cst.Integer):
        # It may count downwards.
        rest = f"len(range({loop.number}, {stop}, {draft.source(loop.stride)}))"
        return f"{rest} > 1", f"{rest} <= 1"
    stride = draft.source(loop.stride) if loop.stride is not None else "1"
    return f"{loop.number} + {stride} < {stop}", f"{loop.number} + {stride} >= {stop}"
