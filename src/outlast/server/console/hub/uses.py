"""Which runs used a repository, and at which revision."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.server.console import formats
from outlast.server.console.calls import calls
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import Repository, open_repository, page_of, short
from outlast.server.console.parts import Table, text, told
from outlast.server.console.shell import link
from outlast.server.console.words import say
from outlast.store.assets import read_asset


async def uses_page(request: Request, owner: str, name: str) -> None:
    """The runs that the visitor may see, newest first."""
    found = await open_repository(request, owner, name)
    cursor = request.query_params.get("cursor", "")
    with repository_frame(found, "runs"), told():
        page = await calls().get(found.api("runs"), cursor=cursor)
        if not page["runs"]:
            text(say("No run that you may see has used it."), "o-empty", "p")
            return
        heads = [say("Run"), say("State"), say("User"), say("Created"), say("Version used")]
        table = Table(heads, say("Runs that used this repository"))
        for run in page["runs"]:
            state, when = say(run["state"]), formats.ago(run["created_at"])

            def name_cell(run: dict[str, Any] = run) -> None:
                link(f"/runs/{run['id']}", run["name"])

            with table.opened_row(name_cell, state, run["user"], when):
                _used(found, run["uses"])
        if page["next"]:
            link(page_of(found.path, "runs", cursor=page["next"]), say("Next page"), "o-button")


def _used(found: Repository, assets: list[str]) -> None:
    for each in map(read_asset, assets):
        if each is not None:
            at = Repository(found.about, found.actor, each.revision)
            with ui.element("div").classes("o-row"):
                link(at.page(path=each.path), short(each.revision), "o-mono")
                text(each.path, "o-quiet o-wrap")
