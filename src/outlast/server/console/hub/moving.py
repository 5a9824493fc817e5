"""Another name for a repository, and a repository of one's own that begins where another one is."""

from __future__ import annotations

from nicegui import ui

from outlast.server.console.access import member_now
from outlast.server.console.calls import calls
from outlast.server.console.hub.repository import Repository, page_of
from outlast.server.console.parts import answered, button, choice, dialog, field, go, panel, text
from outlast.server.console.words import say


def rename_panel(found: Repository) -> None:
    """For those who may change it; only admins give it another owner."""
    with panel(say("Rename"), say("The old name leads here, for git too, until somebody takes it.")):
        box = field(say("New name"), found.about["name"]).classes("o-short")
        button(say("Rename"), lambda: _rename(found, (box.value or "").strip()))


async def _rename(found: Repository, name: str) -> None:
    renamed = await calls().post(found.api("rename"), {"to": name if "/" in name else f"{found.about['owner']}/{name}"})
    go(page_of(renamed["path"], "settings"))


async def ask_fork(found: Repository) -> None:
    """Ask for owner and name of the new one, make it, and open its page."""
    actor = await member_now()
    owners = [actor.name, *actor.groups]
    with dialog(say("Fork {name}", name=found.path)) as asked:
        text(say("A repository of yours with the same files and history."), "o-quiet", "p")
        owner = choice(say("Owner"), owners, owners[0])
        name = field(say("Repository name"), found.about["name"])
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(False))
            button(
                say("Make it"), lambda: _fork(found, f"{owner.value}/{(name.value or '').strip()}", asked), "primary"
            )
    await answered(asked)


async def _fork(found: Repository, path: str, asked: ui.dialog) -> None:
    made = await calls().post(found.api("fork"), {"to": path})
    asked.submit(True)
    go(page_of(made["path"]))
