"""The list of runs as `outlast ps` prints it: open ones as they are at this moment, and how many were left out."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from outlast.model.query import RunQuery
from outlast.model.view import RunView
from outlast.operations.listing import Found, find_runs
from outlast.server.answers import answer
from outlast.server.auth import Actor, Current
from outlast.server.bodies import OverviewQuery
from outlast.server.holding import Held
from outlast.settings import Settings

router = APIRouter(tags=["runs"])


@router.get("/overview", summary="List runs as they are now")
def get_overview(actor: Current, held: Held, wanted: Annotated[OverviewQuery, Query()]) -> Response:
    """The runs that you may see, without pages; `left_out` counts those that `limit` and `recent` leave out."""
    query = RunQuery.build(wanted.name, wanted.state, wanted.where, wanted.sort, wanted.limit)
    found = find_seen(held.settings, actor, dataclasses.replace(query, recent=wanted.recent))
    return answer({"runs": [view.to_json() for view in found.views], "left_out": found.left_out})


def find_seen(settings: Settings, actor: Actor, query: RunQuery) -> Found:
    """Those runs of a query that `actor` may see."""
    if actor.sees is None:
        return find_runs(settings, query)
    every = find_runs(settings, dataclasses.replace(query, limit=None, recent=None)).views
    seen = [view for view in every if actor.may_see(view.user)]
    chosen = seen if query.recent is None else _recent(seen, query.recent)
    chosen = chosen if query.limit is None else chosen[: query.limit]
    return Found(chosen, len(seen) - len(chosen))


def _recent(views: list[RunView], count: int) -> list[RunView]:
    dropped = {view.id for view in [each for each in views if each.state.is_final][count:]}
    return [view for view in views if view.id not in dropped]
