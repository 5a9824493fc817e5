"""The repositories of a server's hub, asked over its REST API."""

from __future__ import annotations

from typing import Any

from outlast.hub.archives import Form, Pieces
from outlast.hub.names import read_path
from outlast.hub.view import RepositoryView
from outlast.inside.net.connection import Unreachable
from outlast.operations.hubs import Repositories
from outlast.operations.publishing import Published
from outlast.remote.decode import decode
from outlast.remote.refusals import unreachable
from outlast.remote.server import path_of, server_of

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

    def rename(self, path: str, to: str, *, group: bool = False) -> RepositoryView:
        return decode(RepositoryView, server_of(self._settings).ask("POST", f"{self._one(path)}/rename", {"to": to}))

    def fork(self, path: str, to: str, **words: Any) -> RepositoryView:
        words.pop("group", None)
        made = server_of(self._settings).ask("POST", f"{self._one(path)}/fork", {"to": to, **words})
        return decode(RepositoryView, made)

    def remove(self, path: str) -> str:
        return str(server_of(self._settings).ask("DELETE", self._one(path))["removed"])

    def _archive(self, path: str, revision: str, form: Form, lfs: bool) -> tuple[str, Pieces]:
        pieces = self._pieces(path, revision or "HEAD", form, lfs)
        return next(pieces).decode(), pieces

    def _pieces(self, path: str, revision: str, form: Form, lfs: bool) -> Pieces:
        """The commit, then the bytes of its archive."""
        server = server_of(self._settings)
        address = f"{self._one(path)}/archive/{path_of(revision)}.{form}"
        try:
            with server.opened("GET", address, query=[("lfs", str(lfs).lower())]) as response:
                yield response.header("outlast-commit").encode()
                yield from response.pieces()
        except Unreachable as error:
            raise unreachable(server.url, str(error)) from None

    def publish(self, run: str, path: str, **words: Any) -> Published:
        words.pop("group", None)
        body = {"repository": path, **words}
        return decode(Published, server_of(self._settings).ask("POST", f"/runs/{run}/publish", body))

    @staticmethod
    def _one(path: str) -> str:
        owner, name = read_path(path)
        return f"{_PATH}/{owner}/{name}"
