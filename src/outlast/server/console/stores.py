"""Stores: buckets, HDFS and folders, to browse, upload to, download from, and keep in order."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.model.quantities import format_size
from outlast.server.accounts.people import Role
from outlast.server.console import store_dialogs
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls
from outlast.server.console.parts import Table, button, field, go, panel, style_sheet, text, told, when
from outlast.server.console.shell import frame, link
from outlast.server.console.shelves import Shelf, Thing, crumbs, download_of, known_places, look, page_of
from outlast.server.console.uploader import Uploader
from outlast.server.console.words import say, say_refusal


async def stores_page(request: Request, at: str = "", cursor: str = "") -> None:
    """`at` is the address of a folder; without one, the places that are known."""
    actor = await actor_of(request)
    with frame("Stores", "/stores", actor), ui.element("div").classes("o-stack"), told():
        style_sheet()
        _address_box(at)
        if not at:
            await _places(actor.role is Role.ADMIN)
        else:
            await _Folder(at, cursor).show()


def _address_box(at: str) -> None:
    with ui.element("div").classes("o-line"):
        box = field(say("Address"), at).props('placeholder="obs://bucket/data/"')
        opened = button(say("Open"), lambda: go(page_of(box.value.strip()) if box.value.strip() else "/stores"))
        box.on("keydown.enter", lambda: opened.run_method("click"))


async def _places(is_admin: bool) -> None:
    places = await known_places()
    with panel(say("Known places")):
        if not places:
            text(say("No store is known to this server yet. An admin adds one with:"), "o-quiet", "p")
            text("outlast login obs", "o-mono", "code")
            return
        table = Table([say("Place"), say("Server"), ""], say("Known places"))
        for address, endpoint in places:
            with table.row(address, endpoint):
                # All buckets of an account are shown to admins only, and of one that is named to nobody.
                if not address.endswith("@" if is_admin else ("@", "://")):
                    link(page_of(address), say("Open"), "o-button")
                else:
                    text(say("add a bucket to the address"), "o-quiet")


class _Folder:
    """One folder and what can be done in it."""

    def __init__(self, at: str, cursor: str) -> None:
        self._at = at if at.endswith("/") else f"{at}/"
        self._cursor = cursor
        self._list = ui.element("div").classes("o-stack")

    async def show(self) -> None:
        with self._list, ui.element("div").classes("o-line"):
            _crumbs(self._at)
            ui.space()
            button(say("New folder"), self._make_folder)
            button(say("Refresh"), self.refresh)
        try:
            shelf = await look(self._at, self._cursor)
        except OutlastError as error:
            with self._list:
                text(say_refusal(error), "o-refusal", "p").props("role=alert")
            return
        with self._list:
            if not self._at.endswith("://"):
                Uploader("store", self._uploaded, self._at)
            for notice in shelf.notices:
                text(notice, "o-note", "p")
            self._table(shelf)

    async def refresh(self) -> None:
        self._list.clear()
        await self.show()

    async def _uploaded(self, told: dict[str, Any]) -> None:
        ui.notify(say("{name} is in place", name=told.get("name", "")), type="positive")
        await self.refresh()

    async def _make_folder(self) -> None:
        name = await store_dialogs.ask_name(say("New folder"), say("Name"), "", say("Make"))
        if name:
            await calls().post("/stores/folders", {"address": f"{self._at}{name.strip('/')}/"})
            await self.refresh()

    def _table(self, shelf: Shelf) -> None:
        if not shelf.things:
            text(say("This folder is empty."), "o-empty", "p")
            return
        heads = [say("Name"), "#" + say("Size"), say("Changed"), ""]
        with ui.element("div").classes("o-things"):  # on a phone it shows no times
            table = Table(heads, say("Files and folders"), cards=False)
        for thing in shelf.things:
            size = "" if thing.is_folder else format_size(thing.size_bytes)
            changed = when(thing.modified_s) if thing.modified_s else ""
            with table.opened_row(partial(self._name, thing), size, changed):
                if not thing.is_folder:
                    link(download_of(thing.address), say("Download"), "o-button").props("download")
                more = say("More about {name}", name=thing.name)
                button("…", partial(self._more, thing), label=more)
        if shelf.following or self._cursor:
            with ui.element("nav").classes("o-row o-end").props(f'aria-label="{say("Pages")}"'):
                if self._cursor:
                    link(page_of(self._at), say("First page"), "o-button")
                if shelf.following:
                    link(page_of(self._at, shelf.following), say("Next page"), "o-button")

    def _name(self, thing: Thing) -> None:
        ui.icon("folder" if thing.is_folder else "description").classes("o-icon").props("aria-hidden=true")
        if thing.is_folder:
            link(page_of(thing.address), thing.name)
        else:
            button(thing.name, lambda: store_dialogs.show_preview(thing), "o-plain")

    async def _more(self, thing: Thing) -> None:
        if await store_dialogs.act_on(thing):
            await self.refresh()


def _crumbs(address: str) -> None:
    with ui.element("nav").classes("o-crumbs").props(f'aria-label="{say("Way to this folder")}"'):
        link("/stores", say("Stores"))
        for name, step in crumbs(address):
            text("/").props("aria-hidden=true")
            link(page_of(step), name)
