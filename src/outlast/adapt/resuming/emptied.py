"""Files that each start empties and the rounds write to: after a stop they would hold the last stint's lines alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.resuming.before import Before
from outlast.adapt.resuming.begun import mode_of
from outlast.adapt.resuming.logs import Log
from outlast.adapt.resuming.loops import targets_of
from outlast.adapt.resuming.own_tables import say_tables
from outlast.adapt.resuming.state import RULE
from outlast.migrate.engine import Kind
from outlast.migrate.tree import argument, inner, positional, tail

_ADVICE = 'open it with "a", so that each stint adds its lines'
#: what writes a log from then on, with the word for its mode
_LOGS = {"logging.FileHandler": "mode", "logging.basicConfig": "filemode"}


def say_emptied(drafts: Sequence[Draft], before: Before, logs: Sequence[Log]) -> None:
    """Name what is opened for writing before the training and written in its rounds, but for `logs` that go on."""
    going_on = {id(log.call) for log in logs}
    written = _written_in(drafts, before)
    for draft in (each for each in drafts if each is not before.training):
        say_tables(draft, before.rounds)
    for draft in drafts:
        for call in draft.calls():
            is_emptied = _empties(draft, call) and id(call) not in going_on
            handles = set(_handles(draft, call, before)) if is_emptied else set()
            if handles & written and before.has(draft, call):
                said = f"{draft.source(call)} empties the file: after a stop only what the last stint wrote is in it"
                draft.say(Kind.DIFFERS, RULE, call, said, _ADVICE)
            elif _empties_log(draft, call) and before.has(draft, call):
                said = f"{tail(call.func)} empties its file: after a stop only what the last stint logged is in it"
                draft.say(Kind.DIFFERS, RULE, call, said, _ADVICE)


def _empties(draft: Draft, call: cst.Call) -> bool:
    return mode_of(draft, call).startswith("w")


def _empties_log(draft: Draft, call: cst.Call) -> bool:
    word = _LOGS.get(draft.resolve(call.func))
    given = argument(call, word) if word else None
    mode = given.value if given is not None else positional(call, 1) if word else None
    return isinstance(mode, cst.SimpleString) and inner(mode).startswith("w")


def _handles(draft: Draft, call: cst.Call, before: Before) -> Iterator[str]:
    """The last names under which an open file is known: `self.log`, `as log`, `writer` of `csv.writer(open(…))`."""
    for each in draft.above(call):
        if isinstance(each, cst.Assign):
            yield from (tail(target.target) for target in each.targets)
        if isinstance(each, cst.WithItem) and each.asname is not None:
            around = draft.parent(each)
            # It is closed behind its lines.
            if around is not None and any(node in before.rounds for node in draft.below(around)):
                yield tail(each.asname.name)
        if isinstance(each, cst.BaseSuite | cst.SimpleStatementLine | cst.With):
            return


def _written_in(drafts: Sequence[Draft], before: Before) -> set[str]:
    """Names that the rounds use and do not bind; with `writer = csv.writer(log)`, `log` too."""
    inside = [node for each in before.rounds for node in drafts[0].below(each)]
    bound = {name for node in inside for name in targets_of(node)}
    names = {node.value for node in inside if isinstance(node, cst.Name)} - bound
    wraps = [
        node for draft in drafts for node in draft.nodes
        if isinstance(node, cst.Assign) and any(tail(target.target) in names for target in node.targets)
    ]  # fmt: skip
    calls = [node.value for node in wraps if isinstance(node.value, cst.Call)]
    return names | {tail(arg.value) for call in calls for arg in call.args}
