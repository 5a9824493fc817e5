"""What there is to run on: platforms, environments, and how the server's machine is doing."""

from __future__ import annotations

import dataclasses

from fastapi import APIRouter
from starlette.responses import Response

from outlast.operations.doctor import examine
from outlast.operations.environments import Environments
from outlast.operations.platforms import list_platforms
from outlast.platforms.local.machine import Machine
from outlast.server.answers import answer
from outlast.server.auth import Admin, Current
from outlast.server.holding import Held

router = APIRouter(tags=["places"])


@router.get("/platforms", summary="List platforms")
def get_platforms(actor: Current, held: Held, check: bool = False) -> Response:
    """Where runs can go, with limits, use and trouble; with `check` each is asked. Of this machine also its size."""
    need = Machine.look(held.home.local / "machine.json", remember=False).capacity
    found = [
        {**dataclasses.asdict(each), "machine": need._asdict() if each.name == "local" else None}
        for each in list_platforms(held.settings, check=check)
    ]
    return answer({"platforms": found, "usual": held.settings.platform})


@router.get("/environments", summary="List environments")
def list_environments(actor: Current, held: Held) -> Response:
    """Named environments: those that were added here, then what other platforms offer."""
    return answer({"environments": [each.to_json() for each in Environments(held.settings).list()]})


@router.get("/doctor", summary="Examine the server")
def get_doctor(actor: Admin, held: Held) -> Response:
    """What the server's machine has, what is missing, and how to get it."""
    return answer({"findings": [dataclasses.asdict(each) for each in examine(held.settings.home, held.settings.store)]})
