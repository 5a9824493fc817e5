"""The windows of the stores' page: preview, rename, remove, temporary link."""

from __future__ import annotations

import json
from typing import Any

from nicegui import ui

from outlast.model.quantities import format_size
from outlast.server.console.calls import calls
from outlast.server.console.parts import (
    Table,
    answered,
    button,
    choice,
    confirmed,
    copyable,
    dialog,
    field,
    files,
    text,
    when,
)
from outlast.server.console.previewing import is_shown_in_part
from outlast.server.console.shell import link
from outlast.server.console.shelves import Thing, download_of
from outlast.server.console.words import say

#: How long a link may last, as the API reads it.
_TIMES = {"1h": "1 h", "12h": "12 h", "1d": "1 d", "7d": "7 d"}


async def ask_name(title: str, label: str, value: str, action: str) -> str:
    """A name that the visitor types; empty when they think better of it."""
    with dialog(title) as asked:
        box = field(label, value).props("autofocus")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(""))
            button(action, lambda: asked.submit(box.value.strip()), "primary")
        box.on("keydown.enter", lambda: asked.submit(box.value.strip()))
    answer = await answered(asked)
    return answer if isinstance(answer, str) else ""


async def act_on(thing: Thing) -> bool:
    """Let the visitor choose what to do with a file or a folder; True when something changed."""
    with dialog(thing.name) as asked:
        text(thing.address, "o-quiet o-mono o-wrap", "p")
        with ui.element("div").classes("o-row"):
            button(say("Rename"), lambda: asked.submit("rename"))
            if thing.is_linkable:
                button(say("Temporary link"), lambda: asked.submit("link"))
            button(say("Delete"), lambda: asked.submit("delete"), "danger")
            button(say("Cancel"), lambda: asked.submit(None))
    chosen = await answered(asked)
    if chosen == "rename":
        return await _rename(thing)
    if chosen == "delete":
        return await _remove(thing)
    if chosen == "link":
        await _make_link(thing)
    return False


async def _rename(thing: Thing) -> bool:
    old = thing.name.rstrip("/")
    new = await ask_name(say("Rename {name}", name=old), say("New name"), old, say("Rename"))
    if not new or new == old:
        return False
    source = thing.address.rstrip("/")
    await calls().post("/stores/rename", {"source": source, "target": source[: len(source) - len(old)] + new})
    return True


async def _remove(thing: Thing) -> bool:
    """Say how much it is before it is gone for good."""
    planned = await calls().delete("/stores/items", address=thing.address, recursive=thing.is_folder, dry_run=True)
    amount = f"{files(planned['files'])}, {format_size(planned['size_bytes'])}"
    about = say("{amount}, will be gone for good.", amount=amount)
    if not await confirmed(say("Delete {name}?", name=thing.name), about, say("Delete")):
        return False
    await calls().delete("/stores/items", address=thing.address, recursive=thing.is_folder)
    return True


async def _make_link(thing: Thing) -> None:
    with dialog(say("Temporary link to {name}", name=thing.name)) as asked:
        text(say("Whoever has the link may read this file until it ends."), "o-quiet", "p")
        lasts = choice(say("It lasts"), _TIMES, "1h")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(None))
            button(say("Make the link"), lambda: asked.submit(lasts.value), "primary")
    expires = await answered(asked)
    if expires is None:
        return
    made = await calls().post("/stores/links", {"address": thing.address, "expires": expires})
    with dialog(say("Temporary link to {name}", name=thing.name)) as shown:
        copyable(made["url"], say("Temporary link"))
        text(say("It ends at {moment} UTC.", moment=when(made["ends_at"])), "o-quiet", "p")
        button(say("Close"), shown.close)
    shown.open()


async def show_preview(thing: Thing) -> None:
    """The beginning of a file in a window of its own."""
    seen = await calls().get("/stores/preview", address=thing.address)
    with dialog(thing.name) as shown:
        with ui.element("div").classes("o-preview").props("tabindex=0 role=region").props(
            f'aria-label="{say("Preview")}"'
        ):  # fmt: skip
            _preview(thing, seen)
        if is_shown_in_part(seen):
            about = say("This is the beginning of {size}.", size=format_size(seen["size_bytes"]))
            text(about, "o-quiet", "p")
        with ui.element("div").classes("o-row o-end"):
            link(download_of(thing.address), say("Download"), "o-button").props("download")
            button(say("Close"), shown.close)
    shown.open()


def _preview(thing: Thing, seen: dict[str, Any]) -> None:
    if seen["kind"] == "picture":
        picture = ui.element("img")
        picture._props["src"], picture._props["alt"] = seen["url"], thing.name
    elif seen["kind"] == "json":
        text(json.dumps(seen["value"], indent=2, ensure_ascii=False), "", "pre")
    elif seen["kind"] == "table" and seen["rows"]:
        head, *rows = seen["rows"]
        table = Table([f" {each}" for each in head], thing.name, cards=False)
        for row in rows:
            table.add(*(row + [""] * len(head))[: len(head)])
    elif seen["kind"] == "text":
        text(seen["text"], "", "pre")
    else:
        text(say("There is no preview of this kind of file."), "o-quiet", "p")
