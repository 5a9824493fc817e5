"""Questions that mean a place of the script without leading there.

For a result by another spelling (`if not exists(join(getcwd(), "out")): mkdir("out")`), and for a file of the data that
another function reads (`if exists(HERE + "/" + name): return`, with what fetches it behind that).
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.code_folder import HERE
from outlast.adapt.placing.fetchers import fetched_by
from outlast.adapt.placing.sources import Use

if TYPE_CHECKING:
    from outlast.adapt.placing.paths import Paths


def add_asked(draft: Draft, found: Paths, ways: Iterable[Use]) -> None:
    """Ask for a result where it will lie, although the question begins with the working folder."""
    results = {posixpath.normpath(site.text) for site in found.sites.get(Role.OUTPUT, ())}
    for use in ways:
        is_here = isinstance(use.other, cst.Call) and draft.resolve(use.other.func) in HERE
        if use.role is None and is_here and posixpath.normpath(use.after.lstrip("/") or ".") in results:
            found.others.setdefault(Role.OUTPUT, []).append(use)


def add_asked_data(draft: Draft, found: Paths, ways: Iterable[Use]) -> None:
    """Ask for a file of the data where it will lie, and fetch it only where it is not there."""
    ways = list(ways)
    data = {id(use.other) for use in found.others.get(Role.DATA, ())}
    read = {draft.source(use.whole): use for use in ways if use.whole is not None and id(use.other) in data}
    for use in ways:
        like = read.get(draft.source(use.whole)) if use.whole is not None and use.other is not None else None
        if like is None or use.role is not None or id(use.other) in data:
            continue
        question, fetches = _fetched_behind(draft, use.sink.call)
        if question is None:
            continue
        is_whole = like.other is like.whole
        asked = replace(use, other=use.whole if is_whole else use.other, is_folder=like.is_folder)
        found.others[Role.DATA].append(asked)
        found.asked.append(question)
        found.behind += fetches


def _fetched_behind(draft: Draft, asking: cst.Call) -> tuple[cst.If | None, list[cst.CSTNode]]:
    """The question that a call is in, and the statements that fetch what is not there; nothing where none does."""
    question = next((each for each in draft.above(asking) if isinstance(each, cst.BaseStatement)), None)
    if not isinstance(question, cst.If):
        return None, []
    last = question.body.body[-1] if question.body.body else None
    ends = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
    where = draft.scope(asking) if ends else question
    calls = (call for call in draft.calls(where) if draft.start(call) > draft.start(asking))
    fetches = [draft.statement(call) for call in calls if fetched_by(draft, call)]
    return (question, fetches) if fetches else (None, [])
