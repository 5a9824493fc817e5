"""Choosing a place in a store: a small browser in a window."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from outlast.errors import OutlastError
from outlast.server.console.parts import answered, button, dialog, text
from outlast.server.console.shelves import Thing, crumbs, known_places, look
from outlast.server.console.words import say, say_refusal


async def choose_place() -> str:
    """The address of a folder or file that the visitor picks; empty when they do not."""
    with dialog(say("Choose from a store")) as asked:
        browser = _Browser(asked)
    await browser.open("")
    chosen = await answered(asked)
    return chosen if isinstance(chosen, str) else ""


class _Browser:
    def __init__(self, asked: ui.dialog) -> None:
        self._asked = asked
        self._at = ""
        self._place = ui.element("div").classes("o-stack")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(""))
            button(say("Choose this folder"), lambda: asked.submit(self._at), "primary")

    async def open(self, at: str) -> None:
        self._at = at
        self._place.clear()
        with self._place:
            with ui.element("div").classes("o-crumbs"):
                button(say("Stores"), lambda: self.open(""), "o-plain")
                for name, step in crumbs(at) if at else ():
                    text("/").props("aria-hidden=true")
                    button(name, partial(self.open, step), "o-plain")
            with ui.element("div").classes("o-preview o-choices"):
                try:
                    await self._list()
                except OutlastError as error:
                    text(say_refusal(error), "o-refusal", "p").props("role=alert")

    async def _list(self) -> None:
        if not self._at:
            places = [address for address, _ in await known_places() if not address.endswith("@")]
            for address in places:
                self._entry("storage", address, address, is_folder=True)
            if not places:
                text(say("No store is known to this server yet."), "o-quiet", "p")
            return
        shelf = await look(self._at)
        for thing in shelf.things:
            self._thing(thing)
        if not shelf.things:
            text(say("This folder is empty."), "o-empty", "p")
        if shelf.following:
            text(say("There is more; type the address instead."), "o-quiet", "p")

    def _thing(self, thing: Thing) -> None:
        self._entry("folder" if thing.is_folder else "description", thing.name, thing.address, thing.is_folder)

    def _entry(self, icon: str, name: str, address: str, is_folder: bool) -> None:
        with ui.element("div"):
            ui.icon(icon).classes("o-icon").props("aria-hidden=true")
            if is_folder:
                button(name, lambda: self.open(address), "o-plain")
            else:
                button(name, lambda: self._asked.submit(address), "o-plain")
