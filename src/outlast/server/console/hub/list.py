"""The list of repositories: by kind, owner, tag and words, all of it said in the address."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from nicegui import ui
from starlette.requests import Request

from outlast.server.accounts.people import Role
from outlast.server.console import formats
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls
from outlast.server.console.hub.creating import ask_repository
from outlast.server.console.hub.head import ICONS, badges, tags
from outlast.server.console.hub.repository import page_of, style_hub
from outlast.server.console.parts import button, style_sheet, text, told
from outlast.server.console.shell import frame, heading, link
from outlast.server.console.words import say

_ROWS = 30
_KINDS = {"": "Everything", "project": "Projects", "model": "Models", "dataset": "Data sets"}


@dataclass(frozen=True)
class Wanted:
    """Which repositories a page shows."""

    kind: str = ""
    search: str = ""
    owner: str = ""
    tag: str = ""
    cursor: str = ""

    @classmethod
    def of(cls, request: Request) -> Wanted:
        asked = request.query_params
        kind = asked.get("kind", "")
        words = {name: asked.get(name, "").strip() for name in ("owner", "tag", "cursor")}
        return cls(kind=kind if kind in _KINDS else "", search=asked.get("q", "").strip(), **words)

    def address(self, **changes: str) -> str:
        """The page with something changed; another choice begins at its first page."""
        new = dataclasses.replace(self, **{"cursor": "", **changes})
        parts = {"kind": new.kind, "q": new.search, "owner": new.owner, "tag": new.tag, "cursor": new.cursor}
        said = urlencode({name: value for name, value in parts.items() if value})
        return f"/hub?{said}" if said else "/hub"

    def query(self) -> dict[str, Any]:
        """As the API takes it."""
        said = {"kind": self.kind, "search": self.search, "owner": self.owner, "tag": self.tag, "cursor": self.cursor}
        return {"limit": _ROWS, **{name: value for name, value in said.items() if value}}


async def hub_page(request: Request) -> None:
    """The repositories that the visitor may see."""
    actor = await actor_of(request)
    wanted = Wanted.of(request)
    with frame("Hub", "/hub", actor, heading=False):
        style_sheet()
        style_hub()
        with ui.element("div").classes("o-row o-page-head"):
            heading(say("Hub"), 1, "o-grow")
            if actor.role.reaches(Role.MEMBER):
                button(say("New repository"), lambda: ask_repository(wanted.kind or "project"), "primary")
        _kinds(wanted)
        _search_bar(wanted)
        with told():
            found = await calls().get("/repositories", **wanted.query())
            _show(found["items"])
            _turn_pages(wanted, found["next"])


def _kinds(wanted: Wanted) -> None:
    with ui.element("nav").classes("o-tabs") as kinds:
        kinds._props["aria-label"] = say("Kinds")
        for kind, words in _KINDS.items():
            entry = link(wanted.address(kind=kind), say(words), "o-tab")
            if kind == wanted.kind:
                entry.props("aria-current=page")


def _search_bar(wanted: Wanted) -> None:
    with ui.element("form").props("method=get action=/hub role=search").classes("o-row o-search"):
        if wanted.kind:
            ui.element("input").props(f"type=hidden name=kind value={wanted.kind}")
        _input("q", say("Words in name, description or tags"), wanted.search, "o-grow")
        _input("owner", say("Owner"), wanted.owner)
        _input("tag", say("Tag"), wanted.tag)
        submit = ui.element("button").props("type=submit").classes("o-button")
        submit._text = say("Search")
    if wanted.search or wanted.owner or wanted.tag:
        link(wanted.address(search="", owner="", tag=""), say("Show all"))


def _input(name: str, label: str, value: str, classes: str = "") -> None:
    made = ui.element("input").props(f"name={name} type=search maxlength=100").classes(f"o-input {classes}")
    made._props["^value"] = value  # as an attribute: what is typed survives updates of the page
    made._props["aria-label"] = made._props["placeholder"] = label


def _show(items: list[dict[str, Any]]) -> None:
    if not items:
        with ui.element("div").classes("o-empty"):
            text(say("No repositories here"), "o-strong", "p")
            text(say("Make one here, or with: outlast repo create"), "o-quiet", "p")
        return
    with ui.element("ul").classes("o-repositories"):
        for each in items:
            with ui.element("li").classes("o-panel"):
                _entry(each)


def _entry(about: dict[str, Any]) -> None:
    with ui.element("div").classes("o-row"):
        ui.icon(ICONS[about["kind"]]).classes("o-icon o-bare").props("aria-hidden=true")
        link(page_of(about["path"]), about["path"], "o-strong o-wrap")
        badges(about)
    if about["description"]:
        text(about["description"], "o-wrap", "p")
    with ui.element("div").classes("o-row o-small o-quiet"):
        text(say("made {when}", when=formats.ago(about["created_at"])))
        if about["licence"]:
            text(about["licence"])
        tags(about)


def _turn_pages(wanted: Wanted, following: str | None) -> None:
    if not following and not wanted.cursor:
        return
    with ui.element("nav").classes("o-row o-end o-pages").props(f'aria-label="{say("Pages")}"'):
        if wanted.cursor:
            link(wanted.address(), say("First page"), "o-button")
        if following:
            link(wanted.address(cursor=following), say("Next page"), "o-button")
