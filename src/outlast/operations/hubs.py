"""The hub of a home, and the verbs on its repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from outlast.hub.hub import Hub
from outlast.hub.names import read_path
from outlast.hub.view import RepositoryView, full_view, short_view
from outlast.inside.net.retry import Policy
from outlast.inside.stores import is_remote
from outlast.keeper.home import Home
from outlast.model.visitor import Visitor
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

    def remove(self, path: str) -> str:
        """Remove a repository with its history. Bytes that only it had go with the next `clean`."""
        hub = open_hub(self._settings)
        found = hub.find_own(own_visitor(self._settings), *read_path(path))
        hub.remove(found)
        return found.path

    def publish(self, run: str, path: str, **words: Any) -> Published:
        """Make the outputs of a run a model repository with a filled-in model card; nothing is copied.

        `words` are those of `create`; a repository that is there gets a new commit instead.

            client.repositories.publish("mnist", "ann/lenet", licence="mit")
        """
        from outlast.operations.publishing import publish_run

        return publish_run(self._settings, run, path, own_visitor(self._settings), **words)
