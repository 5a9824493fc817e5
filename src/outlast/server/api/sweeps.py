"""Sweeps: a grid of runs started, looked at, stopped and removed as one."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Path
from starlette.responses import Response

from outlast.errors import NotFoundError
from outlast.model.query import RunQuery
from outlast.operations.sweep_table import show_sweep
from outlast.operations.sweeps import (
    FoundSweep,
    SweepRequest,
    find_sweep,
    plan_sweep,
    remove_sweep,
    resume_sweep,
    start_sweep,
    stop_sweep,
)
from outlast.server.accounts import quotas, usage
from outlast.server.answers import answer
from outlast.server.api.overview import find_seen
from outlast.server.api.runs import State
from outlast.server.auth import Actor, Current, Member
from outlast.server.bodies import SweepBody
from outlast.server.holding import Held, Holding
from outlast.server.submitting import long_names, request_of

router = APIRouter(tags=["sweeps"])

Name = Annotated[str, Path(max_length=200)]
_WORDS = ("at_once", "metric", "early_stop", "early_stop_after", "random", "seed")


@router.get("/sweeps", summary="List sweeps")
def list_sweeps(actor: Current, held: Held) -> Response:
    """The sweeps that you may see, newest first, with their members by state."""
    found: dict[str, Counter[str]] = {}
    for view in find_seen(held.settings, actor, RunQuery()).views:
        if view.sweep:
            found.setdefault(view.sweep, Counter())[str(view.state)] += 1
    return answer({"sweeps": [{"name": name, "counts": counts} for name, counts in found.items()]})


@router.post("/sweeps", status_code=201, summary="Start a sweep")
def start(actor: Member, held: Held, state: State, body: SweepBody) -> Response:
    """Start a run for every combination of parameters; several values stand in `params`, commas between."""
    settings = held.settings_of(actor)
    with long_names():
        asked = _request(held, actor, body)
        members = len(plan_sweep(asked).members)
        at_once = min(members, body.at_once or members)
        groups = state.accounts.groups.of(actor.id) if actor.id else []
        need = quotas.Use(at_once, at_once * usage.cards_of(body.model_dump(include={"gpus", "npus", "nodes"})))
        quotas.check(usage.measure(settings, groups), need)
        record = start_sweep(settings, asked)
    state.accounts.audit.add(actor.name, "sweep.start", record.name, members=members)
    return answer(dataclasses.asdict(record), 201, {"Location": f"/api/v1/sweeps/{record.name}"})


@router.post("/sweeps/plan", summary="Plan a sweep")
def plan(actor: Member, held: Held, body: SweepBody) -> Response:
    """The members that such a sweep would have. Starts nothing."""
    with long_names():
        planned = plan_sweep(_request(held, actor, body))
    return answer({"of": planned.grid.size, "members": planned.members, "metric": planned.metric, "seed": planned.seed})


@router.get("/sweeps/{name}", summary="Show a sweep")
def get_sweep(actor: Current, held: Held, name: Name) -> Response:
    """A sweep as one table, the best member first."""
    _seen(held, actor, name)
    return answer(show_sweep(held.settings, name).to_json())


@router.get("/sweeps/{name}/record", summary="Show what a sweep was asked for")
def get_record(actor: Current, held: Held, name: Name) -> Response:
    """Its parameters and their values, and its members in the order of the grid."""
    return answer(dataclasses.asdict(_seen(held, actor, name).record))


@router.post("/sweeps/{name}/stop", summary="Stop a sweep")
def stop(actor: Member, held: Held, state: State, name: Name) -> Response:
    """Ask every open member to save and stop."""
    _changeable(held, actor, name)
    stopped = stop_sweep(held.settings, name)
    state.accounts.audit.add(actor.name, "sweep.stop", name)
    return answer({"runs": stopped})


@router.post("/sweeps/{name}/resume", summary="Resume a sweep")
def resume(actor: Member, held: Held, state: State, name: Name) -> Response:
    """Go on with every member that failed or was stopped, except those that the sweep stopped early."""
    _changeable(held, actor, name)
    resumed = resume_sweep(held.settings, name)
    state.accounts.audit.add(actor.name, "sweep.resume", name)
    return answer({"runs": resumed})


@router.delete("/sweeps/{name}", summary="Remove a sweep")
def remove(actor: Member, held: Held, state: State, name: Name, force: bool = False) -> Response:
    """Remove all members and the sweep itself; with `force` also members that go on."""
    _changeable(held, actor, name)
    removed = remove_sweep(held.settings, name, force=force)
    state.accounts.audit.add(actor.name, "sweep.remove", name)
    return answer({"runs": removed})


def _request(held: Holding, actor: Actor, body: SweepBody) -> SweepRequest:
    words = {name: value for name in _WORDS if (value := getattr(body, name)) is not None}
    return SweepRequest(request_of(held, actor, body), **words)


def _seen(held: Holding, actor: Actor, name: str) -> FoundSweep:
    """The sweep of that name, unless it is not for `actor` to see: then there is none."""
    try:
        found = find_sweep(held.settings, name)
    except NotFoundError:
        found = None  # its words may guess at a sweep of somebody else
    if found is None or not actor.may_see(found.record.user):
        raise NotFoundError(f"no sweep {name!r}", hint="list them with: outlast sweep ls")
    return found


def _changeable(held: Holding, actor: Actor, name: str) -> FoundSweep:
    found = _seen(held, actor, name)
    actor.require_change(found.record.user, "sweep")
    return found
