"""What can be changed about a repository, and its end."""

from __future__ import annotations

from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.model.quantities import format_size
from outlast.server.console.calls import calls
from outlast.server.console.hub.creating import WordFields
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.moving import rename_panel
from outlast.server.console.hub.repository import Repository, open_repository
from outlast.server.console.parts import answered, button, dialog, field, go, panel, send_button, text
from outlast.server.console.words import say
from outlast.server.refusals import NotAllowed


async def repository_settings_page(request: Request, owner: str, name: str) -> None:
    """For those who may change it."""
    found = await open_repository(request, owner, name)
    if not found.is_mine:
        raise NotAllowed(f"{found.path} belongs to {found.about['owner']}", hint="ask them to change it")
    with repository_frame(found, "settings"):
        with panel(say("About")):
            words = WordFields(found.about)
            send_button(say("Save"), lambda: _save(found, words.body))
        rename_panel(found)
        with panel(say("Stored")):
            text(format_size(found.about["stored_bytes"] or 0), "o-strong")
        with panel(say("Remove"), say("The repository goes with its history. Runs that have staged it go on.")):
            button(say("Remove this repository"), lambda: _remove(found), "danger")


async def _save(found: Repository, body: dict[str, Any]) -> None:
    await calls().patch(found.api(), body)
    go(found.page("settings"))


async def _remove(found: Repository) -> None:
    """Its whole name has to be typed: this cannot be undone."""
    with dialog(say("Remove {name}?", name=found.path)) as asked:
        text(say("Type {name} to remove it for good.", name=found.path), "o-wrap", "p")
        box = field(say("Name")).props("autofocus autocomplete=off")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(False))
            removing = button(say("Remove"), lambda: asked.submit(box.value.strip() == found.path), "danger")
        removing.props("disabled")
        box.on_value_change(
            lambda: removing.props(remove="disabled") if box.value.strip() == found.path else removing.props("disabled")
        )
    if await answered(asked) is True:
        await calls().delete(found.api())
        go("/hub")
