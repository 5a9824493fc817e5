"""The frame of a repository's pages: what it is, its views, and what can be done with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from nicegui import ui

from outlast.server.accounts.people import Role
from outlast.server.console.hub.moving import ask_fork
from outlast.server.console.hub.repository import Repository, page_of, style_hub
from outlast.server.console.parts import button, style_sheet, text
from outlast.server.console.shell import frame, heading, link
from outlast.server.console.words import say

ICONS = {"project": "code", "model": "hub", "dataset": "dataset"}


@contextlib.contextmanager
def repository_frame(found: Repository, current: str) -> Iterator[ui.element]:
    """Everything around one view; `current` is its part of the address."""
    with frame(found.path, "/hub", found.actor, heading=False):
        style_sheet()
        style_hub()
        _title(found)
        _views(found, current)
        with ui.element("section").classes("o-view") as section:
            section._props["aria-label"] = say(_texts(found)[current]) if current in _texts(found) else found.path
            yield section


def badges(about: dict[str, Any]) -> None:
    """Kind and visibility of a repository, as small signs."""
    text(say(str(about["kind"])), "o-tag")
    text(say(str(about["visibility"])), f"o-tag o-{about['visibility']}")


def tags(found: dict[str, Any]) -> None:
    """The tags of a repository; each leads to the others that have it."""
    for each in found["tags"]:
        link(f"/hub?{urlencode({'tag': each})}", each, "o-tag o-linked")


def _title(found: Repository) -> None:
    about = found.about
    with ui.element("div").classes("o-run-head"):
        with ui.element("div").classes("o-grow"):
            with ui.element("div").classes("o-row o-run-name"):
                ui.icon(ICONS[found.kind]).classes("o-icon o-bare").props("aria-hidden=true")
                with heading("", 1).classes("o-path"):
                    link(f"/hub?{urlencode({'owner': about['owner']})}", about["owner"])
                    text(" / ", "o-quiet")
                    link(page_of(found.path), about["name"])
                badges(about)
            if about["description"]:
                text(about["description"], "o-wrap", "p")
            with ui.element("div").classes("o-row o-small"):
                if about["forked_from"]:
                    text(say("forked from {name}", name=about["forked_from"]), "o-quiet")
                if about["licence"]:
                    text(say("Licence {name}", name=about["licence"]), "o-quiet")
                tags(about)
        with ui.element("div").classes("o-row"):
            _actions(found)


def _actions(found: Repository) -> None:
    if found.is_empty or not found.actor.role.reaches(Role.MEMBER):
        return
    button(say("Fork"), lambda: ask_fork(found))
    revision = found.at or found.about["commit"]
    if found.kind == "project":
        link(
            f"/new?{urlencode({'project': f'{found.path}@{revision}'})}", say("Train this project"), "o-button primary"
        )
    else:
        link(f"/new?{urlencode({'input': found.asset(revision)})}", say("Use in a run"), "o-button primary")


def _texts(found: Repository) -> dict[str, str]:
    views = {"": "Files", "history": "Commits", "runs": "Runs"}
    if found.kind == "project":
        views["trainings"] = "Training instances"
    if found.is_mine:
        views["settings"] = "Settings"
    return views


def _views(found: Repository, current: str) -> None:
    with ui.element("nav").classes("o-tabs") as tabs:
        tabs._props["aria-label"] = say("Views")
        for view, words in _texts(found).items():
            address = found.page(view) if view in ("", "history") else page_of(found.path, view)
            entry = link(address, say(words), "o-tab")
            if view == current:
                entry.props("aria-current=page")
