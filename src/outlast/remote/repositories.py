"""The repositories of a server's hub, asked over its REST API."""

from __future__ import annotations

from typing import Any

from outlast.hub.names import read_path
from outlast.hub.view import RepositoryView
from outlast.operations.hubs import Repositories
from outlast.operations.publishing import Published
from outlast.remote.decode import decode
from outlast.remote.server import server_of

_PATH = "/repositories"


class ServedRepositories(Repositories):
    """The same verbs, at a server. Who owns what is its own business: `group` need not be said."""

    def create(self, path: str, kind: str, **words: Any) -> RepositoryView:
        owner, name = read_path(path)
        words.pop("group", None)
        made = server_of(self._settings).ask("POST", _PATH, {"owner": owner, "name": name, "kind": kind, **words})
        return decode(RepositoryView, made)

    def list(self, *, kind: str | None = None, owner: str | None = None, search: str = "") -> list[RepositoryView]:
        found: list[RepositoryView] = []
        cursor: str | None = ""
        while cursor is not None:
            query = [("kind", kind), ("owner", owner), ("search", search), ("cursor", cursor)]
            page = server_of(self._settings).ask("GET", _PATH, query=query, again=True)
            found += [decode(RepositoryView, each) for each in page["items"]]
            cursor = page["next"]
        return found

    def get(self, path: str) -> RepositoryView:
        return decode(RepositoryView, server_of(self._settings).ask("GET", self._one(path), again=True))

    def change(self, path: str, **words: Any) -> RepositoryView:
        return decode(RepositoryView, server_of(self._settings).ask("PATCH", self._one(path), words))

    def remove(self, path: str) -> str:
        return str(server_of(self._settings).ask("DELETE", self._one(path))["removed"])

    def publish(self, run: str, path: str, **words: Any) -> Published:
        words.pop("group", None)
        body = {"repository": path, **words}
        return decode(Published, server_of(self._settings).ask("POST", f"/runs/{run}/publish", body))

    @staticmethod
    def _one(path: str) -> str:
        owner, name = read_path(path)
        return f"{_PATH}/{owner}/{name}"
