"""The files of a revision: folders with their README, and one file as what it is."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import Any

from nicegui import ui
from starlette.requests import Request

from outlast.errors import OutlastError
from outlast.model.quantities import format_size
from outlast.server.console import formats
from outlast.server.console.calls import calls
from outlast.server.console.hub.editing import remove
from outlast.server.console.hub.file import file_view
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.readme import show_readme
from outlast.server.console.hub.repository import Repository, open_repository, short
from outlast.server.console.parts import Table, button, choice, copyable, field, go, panel, text, told
from outlast.server.console.shell import link, notify_error
from outlast.server.console.uploader import Uploader
from outlast.server.console.words import say

_MOST_ROWS = 1000


async def repository_page(request: Request, owner: str, name: str) -> None:
    """A folder or a file of a repository; `?at=` names the revision, `?path=` the place in it."""
    found = await open_repository(request, owner, name)
    path = request.query_params.get("path", "").strip("/")
    if found.is_empty:
        with repository_frame(found, ""):
            _empty(found)
        return
    listed = await calls().get(found.api("items"), revision=found.at, path=path)
    items, commit = listed["items"], str(listed["commit"])
    with repository_frame(found, ""):
        with ui.element("div").classes("o-row"):
            revision_choice(found, "", path)
            way(found, path)
        with told():
            if path and [each["path"] for each in items] == [path] and items[0]["kind"] == "file":
                await file_view(found, commit, items[0], is_plain="plain" in request.query_params)
            else:
                await _folder(found, commit, path, items)


def revision_choice(found: Repository, view: str, path: str = "") -> None:
    """Branches, tags, and whatever the address names."""
    about = found.about
    names = {each: each for each in about["branches"]}
    names |= {each: say("tag {name}", name=each) for each in about["versions"]}
    names.setdefault(found.revision, short(found.revision))
    chosen = choice(say("Revision"), names, found.revision).classes("o-short")
    chosen.on_value_change(lambda event: go(_at(found, str(event.value)).page(view, path=path)))


def _at(found: Repository, revision: str) -> Repository:
    return Repository(found.about, found.actor, "" if revision == found.about["head"] else revision)


def way(found: Repository, path: str) -> None:
    """The folders that lead to a place, each a link."""
    with ui.element("nav").classes("o-crumbs").props(f'aria-label="{say("Way to this folder")}"'):
        link(found.page(), found.about["name"])
        parts = path.split("/") if path else []
        for count, each in enumerate(parts, 1):
            text("/").props("aria-hidden=true")
            link(found.page(path="/".join(parts[:count])), each)


async def _folder(found: Repository, commit: str, path: str, items: list[dict[str, Any]]) -> None:
    with ui.element("div").classes("o-row"):
        if found.branch:
            button(say("Upload files"), lambda: uploads.set_visibility(not uploads.visible))
            link(found.page("edit", path=path, new="1"), say("New file"), "o-button")
        for form in ("zip", "tar.gz"):
            link(found.raw(f"archive/{commit}.{form}", lfs="1"), f"{say('Download')} .{form}", "o-button").props(
                "download"
            )
        if found.branch and path:
            button(say("Delete folder"), lambda: remove(found, path), "danger")
    with ui.element("div").classes("o-stack") as uploads:
        if found.branch:
            _upload_panel(found, path)
    uploads.set_visibility(False)
    _clone(found)
    await _newest(found, commit, path)
    _items(found, path, items)
    await show_readme(found, commit, items)


def _clone(found: Repository) -> None:
    with ui.element("details").classes("o-panel"):
        text(say("Clone with git"), tag="summary")
        copyable(f"git clone {found.about['clone_url']}", say("Clone command"))
        words = say("Git asks for a name and a password: the name is yours, the password is a token from the settings.")
        text(words, "o-quiet o-small", "p")


async def _newest(found: Repository, commit: str, path: str) -> None:
    log = await calls().get(found.api("commits"), revision=commit, path=path, limit=1)
    for each in log["items"]:
        with ui.element("div").classes("o-row o-newest"):
            text(each["author"], "o-strong")
            link(found.page(f"commit/{each['id']}"), each["message"].partition("\n")[0] or short(each["id"]), "o-wrap")
            text(formats.ago(each["at"]), "o-quiet").props(f'title="{formats.when(each["at"])}"')
            ui.space()
            link(found.page("history", path=path), say("Commits"))


def _items(found: Repository, path: str, items: list[dict[str, Any]]) -> None:
    if not items:
        text(say("This folder is empty."), "o-empty", "p")
        return
    table = Table([say("Name"), "#" + say("Size"), ""], say("Files and folders"), cards=False)
    for each in items[:_MOST_ROWS]:
        is_folder = each["kind"] == "folder"
        size = "" if is_folder or each["size_bytes"] is None else format_size(each["size_bytes"])
        with table.opened_row(partial(_name, found, each, is_folder), size):
            if each["lfs"]:
                text("LFS", "o-tag")
    if len(items) > _MOST_ROWS:
        text(
            say("{count} more are not shown; clone the repository to see them.", count=len(items) - _MOST_ROWS),
            "o-quiet",
            "p",
        )


def _name(found: Repository, item: dict[str, Any], is_folder: bool) -> None:
    ui.icon("folder" if is_folder else "description").classes("o-icon").props("aria-hidden=true")
    link(found.page(path=item["path"]), PurePosixPath(item["path"]).name + ("/" if is_folder else ""))


def _upload_panel(found: Repository, path: str) -> None:
    rule = say("Large files are refused: a project holds code only.")
    if found.kind != "project":
        rule = say("Files above 200 KB are kept in LFS.")
    with panel(say("Upload to {place}", place=f"{found.about['name']}/{path}"), rule):
        message = field(say("What is this change?"), hint=say("default: the names of the files"))

        async def came(told: dict[str, Any]) -> None:
            await _commit_upload(found, path, str(told.get("sha256", "")), message.value or "")

        Uploader("hub", came)


async def _commit_upload(found: Repository, path: str, sha256: str, message: str) -> None:
    body = {"upload": sha256, "folder": path, "message": message, "branch": "" if found.is_empty else found.branch}
    try:
        await calls().post(found.api("commits"), body)
    except OutlastError as error:
        notify_error(error)
        return
    finally:
        await calls().delete(f"/uploads/{sha256}")
    go(found.page(path=path))


def _empty(found: Repository) -> None:
    with panel(say("This repository is empty")):
        if not found.is_mine:
            text(say("Its owner has not put anything into it yet."), "o-quiet", "p")
            return
        text(say("Push what you have:"), "", "p")
        copyable(f"git remote add origin {found.about['clone_url']}\ngit push -u origin main", say("Push commands"))
        text(say("Or begin here:"), "", "p")
        link(found.page("edit", new="1", path="README.md"), say("Write a README"), "o-button")
    if found.is_mine:
        _upload_panel(found, "")
