"""Markdown on a page: the README of a folder, and any file that is written so."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath
from typing import Any

from nicegui import ui

from outlast.server.console.calls import calls
from outlast.server.console.html import Html
from outlast.server.console.hub.markdown import render
from outlast.server.console.hub.repository import Repository
from outlast.server.console.parts import panel, text

_README = ("readme.md", "readme.markdown", "readme.txt", "readme")
_README_BYTES = 200 << 10


async def show_readme(found: Repository, commit: str, items: list[dict[str, Any]]) -> None:
    """The README of a folder; one that is too long stays a file."""
    by_name = {PurePosixPath(each["path"]).name.lower(): each for each in items if each["kind"] == "file"}
    item = next((by_name[name] for name in _README if name in by_name), None)
    if item is None or item["lfs"] or (item["size_bytes"] or 0) > _README_BYTES:
        return
    seen = await calls().get(found.api("preview"), path=item["path"], revision=commit)
    if seen["kind"] != "text":
        return
    with panel(PurePosixPath(item["path"]).name):
        await show_markdown(found, item["path"], seen["text"])


async def show_markdown(found: Repository, path: str, words: str) -> None:
    """A Markdown file as it is read; anything else as its text."""
    if not path.lower().endswith((".md", ".markdown")):
        text(words, "o-plain-text", "pre")
        return
    folder = "" if "/" not in path else path.rpartition("/")[0]

    def page(inner: str) -> str:
        return found.page(path=inner)

    def picture(inner: str) -> str:
        return found.raw("picture", path=inner, revision=found.revision)

    made: Html = await asyncio.to_thread(render, words, folder, page, picture)
    ui.html(made, sanitize=False).classes("o-readme")
