"""Who was called what, and when: runs record the name that a repository had, and names are given again.

Only names that changed hands are written down. Every other one belongs to whoever has it, and always did.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from outlast.hub.repository import Repository
from outlast.inside.records import now_text
from outlast.store.assets import read_asset
from outlast.store.private import PrivateFile

_NOBODY = ""


class Tenure(NamedTuple):
    """A time in which one repository had a name. Both ends are as records write moments; empty: not known, or open."""

    asset: str  # `model:owner/name`
    since: str = ""
    until: str = ""

    def holds(self, moment: str) -> bool:
        return self.since <= moment and (not self.until or moment < self.until)

    def covers(self, asset: str, moment: str) -> bool:
        """Whether something that was named at that moment, `model:owner/name/file@commit`, is from here."""
        named = read_asset(asset)
        return named is not None and named.root == self.asset and self.holds(moment)


class Tenures:
    """The names of one hub that changed hands: for each, who had it from when on."""

    def __init__(self, root: Path) -> None:
        remedy = "remove that file; runs from before a renaming are then not shown any more"
        self._file = PrivateFile(root / ".names.json", ("names",), remedy)

    def of(self, repository: Repository, old_paths: Iterable[str] = ()) -> list[Tenure]:
        """Every name that a repository has and had, by which its runs are found; `old_paths` lead to it."""
        names = self._file.read()["names"]
        found = [
            Tenure(f"{repository.kind}:{path}", each["since"], following["since"])
            for path, held in names.items()
            for each, following in zip(held, [*held[1:], {"since": ""}], strict=True)
            if each["id"] == repository.id
        ]
        unwritten = [path for path in (repository.path, *old_paths) if path not in names]
        return found + [Tenure(f"{repository.kind}:{path}") for path in unwritten]

    def begin(self, repository: Repository) -> None:
        """A new repository: it inherits nothing from others that were called so."""
        if repository.path in self._file.read()["names"]:
            with self._file.changing() as body:
                body["names"].setdefault(repository.path, []).append(_from_now(repository.id))

    def change(self, old: Repository, new: Repository) -> None:
        """A repository gets another name. The old one stays its own until somebody takes it."""
        with self._file.changing() as body:
            body["names"].setdefault(old.path, [{"since": "", "id": old.id}])
            body["names"].setdefault(new.path, []).append(_from_now(new.id))

    def end(self, repository: Repository) -> None:
        """A repository is gone: what it was called is nobody's until it is taken again."""
        with self._file.changing() as body:
            body["names"].setdefault(repository.path, [{"since": "", "id": _NOBODY}])
            for held in body["names"].values():
                for each in held:
                    each["id"] = _NOBODY if each["id"] == repository.id else each["id"]


def _from_now(id: str) -> dict[str, Any]:
    return {"since": now_text(), "id": id}
