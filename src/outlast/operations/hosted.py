"""Inputs named as in a hub that a platform keeps itself, such as Xihe: brought home once, pinned to a commit.

The platform passes such an input by its name where it still can. The copy here is for every other case: the repository
has moved on, or the next stint is somewhere else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.hub.bare import Bare
from outlast.hub.checkouts import Checkouts
from outlast.hub.pointers import Pointer
from outlast.hub.repository import Repository
from outlast.model.quantities import format_size
from outlast.operations.repositories import Pinned, Tell
from outlast.platforms.base import Hosts
from outlast.settings import Settings
from outlast.store.assets import Asset

#: How often it is looked how much has come.
_LOOK_S = 0.5


def find_hosted(
    settings: Settings, platforms: Iterable[str], asset: Asset, where: str, tell: Tell = lambda words: None
) -> Pinned | None:
    """What a name means in the repositories of these platforms, in their order, with the accounts of this home.

    `tell` hears how much has come, from a thread of its own.
    """
    found = (_find(settings, name, asset, where, tell) for name in platforms)
    return next((each for each in found if each is not None), None)


def _find(settings: Settings, name: str, asset: Asset, where: str, tell: Tell) -> Pinned | None:
    from outlast.platforms.registry import create, is_known

    if name == "local" or not is_known(name, settings):
        return None
    platform = create(name, settings)
    if not isinstance(platform, Hosts):
        return None
    try:
        commit = platform.find_commit(asset)
        if commit is None:
            return None
        found = _bring(settings.home / "cache", name, platform, asset, commit, tell)
    except (NotFoundError, UsageError) as error:
        raise SpecError(f"{where}: {error.message}", hint=error.hint) from None
    inner = f"/{asset.path}" if asset.path else ""
    return Pinned(found, f"{asset.root}{inner}@{commit}")


def _bring(cache: Path, name: str, platform: Hosts, asset: Asset, commit: str, tell: Tell) -> Path:
    kind, _, path = asset.root.partition(":")
    owner, _, called = path.partition("/")
    own = hashlib.sha256(f"{name} {asset.root}".encode()).hexdigest()[:16]
    repository = Repository(id=own, owner=owner, name=called, kind=kind)  # type: ignore[arg-type]
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix="asset-", dir=cache) as folder:
        words = f"bringing {asset.root} from {name}"
        target = Path(folder, "repository.git")
        brought = _Brought(platform, asset, commit, target, lambda: _followed(target, words, tell))
        return Checkouts(brought, cache / "assets").bring(repository, commit, asset.path)


Following = Callable[[], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def _followed(folder: Path, words: str, tell: Tell) -> Iterator[None]:
    """Tell how much lies in a folder while something fills it: git says nothing that could be passed on."""
    over = threading.Event()

    def follow() -> None:
        while not over.wait(_LOOK_S):
            tell(f"{words}: {format_size(_size_below(folder))}")

    tell(words)
    thread = threading.Thread(target=follow, name="outlast-following", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _size_below(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # what is whole gets another name just now
                total += os.stat(os.path.join(place, name)).st_size  # noqa: PTH116, PTH118 - thousands of files
    return total


class _Brought:
    """One commit of a platform's repository, fetched when it is first looked at, and its LFS objects likewise."""

    def __init__(
        self, platform: Hosts, asset: Asset, commit: str, folder: Path, following: Following
    ) -> None:  # fmt: skip
        self._platform = platform
        self._following = following
        self._named = (asset, commit, folder)
        self._objects: _Objects | None = None

    def bare(self, repository: Repository) -> Bare:
        folder = self._named[2]
        if not folder.exists():
            with self._following():
                self._platform.fetch_commit(*self._named)
        return Bare(folder)

    def objects(self, repository: Repository) -> _Objects:
        if self._objects is None:
            with self._following():
                self._platform.fetch_objects(*self._named)
            self._objects = _Objects(self._named[2] / "lfs" / "objects")
        return self._objects


class _Objects:
    """LFS objects as git-lfs lays them out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, pointer: Pointer) -> bool:
        place = self._place(pointer)
        return place.is_file() and place.stat().st_size == pointer.size_bytes

    def fetch(self, pointer: Pointer, target: str) -> None:
        """Git-lfs has compared the digest already, as it does with all that it downloads."""
        place = self._place(pointer)
        try:
            os.link(place, target)
        except OSError:  # another file system
            shutil.copyfile(place, target)

    def _place(self, pointer: Pointer) -> Path:
        return self._folder / pointer.oid[:2] / pointer.oid[2:4] / pointer.oid
