"""Names that repositories had before: they lead to where a repository is now, until somebody takes them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from outlast.hub.names import RepositoryPath
from outlast.hub.repository import Repository
from outlast.store.private import PrivateFile


class Redirects:
    """The old names of one hub, in one small file. By the repository's id: a later one of a name inherits nothing."""

    def __init__(self, root: Path) -> None:
        self._file = PrivateFile(root / ".moved.json", ("names",), "remove that file; old names lead nowhere then")

    def find(self, owner: str, name: str) -> tuple[str, RepositoryPath] | None:
        """The id of the repository that was called so, and what it is called now."""
        found = self._file.read()["names"].get(f"{owner}/{name}")
        return (found["id"], RepositoryPath(found["owner"], found["name"])) if found else None

    def of(self, repository: Repository) -> list[str]:
        """The old names that lead to a repository."""
        return [path for path, each in self._file.read()["names"].items() if each["id"] == repository.id]

    def move(self, old: Repository, new: Repository) -> None:
        """Let all names that the repository had lead to its new one."""
        now = {"id": new.id, "owner": new.owner, "name": new.name}
        with self._file.changing() as body:
            kept = _without(body["names"], new.path)
            body["names"] = {path: now if each["id"] == new.id else each for path, each in kept.items()}
            body["names"][old.path] = now

    def release(self, path: str) -> None:
        """Forget a name: a new repository is called so."""
        if path.lower() in map(str.lower, self._file.read()["names"]):
            with self._file.changing() as body:
                body["names"] = _without(body["names"], path)

    def forget(self, repository: Repository) -> None:
        """Forget all names of a repository that is gone."""
        if any(each["id"] == repository.id for each in self._file.read()["names"].values()):
            with self._file.changing() as body:
                body["names"] = {path: each for path, each in body["names"].items() if each["id"] != repository.id}


def _without(names: dict[str, Any], path: str) -> dict[str, Any]:
    return {each: value for each, value in names.items() if each.lower() != path.lower()}
