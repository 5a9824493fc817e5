"""Choosing something of the hub for a run: a project as its code, or a file, folder or revision as its input."""

from __future__ import annotations

from functools import partial
from typing import Any

from nicegui import ui

from outlast.errors import OutlastError
from outlast.server.console.calls import calls
from outlast.server.console.hub.repository import api_of
from outlast.server.console.parts import answered, button, choice, dialog, field, text
from outlast.server.console.words import say, say_refusal

_MOST = 200


async def choose_input() -> str:
    """The name of a model or data set, or of a place in it, that the visitor picks; empty when they do not."""
    return await _choose(("model", "dataset", "project"), deep=True)


async def choose_project() -> str:
    """A project and its revision, `owner/name@commit`; empty when they do not."""
    chosen = await _choose(("project",), deep=False)
    return chosen.removeprefix("project:")


async def _choose(kinds: tuple[str, ...], *, deep: bool) -> str:
    with dialog(say("Choose from the hub")) as asked:
        browser = _Browser(asked, kinds, deep=deep)
    await browser.list()
    chosen = await answered(asked)
    return chosen if isinstance(chosen, str) else ""


class _Browser:
    def __init__(self, asked: ui.dialog, kinds: tuple[str, ...], *, deep: bool) -> None:
        self._asked = asked
        self._kinds = kinds
        self._deep = deep
        self._about: dict[str, Any] = {}
        self._at = ""  # commit
        self._path = ""
        self._search = field(say("Search")).props("debounce=300 clearable")
        self._search.on_value_change(self.list)
        self._place = ui.element("div").classes("o-stack")
        with ui.element("div").classes("o-row o-end"):
            button(say("Cancel"), lambda: asked.submit(""))
            self._take = button(say("Choose this"), lambda: asked.submit(self._asset(self._path)), "primary")

    async def list(self) -> None:
        """The repositories that fit the words."""
        self._take.set_visibility(False)
        self._search.set_visibility(True)
        self._place.clear()
        kind = self._kinds[0] if len(self._kinds) == 1 else None
        found = await calls().get("/repositories", search=self._search.value or "", kind=kind, limit=_MOST)
        with self._place, ui.element("div").classes("o-preview o-choices"):
            for each in found["items"]:
                button(
                    f"{say(each['kind'])} {each['path']}", partial(self._open, each["owner"], each["name"]), "o-plain"
                )
            if not found["items"]:
                text(say("No repositories here"), "o-quiet", "p")

    async def _open(self, owner: str, name: str) -> None:
        self._about = await calls().get(api_of(owner, name))
        await self._look(self._about["head"], "")

    async def _look(self, revision: str, path: str) -> None:
        self._place.clear()
        self._search.set_visibility(False)
        with self._place:
            with ui.element("div").classes("o-row"):
                button(say("Back"), self.list)
                text(self._about["path"], "o-strong o-wrap")
                names = [*self._about["branches"], *self._about["versions"]]
                if names:
                    chosen = choice(say("Revision"), names, revision if revision in names else names[0])
                    chosen.on_value_change(lambda event: self._look(str(event.value), ""))
            with ui.element("div").classes("o-preview o-choices"):
                try:
                    await self._list_items(revision, path)
                except OutlastError as error:
                    text(say_refusal(error), "o-refusal", "p").props("role=alert")

    async def _list_items(self, revision: str, path: str) -> None:
        listed = await calls().get(
            api_of(self._about["owner"], self._about["name"], "items"), revision=revision, path=path
        )
        self._at, self._path = listed["commit"], path
        self._take.set_visibility(True)
        if path:
            button("..", partial(self._look, revision, path.rpartition("/")[0]), "o-plain", say("Up"))
        for each in listed["items"][:_MOST]:
            name = each["path"].rpartition("/")[2]
            if each["kind"] == "folder":
                button(f"{name}/", partial(self._look, revision, each["path"]), "o-plain")
            elif self._deep:
                button(name, partial(self._asked.submit, self._asset(each["path"])), "o-plain")
            else:
                text(name, "o-quiet")

    def _asset(self, path: str) -> str:
        inner = f"/{path}" if path and self._deep else ""
        return f"{self._about['kind']}:{self._about['path']}{inner}@{self._at}"
