"""Files that are made of the data and kept beside it, to be read the next time: the folder stays that of the data."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

import libcst as cst

from outlast.adapt.arguments.namespaces import parameters_of
from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.flow import Flow
from outlast.adapt.placing.roles import RESULTS
from outlast.adapt.placing.sinks import Sink
from outlast.adapt.placing.sources import Use
from outlast.migrate.engine import Kind
from outlast.migrate.tree import tail

#: the rule of what is said here
CACHES = "caches"
_ASKS = re.compile(r"\b(?:exists|isfile|is_file)\(")


def take_caches(draft: Draft, sinks: Sequence[Sink], flow: Flow, *, tells: bool = False) -> list[Sink]:
    """The same sinks; those that write where data is read, and only what is not there yet, belong to the data."""
    read = {draft.source(sink.path) for sink in sinks if sink.role in (Role.DATA, Role.WEIGHTS)}
    caches = [
        sink for sink in sinks
        if draft.source(sink.path) in read
        and _is_made_once(draft, sink, {_origin(draft, use) for use in flow.ways(sink) if use.is_folder})
    ]  # fmt: skip
    if not caches:
        return list(sinks)
    ways = [(sink, use) for sink in sinks if sink.role is not None and not sink.makes for use in flow.ways(sink)]
    written = [(sink, use) for sink, use in ways if sink.role is Role.OUTPUT]
    # A folder for results is one although lists of it are kept there.
    others = {_origin(draft, use) for sink, use in written if sink not in caches}
    ours = {(_origin(draft, use), use.after) for _, use in written}
    data = {
        origin
        for sink, use in ways
        if sink.role is Role.DATA and use.is_folder and (origin := _origin(draft, use))
        and (origin, use.after) not in ours and origin not in others and not RESULTS.search(origin)
    }  # fmt: skip
    found = [sink for sink in caches if {_origin(draft, use) for each, use in written if each is sink} <= data]
    for sink in found if tells else ():
        said = f"{draft.source(sink.path)} is kept in the folder of the data, where that lacks it"
        draft.say(Kind.DIFFERS, CACHES, sink.path, said, "bring it with the data where that may not be written to")
    return [replace(sink, role=Role.DATA) if sink in found else sink for sink in sinks]


def _origin(draft: Draft, use: Use) -> str:
    """What a path begins with, as it is written."""
    node = use.literal or use.other or (use.hops[-1].node if use.hops else None)
    return draft.source(node) if node is not None else use.option


def _is_made_once(draft: Draft, sink: Sink, origins: Collection[str]) -> bool:
    """`if not os.path.exists(path): dump(path)`, or the other branch of such a question.

    Of several files that are made together the script may ask for one alone, which lies in the same folder.
    """
    before: cst.CSTNode = sink.call
    for each in draft.above(sink.call) if sink.role is Role.OUTPUT and not sink.makes else ():
        test = draft.source(each.test) if isinstance(each, cst.If) and before is not each.test else ""
        if isinstance(each, cst.If) and _ASKS.search(test):
            is_asked = draft.source(sink.path) in test or any(origin in test for origin in origins if origin)
            is_missing = test.startswith("not ") is (before is each.body)
            return is_asked and is_missing
        if isinstance(each, cst.FunctionDef):
            return _is_run_where_missing(draft, each, sink)
        before = each
    return False


def _is_run_where_missing(draft: Draft, function: cst.FunctionDef, sink: Sink) -> bool:
    """`if not os.path.exists(words): self.count(texts, words)`: the function is handed what it writes."""
    calls = [call for call in draft.calls() if tail(call.func) == function.name.value]
    given = draft.source(sink.path) in parameters_of(function) and bool(calls)
    return given and all(any(is_made_where_missing(draft, arg.value) for arg in call.args) for call in calls)


def is_made_where_missing(draft: Draft, given: cst.CSTNode) -> bool:
    """Whether a place is handed to somebody only where the script has asked for it, and it is not there."""
    before = given
    for each in draft.above(given):
        if isinstance(each, cst.If) and before is each.body:
            test = draft.source(each.test)
            return test.startswith("not ") and bool(_ASKS.search(test)) and draft.source(given) in test
        if isinstance(each, cst.FunctionDef):
            return False
        before = each
    return False
