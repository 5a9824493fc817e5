"""One repository as its pages know it: what it is, which revision is looked at, and what the visitor may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from nicegui import ui
from starlette.requests import Request

from outlast.server.accounts.people import Actor
from outlast.server.console.access import actor_of
from outlast.server.console.calls import calls, part
from outlast.server.console.theme import link_to
from outlast.server.hub.visits import visitor_of

_SHORT = 10


def style_hub() -> None:
    """The style of these pages, for the current one."""
    ui.add_head_html(link_to("hub.css"))


def api_of(owner: str, name: str, what: str = "") -> str:
    """A route of a repository, as `calls` takes it."""
    return f"/repositories/{part(owner)}/{part(name)}" + (f"/{what}" if what else "")


def page_of(path: str, view: str = "", /, **query: str) -> str:
    """The address of a page about `owner/name`; empty words are left out."""
    said = urlencode({word: value for word, value in query.items() if value})
    return f"/hub/{quote(path)}" + (f"/{view}" if view else "") + (f"?{said}" if said else "")


def short(revision: str) -> str:
    """A commit as people read it; branches and tags as they are."""
    is_commit = len(revision) == 40 and set(revision) <= set("0123456789abcdef")
    return revision[:_SHORT] if is_commit else revision


@dataclass(frozen=True)
class Repository:
    """What the API says of a repository, and the revision that the address names (empty: the default branch)."""

    about: dict[str, Any]
    actor: Actor
    at: str = ""

    @property
    def path(self) -> str:
        return str(self.about["path"])

    @property
    def kind(self) -> str:
        return str(self.about["kind"])

    @property
    def is_mine(self) -> bool:
        visitor = visitor_of(self.actor)
        return visitor.may_write and visitor.is_owner(self.about["owner"], self.about["group"])

    @property
    def is_empty(self) -> bool:
        return self.about["commit"] is None

    @property
    def revision(self) -> str:
        """What is looked at, by name."""
        return self.at or str(self.about["head"])

    @property
    def branch(self) -> str:
        """The branch that a change from this page goes to; empty when a tag or a commit is looked at."""
        is_branch = self.is_empty or self.revision in self.about["branches"]
        return self.revision if is_branch and self.is_mine else ""

    def api(self, what: str = "") -> str:
        return api_of(self.about["owner"], self.about["name"], what)

    def page(self, view: str = "", /, **query: str) -> str:
        """Another page of it at the same revision."""
        return page_of(self.path, view, **{"at": self.at, **query})

    def asset(self, commit: str, path: str = "") -> str:
        """How a run names it, or a file of it."""
        return f"{self.kind}:{self.path}{f'/{path}' if path else ''}@{commit}"

    def raw(self, what: str, /, **query: str) -> str:
        """An address of the API that a browser opens."""
        return f"/api/v1{self.api(what)}" + (f"?{urlencode(query)}" if query else "")


async def open_repository(request: Request, owner: str, name: str) -> Repository:
    """The repository that a page is about; `NotFoundError` alike for none and for a private one of others."""
    actor = await actor_of(request)
    about = await calls().get(api_of(owner, name))
    return Repository(about, actor, request.query_params.get("at", "").strip())
