"""Choosing something of a repository: a window that goes from folder to folder."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from nicegui import ui

from outlast.errors import NotFoundError
from outlast.hub.bare import Item
from outlast.hub.repository import Repository
from outlast.server.console.aside import aside
from outlast.server.console.parts import answered, button, dialog, text
from outlast.server.console.trainings.desks import desk_now
from outlast.server.console.words import say
from outlast.server.hub.trainings.desk import Desk


class Chosen(NamedTuple):
    """A file or a folder of a repository; the empty path is all of it."""

    path: str
    is_folder: bool


async def choose_path(repository: Repository, title: str, *, folders: bool, files: bool, start: str = "") -> str | None:
    """A path that the visitor picked; None when they left."""
    with dialog(title) as asked:
        place = ui.element("div").classes("o-preview o-choices")
        button(say("Cancel"), lambda: asked.submit(None))

    async def show(folder: str) -> None:
        desk = await desk_now()
        items = await aside(lambda: _items(desk, repository, folder))
        place.clear()
        with place:
            text(f"{repository.path}/{folder}", "o-quiet o-wrap", "p")
            if folders:
                words = say("Use this folder") if folder else say("Use the whole repository")
                button(words, partial(asked.submit, Chosen(folder, True)), "primary")
            if folder:
                button("..", partial(show, folder.rpartition("/")[0]), "o-plain", label=say("One folder up"))
            for item in items:
                if item.is_folder:
                    button(f"{_last(item)}/", partial(show, item.path), "o-plain")
                elif files:
                    button(_last(item), partial(asked.submit, Chosen(item.path, False)), "o-plain")
            if not items:
                text(say("This folder is empty."), "o-empty", "p")

    await show(start)
    chosen = await answered(asked)
    return chosen.path if isinstance(chosen, Chosen) else None


async def choose_input(kind: str) -> str:
    """`owner/name` or `owner/name/path` of a repository that the visitor may use; empty when they left."""
    desk = await desk_now()
    found = await aside(lambda: [each for each in desk.shared.hub.list(desk.visitor) if each.kind == kind])
    with dialog(say("Choose a model") if kind == "model" else say("Choose a data set")) as asked:
        with ui.element("div").classes("o-preview o-choices"):
            for each in found:
                button(each.path, partial(asked.submit, each), "o-plain")
            if not found:
                text(say("There is none that you may use."), "o-empty", "p")
        button(say("Cancel"), lambda: asked.submit(None))
    chosen = await answered(asked)
    if not isinstance(chosen, Repository):
        return ""
    path = await choose_path(chosen, chosen.path, folders=True, files=True)
    return "" if path is None else "/".join(filter(None, (chosen.path, path)))


def _items(desk: Desk, repository: Repository, folder: str) -> list[Item]:
    found = desk.shared.hub.find(desk.visitor, repository.owner, repository.name)
    bare = desk.shared.hub.bare(found)
    try:
        return bare.items(bare.commit(), folder)
    except NotFoundError:
        return []


def _last(item: Item) -> str:
    return item.path.rpartition("/")[2]
