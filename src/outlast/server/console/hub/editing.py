"""Writing a small text of a repository in the browser: a new file, or another content of one that is there."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments
from starlette.requests import Request

from outlast.errors import UsageError
from outlast.server.console.calls import calls
from outlast.server.console.hub.head import repository_frame
from outlast.server.console.hub.repository import Repository, open_repository
from outlast.server.console.parts import confirmed, field, go, spoken, text, told
from outlast.server.console.shell import heading, link
from outlast.server.console.words import say
from outlast.server.refusals import NotAllowed

#: The text stays in the browser until it is saved: a field that tells of each letter would send all of it each time.
_TAKE = "() => emit(document.getElementById('o-text').value)"


async def edit_page(request: Request, owner: str, name: str) -> None:
    """`?path=` is the file; with `new` it is made, in that folder if it is one."""
    found = await open_repository(request, owner, name)
    if not found.branch:
        raise NotAllowed(f"{found.path} cannot be changed here", hint="choose a branch of a repository of yours")
    path = request.query_params.get("path", "").strip("/")
    is_new = "new" in request.query_params
    with repository_frame(found, ""), told():
        seen: dict[str, Any] = {"source": ""}
        if not is_new:
            seen = await calls().get(found.api("preview"), path=path, revision=found.at)
            if not seen["editable"]:
                raise UsageError(f"{path} is no small text", hint="clone the repository, or upload it again")
        _editor(found, path, str(seen["source"]), is_new)


def _editor(found: Repository, path: str, words: str, is_new: bool) -> None:
    heading(say("New file") if is_new else say("Edit {name}", name=path), 2)
    start = path if not is_new or not path or "." in path.rpartition("/")[2] else f"{path}/"
    place = field(say("Path"), start, hint=say("like configs/base.yaml"))
    if not is_new:
        place.props("readonly")
    area = text(words, "o-editor", "textarea").props("id=o-text spellcheck=false rows=24 maxlength=204800")
    area._props["aria-label"] = say("Content")
    message = field(say("What is this change?"), hint=say("default: the names of the files"))
    with ui.element("div").classes("o-row"):
        save = ui.element("button").classes("o-button primary").props("type=button")
        save._text = say("Save as a commit")
        save.on("click", partial(_take, found, place, message), js_handler=_TAKE)
        link(found.page(path=path), say("Cancel"), "o-button")
        text(say("goes to {branch}", branch=found.branch), "o-quiet")


async def _take(found: Repository, place: ui.input, message: ui.input, event: GenericEventArguments) -> None:
    await spoken(lambda: _save(found, (place.value or "").strip(), message.value or "", str(event.args)))()


async def _save(found: Repository, path: str, message: str, words: str) -> None:
    body = {
        "files": [{"path": path, "text": words}], "message": message, "branch": found.branch,
        "parent": found.about["branches"].get(found.branch, ""),
    }  # fmt: skip
    await calls().post(found.api("commits"), body)
    go(found.page(path=path))


async def remove(found: Repository, path: str) -> None:
    """Take a file or a folder away, after a question; the history keeps it."""
    about = say("The newest revision will not have it any more; the history keeps it.")
    if await confirmed(say("Delete {name}?", name=path), about, say("Delete")):
        await calls().post(found.api("commits"), {"remove": [path], "branch": found.branch})
        go(found.page(path=path.rpartition("/")[0]))
