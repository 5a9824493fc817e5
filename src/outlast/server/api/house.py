"""Keeping house: free space, rebuild the list of runs. For admins."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from outlast.operations.clean import clean
from outlast.operations.reindex import reindex
from outlast.server.answers import answer
from outlast.server.api.runs import State
from outlast.server.auth import Admin
from outlast.server.bodies import CleanBody, ReindexBody
from outlast.server.holding import Held

router = APIRouter(tags=["house"])


@router.post("/clean", summary="Free space")
def clean_up(actor: Admin, held: Held, state: State, body: CleanBody | None = None) -> Response:
    """Remove old checkpoints, unreferenced blobs and old work folders; with `dry_run` only say which."""
    wanted = body or CleanBody()
    done = clean(held.settings, keep_last=wanted.keep_last, keep_best=wanted.keep_best, dry_run=wanted.dry_run)
    if not wanted.dry_run:
        state.accounts.audit.add(actor.name, "store.clean", held.settings.store, size_bytes=done.size_bytes)
    return answer(done)


@router.post("/reindex", summary="Rebuild the list of runs")
def rebuild(actor: Admin, held: Held, state: State, body: ReindexBody | None = None) -> Response:
    """Read every run folder of the store into the list of runs."""
    done = reindex(held.settings, (body or ReindexBody()).stores)
    state.accounts.audit.add(actor.name, "index.rebuild", held.settings.store, runs=done.runs)
    return answer(done)
