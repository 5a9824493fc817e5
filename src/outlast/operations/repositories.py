"""Inputs that are named as in a hub, found in the folder that plays the repository."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.model.visitor import Visitor
from outlast.operations.problems import guess_path
from outlast.settings import Settings
from outlast.store.assets import Asset, read_asset


class Pinned(NamedTuple):
    """Something of a repository, on this machine."""

    path: Path
    name: str  # with its commit, as the run records it; empty for a folder that only plays a repository


class Elsewhere(NamedTuple):
    """Something of a repository in a hub on another machine, which brings it when the run is asked for there."""

    name: str  # of the file or folder
    is_file: bool
    pinned: str

    def __str__(self) -> str:
        return self.pinned


#: Looks an asset up in a hub; None when there is no such repository, or none that may be seen.
InHub = Callable[[Asset, str], Pinned | None]
#: The same for a hub that may be on another machine.
InAnyHub = Callable[[Asset, str], Pinned | Elsewhere | None]
#: Hears, in words, how far something has come.
Tell = Callable[[str], None]


class Assets(NamedTuple):
    """Where names of a hub lead: to the folder that plays a repository, otherwise into a hub."""

    played: Mapping[str, str]
    in_hub: InAnyHub | None = None

    def find(self, asset: Asset, where: str) -> Pinned | Elsewhere:
        if asset.root not in self.played and self.in_hub is not None:
            found = self.in_hub(asset, where)
            if found is not None:
                return found
        return Pinned(find_in_repository(asset, where, self.played), "")


def hub_finder(settings: Settings, visitor: Visitor | None) -> InHub:
    """Looks into the hub of a home for `visitor`; revisions are checked out into the home's cache."""

    def find(asset: Asset, where: str) -> Pinned | None:
        if not (settings.home / "hub").is_dir():
            return None
        from outlast.hub.checkouts import Checkouts
        from outlast.operations.hubs import open_hub, own_visitor

        hub = open_hub(settings)
        kind, _, path = asset.root.partition(":")
        owner, _, name = path.partition("/")
        try:
            repository = hub.find(visitor or own_visitor(settings), owner, name)
        except NotFoundError:
            return None
        if repository.kind != kind:
            raise SpecError(f"{where}: {path} is a {repository.kind}", hint=f"write it as {repository.asset}")
        try:
            commit = hub.bare(repository).commit(asset.revision)
            found = Checkouts(hub, settings.home / "cache" / "assets").bring(repository, commit, asset.path)
        except (NotFoundError, UsageError) as error:
            raise SpecError(f"{where}: {error.message}", hint=error.hint) from None
        inner = f"/{asset.path}" if asset.path else ""
        return Pinned(found, f"{repository.asset}{inner}@{commit}")

    return find


def any_hub(settings: Settings, visitor: Visitor | None, platforms: Iterable[str], tell: Tell | None = None) -> InHub:
    """Looks into the hub of a home, then into the repositories that these platforms keep.

    Those are seen with the accounts of the home, which are not for the visitors of a server. `tell` hears how much of
    what is found there has been brought.
    """
    here = hub_finder(settings, visitor)
    if visitor is not None:
        return here

    def find(asset: Asset, where: str) -> Pinned | None:
        from outlast.operations.hosted import find_hosted

        return here(asset, where) or find_hosted(settings, platforms, asset, where, tell or _silent)

    return find


def _silent(words: str) -> None:
    """Nobody listens."""


def bring_project(settings: Settings, visitor: Visitor, text: str) -> tuple[Path, str]:
    """The folder with the code of a project, `owner/name` or `owner/name@revision`, and its pinned name."""
    where = f"project {text}"
    asset = read_asset(f"project:{text}")
    found = hub_finder(settings, visitor)(asset, where) if asset is not None and not asset.path else None
    if found is None:
        raise SpecError(f"{where}: there is no such project", hint="see them with: outlast repo list --kind project")
    return found


def find_in_repository(asset: Asset, where: str, repositories: Mapping[str, str]) -> Path:
    """The file or folder that an asset means on this machine; `SpecError` says what is missing."""
    if asset.root not in repositories:
        raise SpecError(
            f"{where}: {asset.root} lies in a hub, and no folder plays it here",
            hint="neither the hub of this home nor the platforms of --on show it to you; "
            f"clone it, then: outlast store map {asset.root} ./FOLDER",
        )
    folder = Path(repositories[asset.root])
    if asset.revision:
        raise SpecError(
            f"{where}: the folder {folder} plays {asset.root} as it is, whatever its revision",
            hint=f"check out {asset.revision} there, and leave @{asset.revision} out",
        )
    path = folder / asset.path
    if ".." in PurePosixPath(asset.path).parts:
        raise SpecError(f"{where}: {asset.path} leads out of {asset.root}")
    if not path.exists():
        near = guess_path(asset.path, path) if asset.path else ""
        raise SpecError(f"{where}: there is no {asset.path or 'folder'} in {folder}, which plays {asset.root}{near}")
    return path
