"""`/rest-server`: OpenPAI's REST API in both generations, and what its editor looks for around it."""

from __future__ import annotations

from fastapi import FastAPI

from outlast.server.gateways.openpai import routes
from outlast.server.gateways.openpai.book import JobBook
from outlast.server.state import ServerState


def mount(app: FastAPI, state: ServerState) -> None:
    """Serve the API below `/rest-server`, and v2 also where a server without a proxy before it has it."""
    JobBook(state.database).prepare()
    routes.add(app)
