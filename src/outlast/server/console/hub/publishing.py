"""The button that makes the outputs of a run a model of the hub."""

from __future__ import annotations

from nicegui import ui

from outlast.server.accounts.people import Role
from outlast.server.console.calls import calls, part
from outlast.server.console.hub.creating import WordFields
from outlast.server.console.hub.repository import page_of
from outlast.server.console.parts import answered, button, dialog, field, go, send_button, text
from outlast.server.console.run.watching import Watched
from outlast.server.console.words import say


def publish_button(watched: Watched) -> None:
    """Stands on the page as long as there is something to publish."""
    if not watched.actor.role.reaches(Role.MEMBER):
        return
    row = ui.element("div").classes("o-row")
    with row:
        button(say("Publish as a model"), lambda: _ask(watched))
    watched.show(lambda view: row.set_visibility(bool(view.outputs)))


async def _ask(watched: Watched) -> None:
    with dialog(say("Publish as a model")) as asked:
        about = say("The outputs become a commit of a model repository, with a model card. Nothing is copied.")
        text(about, "o-quiet", "p")
        place = field(say("Repository"), f"{watched.actor.name}/{watched.view.name}", hint=say("owner/name"))
        words = WordFields({})
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(False))
            send_button(say("Publish"), lambda: _publish(watched, place.value.strip(), words, asked))
    await answered(asked)


async def _publish(watched: Watched, path: str, words: WordFields, asked: ui.dialog) -> None:
    body = {"repository": path, **words.body}
    done = await calls().post(f"/runs/{part(watched.view.id)}/publish", body)
    asked.submit(True)
    go(page_of(done["path"]))
