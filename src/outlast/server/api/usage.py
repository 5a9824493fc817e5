"""How busy the machines of a run were, over time."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from outlast.operations.faults import spoken
from outlast.server.answers import answer
from outlast.server.auth import Current
from outlast.server.holding import Held
from outlast.track.usage import read_run_usage

router = APIRouter(tags=["metrics"])


@router.get("/runs/{run}/usage", summary="Read how busy the machines were")
def get_usage(actor: Current, held: Held, run: str) -> Response:
    """Processors, memory and cards of each stint, in at most 256 spans of equal length.

    A percentage is the mean of a span, and 100 means all processors of the stint, or the whole card; memory is the most
    that was held. `limits` says the most that memory can be. It is up to a minute behind while a stint runs.
    """
    found = held.seen(actor, run)
    with spoken(f"usage of {found.run}"):
        stints = read_run_usage(found.store, found.run)
    return answer({"run": found.run, "stints": stints})
