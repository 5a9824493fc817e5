"""Doors for clients of other platforms: each speaks its protocol, over the runs and accounts of this server."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI

from outlast.server.gateways import modelarts, openpai, webhdfs
from outlast.server.state import ServerState

GATEWAYS: list[Callable[[FastAPI, ServerState], None]] = [webhdfs.mount, openpai.mount, modelarts.mount]

#: Beginning of a path → the largest body it takes, in bytes.
LARGE_BODIES: dict[str, int] = {**webhdfs.LARGE_BODIES}


def mount(app: FastAPI, state: ServerState) -> None:
    """Open every door. Before the console's pages, which answer whatever is left."""
    for gateway in GATEWAYS:
        gateway(app, state)
