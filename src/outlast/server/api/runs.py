"""Runs: list, submit, plan, explain, get, stop, resume, clone, remove."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from outlast.model.query import RunQuery
from outlast.operations.clone import clone_run
from outlast.operations.explain import explain
from outlast.operations.runs import remove_run, resume_run, show_run, stop_run
from outlast.operations.submit import plan_run
from outlast.server.accounts import quotas, usage
from outlast.server.answers import answer
from outlast.server.auth import Current, Member
from outlast.server.bodies import CloneBody, ResumeBody, RunBody, RunsQuery
from outlast.server.holding import Held, lifespan
from outlast.server.ready import Asked
from outlast.server.state import ServerState, state_of
from outlast.server.submitting import long_names, request_of, submit

router = APIRouter(tags=["runs"], lifespan=lifespan)


async def _state(request: Request) -> ServerState:
    return state_of(request)


State = Annotated[ServerState, Depends(_state)]


@router.get("/runs", summary="List runs")
async def list_runs(actor: Current, held: Held, wanted: Annotated[RunsQuery, Query()]) -> Response:
    """The runs that you may see, newest first: a page of them, and the cursor of the next one in `next`."""
    query = RunQuery.build(wanted.name, wanted.state, wanted.where, wanted.sort)
    asked = Asked(actor.sees, query, wanted.limit, wanted.cursor)
    page = held.runs.known_page(asked)
    if page is None:
        page = await run_in_threadpool(held.runs.page, asked)
    return Response(page, media_type="application/json")


@router.post("/runs", status_code=201, summary="Submit a run")
def submit_a_run(
    actor: Member,
    held: Held,
    state: State,
    body: RunBody,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Response:
    """Start a run and answer at once; `notices` holds what is worth a second look.

    The same `Idempotency-Key` never starts a second one.
    """
    notices: list[str] = []
    run = submit(state, held, actor, body, idempotency_key, notices.append)
    return answer({**_shown(held.settings, run), "notices": notices}, 201, {"Location": f"/api/v1/runs/{run}"})


@router.post("/runs/plan", summary="Plan a run")
def plan_a_run(actor: Member, held: Held, body: RunBody) -> Response:
    """Everything that submitting would do, completely checked. Starts nothing."""
    with long_names():
        plan = plan_run(request_of(held, actor, body), held.settings_of(actor))
    places = [dataclasses.asdict(each) for each in plan.destinations]
    return answer({
        "spec": plan.spec.to_json(), "command": plan.platform.command, "platforms": places, "notices": plan.notices,
        "forecast": {**dataclasses.asdict(plan.prospect), "lines": plan.prospect.lines} if plan.prospect else None,
    })  # fmt: skip


@router.post("/runs/explain", summary="Explain a run")
def explain_a_run(actor: Member, held: Held, body: RunBody) -> Response:
    """What the script of such a run will see. Starts nothing."""
    with long_names():
        explained = explain(request_of(held, actor, body), held.settings_of(actor))
    return answer(dataclasses.asdict(explained))


@router.get("/runs/{run}", summary="Show a run")
def get_run(actor: Current, held: Held, run: str) -> Response:
    """Everything about one run: stints, checkpoints, ledger, spec, outputs. `run` is an id, its beginning or a name."""
    return answer(_shown(held.settings, held.runs.find(actor, run).id))


@router.post("/runs/{run}/stop", summary="Stop a run")
def stop_a_run(actor: Member, held: Held, state: State, run: str) -> Response:
    """Ask a run to save and stop. Answers at once; `resume` continues it."""
    row = held.changeable(actor, run)
    view = stop_run(held.settings, row.id)
    state.accounts.audit.add(actor.name, "run.stop", row.id)
    return answer(view.to_json())


@router.post("/runs/{run}/resume", summary="Resume a run")
def resume_a_run(actor: Member, held: Held, state: State, run: str, body: ResumeBody | None = None) -> Response:
    """Continue a run that failed or was stopped: from its last checkpoint, or from the one that is named."""
    row = held.changeable(actor, run)
    words = body.model_dump() if body is not None else {}
    view = resume_run(held.settings, row.id, **words)
    state.accounts.audit.add(actor.name, "run.resume", row.id)
    return answer(view.to_json())


@router.post("/runs/{run}/clone", status_code=201, summary="Run it again")
def clone_a_run(actor: Member, held: Held, state: State, run: str, body: CloneBody | None = None) -> Response:
    """Start a new run with the code, data and words of this one: from the beginning, or from one of its checkpoints."""
    row = held.changeable(actor, run)
    settings, wanted = held.settings_of(actor), body or CloneBody()
    need = show_run(held.settings, row.id).spec.get("resources") or {}
    groups = state.accounts.groups.of(actor.id) if actor.id else []
    use = quotas.Use(1, usage.cards_of(need))
    quotas.check(usage.measure(settings, groups), use)
    made = clone_run(settings, row.id, **wanted.model_dump()).id
    state.accounts.audit.add(actor.name, "run.clone", made, of=row.id)
    return answer(_shown(held.settings, made), 201, {"Location": f"/api/v1/runs/{made}"})


@router.delete("/runs/{run}", summary="Remove a run")
def remove_a_run(actor: Member, held: Held, state: State, run: str, force: bool = False) -> Response:
    """Remove a run that is over, or with `force` any. Its files stay until the next cleaning."""
    row = held.changeable(actor, run)
    removed = remove_run(held.settings, row.id, force=force)
    state.accounts.audit.add(actor.name, "run.remove", removed)
    return answer({"removed": removed})


def _shown(settings: Any, run: str) -> dict[str, Any]:
    return show_run(settings, run).to_json(detail=True)
