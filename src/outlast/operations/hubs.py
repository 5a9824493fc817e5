"""The hub of a home, and the verbs on its repositories."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.hub.archives import Form, Pieces, open_archive, split_form
from outlast.hub.hub import Hub
from outlast.hub.names import read_path
from outlast.hub.view import RepositoryView, full_view, short_view
from outlast.inside.net.retry import Policy
from outlast.inside.stores import is_remote
from outlast.keeper.home import Home
from outlast.model.visitor import Visitor
from outlast.operations.downloads import Downloaded, Progress, write_whole
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.publishing import Published


def open_hub(settings: Settings) -> Hub:
    """The repositories of a home; their LFS objects are in the store of its runs."""
    home = Home(settings.home)
    if not is_remote(settings.store):
        from outlast.store.registry import open_store

        return Hub(home.path / "hub", open_store(settings.store))
    from outlast.keeper.accesses import Accesses

    return Hub(home.path / "hub", Accesses(home).open(settings.store, policy=Policy()))


def own_visitor(settings: Settings) -> Visitor:
    """Whoever uses this home from the terminal: its files are theirs, so they see everything."""
    return Visitor(settings.user, sees_all=True)


class Repositories:
    """The verbs on repositories of the hub. `path` is `owner/name`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def create(self, path: str, kind: str, **words: Any) -> RepositoryView:
        """Make an empty repository; `words` are visibility, description, tags, licence, and whether a `group` owns it.

        client.repositories.create("ann/lenet", "model", visibility="public", tags=("vision",))
        """
        hub = open_hub(self._settings)
        return full_view(hub, hub.create(own_visitor(self._settings), path, kind, **words))

    def list(self, *, kind: str | None = None, owner: str | None = None, search: str = "") -> list[RepositoryView]:
        """Those that may be seen, by name."""
        found = open_hub(self._settings).list(own_visitor(self._settings))
        return [short_view(each) for each in found if each.fits(kind, owner, search)]

    def get(self, path: str) -> RepositoryView:
        """Everything about one: branches, versions, how much it takes."""
        hub = open_hub(self._settings)
        return full_view(hub, hub.find(own_visitor(self._settings), *read_path(path)))

    def change(self, path: str, **words: Any) -> RepositoryView:
        """Give it another visibility, description, licence or other tags."""
        hub = open_hub(self._settings)
        found = hub.find_own(own_visitor(self._settings), *read_path(path))
        return full_view(hub, hub.change(found, **words))

    def rename(self, path: str, to: str, *, group: bool = False) -> RepositoryView:
        """Give it another name, `to`; the old one leads to it until it is taken again. `group`: a new owner is one."""
        hub, visitor = open_hub(self._settings), own_visitor(self._settings)
        found = hub.find_own(visitor, *read_path(path))
        return full_view(hub, hub.rename(visitor, found, to, group=group))

    def fork(self, path: str, to: str, **words: Any) -> RepositoryView:
        """Make `to` with all that a repository has now; `words` are those of `create`."""
        from outlast.hub.forking import fork

        hub, visitor = open_hub(self._settings), own_visitor(self._settings)
        return full_view(hub, fork(hub, visitor, hub.find(visitor, *read_path(path)), to, **words))

    def remove(self, path: str) -> str:
        """Remove a repository with its history. Bytes that only it had go with the next `clean`."""
        hub = open_hub(self._settings)
        found = hub.find_own(own_visitor(self._settings), *read_path(path))
        hub.remove(found)
        return found.path

    def download(
        self, path: str, target: Path, *, revision: str = "", lfs: bool = True, progress: Progress | None = None
    ) -> Downloaded:
        """Write a revision as a `.zip` or a `.tar.gz`, by the ending of `target`; nothing is there unless it is whole.

        Files in LFS come with their content, without `lfs` as git's pointers.

            client.repositories.download("ann/lenet", Path("lenet.zip"), revision="v1")
        """
        form = split_form(target.name)[1]
        commit, pieces = self._archive(path, revision, form, lfs)
        with contextlib.closing(pieces):
            size_bytes = write_whole(target, pieces, progress)
        return Downloaded(path, commit, str(target), size_bytes)

    def _archive(self, path: str, revision: str, form: Form, lfs: bool) -> tuple[str, Pieces]:
        hub = open_hub(self._settings)
        found = hub.find(own_visitor(self._settings), *read_path(path))
        return open_archive(hub, found, revision, form, lfs=lfs)

    def publish(self, run: str, path: str, **words: Any) -> Published:
        """Make the outputs of a run a model repository with a filled-in model card; nothing is copied.

        `words` are those of `create`; a repository that is there gets a new commit instead.

            client.repositories.publish("mnist", "ann/lenet", licence="mit")
        """
        from outlast.operations.publishing import publish_run

        return publish_run(self._settings, run, path, own_visitor(self._settings), **words)
