"""The history of a repository or of one file, and one commit with what it changed."""

from __future__ import annotations

from nicegui import ui
from starlette.requests import Request

from outlast.server.console import formats
from outlast.server.console.calls import calls, part
from outlast.server.console.hub.diffs import changes_html
from outlast.server.console.hub.files import revision_choice, way
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import Repository, open_repository, short
from outlast.server.console.parts import files, panel, text, told
from outlast.server.console.shell import heading, link
from outlast.server.console.words import say

_ROWS = 30


async def history_page(request: Request, owner: str, name: str) -> None:
    """The steps that led to a revision, newest first; `?path=` keeps those that touched it."""
    found = await open_repository(request, owner, name)
    asked = request.query_params
    path, skip = asked.get("path", "").strip("/"), _count(asked.get("skip", ""))
    with repository_frame(found, "history"), told():
        if found.is_empty:
            text(say("There is no history yet."), "o-empty", "p")
            return
        with ui.element("div").classes("o-row"):
            revision_choice(found, "history", path)
            way(found, path)
        log = await calls().get(found.api("commits"), revision=found.at, path=path, limit=_ROWS + 1, skip=skip)
        with ui.element("ul").classes("o-commits"):
            for each in log["items"][:_ROWS]:
                with ui.element("li"):
                    _commit(found, each)
        _turn_pages(found, path, skip, len(log["items"]) > _ROWS)


def _commit(found: Repository, each: dict[str, str]) -> None:
    with ui.element("div").classes("o-grow"):
        link(
            found.page(f"commit/{each['id']}"),
            each["message"].partition("\n")[0] or short(each["id"]),
            "o-strong o-wrap",
        )
        with ui.element("div").classes("o-quiet o-small"):
            text(f"{each['author']} · {formats.ago(each['at'])}").props(f'title="{formats.when(each["at"])}"')
    look = say("Files at {revision}", revision=short(each["id"]))
    entry = link(Repository(found.about, found.actor, each["id"]).page(), short(each["id"]), "o-mono")
    entry._props["aria-label"] = look


def _turn_pages(found: Repository, path: str, skip: int, has_more: bool) -> None:
    if not skip and not has_more:
        return
    with ui.element("nav").classes("o-row o-end o-pages").props(f'aria-label="{say("Pages")}"'):
        if skip:
            newer = str(max(0, skip - _ROWS) or "")
            link(found.page("history", path=path, skip=newer), say("Newer"), "o-button")
        if has_more:
            link(found.page("history", path=path, skip=str(skip + _ROWS)), say("Older"), "o-button")


async def commit_page(request: Request, owner: str, name: str, commit: str) -> None:
    """Who changed what, with the lines."""
    found = await open_repository(request, owner, name)
    seen = await calls().get(found.api(f"commits/{part(commit)}"))
    with repository_frame(found, "history"):
        title, _, more = seen["message"].partition("\n")
        with panel():
            heading(title or short(seen["id"]), 2).classes("o-wrap")
            if more.strip():
                text(more.strip(), "o-plain-text", "pre")
            with ui.element("div").classes("o-row o-quiet"):
                text(f"{seen['author']} · {formats.when(seen['at'])}")
                text(seen["id"], "o-mono o-wrap")
                for parent in seen["parents"]:
                    link(found.page(f"commit/{parent}"), say("before: {revision}", revision=short(parent)))
            link(Repository(found.about, found.actor, seen["id"]).page(), say("Look at the files"), "o-button")
        added, removed = (sum(each[word] for each in seen["files"]) for word in ("added", "removed"))
        text(f"{files(len(seen['files']) + seen['left_off'])}, +{added}, −{removed}", "o-quiet", "p")
        ui.html(changes_html(seen["files"]), sanitize=False)
        if seen["left_off"]:
            words = say("{count} more files are not shown; clone the repository to see them.", count=seen["left_off"])
            text(words, "o-quiet", "p")


def _count(words: str) -> int:
    return min(int(words), 10**6) if words.isdecimal() and words.isascii() and len(words) < 8 else 0
