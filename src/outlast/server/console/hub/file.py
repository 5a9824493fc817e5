"""One file of a repository: its lines, its picture, its table; how to download, edit and remove it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from outlast.model.quantities import format_size
from outlast.server.accounts.people import Role
from outlast.server.console.calls import calls
from outlast.server.console.html import Html, joined, tag
from outlast.server.console.hub.editing import remove
from outlast.server.console.hub.readme import show_markdown
from outlast.server.console.hub.repository import Repository
from outlast.server.console.parts import button, text
from outlast.server.console.previewing import show_preview
from outlast.server.console.shell import link
from outlast.server.console.words import say

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")
_PICTURE_BYTES = 8 << 20
_MOST_LINES = 20_000


async def file_view(found: Repository, commit: str, item: dict[str, Any], *, is_plain: bool) -> None:
    """A file and what can be done with it."""
    path = str(item["path"])
    seen = await calls().get(found.api("preview"), path=path, revision=commit)
    is_document = path.lower().endswith((".md", ".markdown")) and seen["kind"] == "text"
    with ui.element("div").classes("o-row"):
        _actions(found, commit, path, seen)
        if is_document:
            other = "" if is_plain else "1"
            link(found.page(path=path, plain=other), say("As a page") if is_plain else say("As text"), "o-button")
    with ui.element("div").classes("o-row o-quiet"):
        text(format_size(seen["size_bytes"]))
        if seen["lfs"]:
            text("LFS", "o-tag")
        if seen["cut"] and seen["kind"] == "text":  # of every other kind its preview says so
            text(say("only the beginning is shown"))
    await _content(found, commit, path, seen, is_document and not is_plain)


def _actions(found: Repository, commit: str, path: str, seen: dict[str, Any]) -> None:
    link(found.raw("file", path=path, revision=commit), say("Download"), "o-button").props("download")
    link(found.page("history", path=path), say("Commits"), "o-button")
    if found.kind != "project" and found.actor.role.reaches(Role.MEMBER):
        link(f"/new?{urlencode({'input': found.asset(commit, path)})}", say("Use in a run"), "o-button")
    if found.branch:
        if seen["editable"]:
            link(found.page("edit", path=path), say("Edit"), "o-button")
        button(say("Delete"), lambda: remove(found, path), "danger")


async def _content(found: Repository, commit: str, path: str, seen: dict[str, Any], is_document: bool) -> None:
    is_picture = PurePosixPath(path).suffix.lower() in _PICTURES and seen["size_bytes"] <= _PICTURE_BYTES
    if is_document:
        with ui.element("section").classes("o-panel"):
            await show_markdown(found, path, seen["text"])
    elif seen["kind"] == "bytes" and is_picture:
        picture = ui.element("img").classes("o-picture")
        picture._props["src"], picture._props["alt"] = found.raw("picture", path=path, revision=commit), path
    elif seen["kind"] == "text":
        ui.html(numbered(seen["text"], path), sanitize=False)
    elif seen["kind"] == "json" and seen["source"] is not None:
        ui.html(numbered(seen["source"], path), sanitize=False)
    else:
        show_preview(seen, path)


def numbered(words: str, label: str) -> Html:
    """A text with the numbers of its lines, which are not copied with it."""
    lines = words.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    items = [tag("li", line or " ") for line in lines[:_MOST_LINES]]
    more = len(lines) - len(items)
    rest = tag("p", say("{count} more lines are not shown", count=more), class_="o-quiet") if more > 0 else Html()
    box = tag(
        "div", tag("ol", *items, class_="o-lines"), class_="o-preview", tabindex="0", role="region", aria_label=label
    )
    return joined(box, rest)
