"""Places as people write them, opened; and the small verbs on them: list, measure, read, remove, make."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from outlast.errors import CredentialError, NotFoundError, UsageError
from outlast.inside.errors import InsideError, NotFound
from outlast.inside.move.address import BUCKETS, Address, parse
from outlast.inside.move.base import FILE, FOLDER, Item, Tree
from outlast.inside.move.names import is_below, relative_to, shown
from outlast.inside.move.plan import Place, emptied, identify
from outlast.settings import Settings

_REMOVE_AT_ONCE = 1000


@contextlib.contextmanager
def place_errors() -> Iterator[None]:
    """Within this block errors of the mover come out as errors with an exit code."""
    from outlast.store.registry import translate

    try:
        yield
    except NotFound as error:
        raise NotFoundError(f"there is nothing at {shown(error.key)}") from None
    except InsideError as error:
        raise translate(error) from None


class Places:
    """Opens addresses; those of one bucket or name node share their connections. `notices` says what was guessed."""

    def __init__(self, settings: Settings, profile: str = "") -> None:
        self._home = settings.home
        self._profile = profile
        self._trees: dict[str, Tree] = {}
        self.notices: list[str] = []

    def open(self, text: str | os.PathLike[str]) -> Place:
        address = self.read(os.fspath(text))
        tree = self._trees.get(address.root)
        if tree is None:
            tree = self._trees[address.root] = self._open_tree(address)
        return Place(address, tree)

    def _open_tree(self, address: Address) -> Tree:
        from outlast.inside.move.trees import open_tree

        with place_errors():
            if address.scheme == "file" or self._is_mapped(address):
                return open_tree(address, None, self._maps)
            from outlast.store.profiles import find_access

            return open_tree(address, find_access(address.scheme, address.profile, os.environ, self._home))

    @functools.cached_property
    def _maps(self) -> dict[str, str]:
        from outlast.store.maps import load_maps

        return load_maps(self._home)

    def _is_mapped(self, address: Address) -> bool:
        from outlast.inside.move.mapped import folder_playing

        return folder_playing(address, self._maps) is not None

    def read(self, text: str) -> Address:
        """The address that is meant. `/bucket/path`, as ModelArts forms write it, is one of OBS when it can be."""
        with place_errors():
            address = parse(text)
        if address.scheme == "file":
            return self._in_obs(text) or address
        return address if address.profile else address._replace(profile=self._profile)

    def _in_obs(self, text: str) -> Address | None:
        first, _, _ = text.lstrip("/").partition("/")
        if not text.startswith("/") or text.startswith("//") or not first or Path("/", first).exists():
            return None
        from outlast.store.profiles import find_access

        try:
            address = parse("obs:/" + text)._replace(profile=self._profile)
            if not self._is_mapped(address):
                find_access("obs", self._profile, os.environ, self._home)
        except (CredentialError, InsideError):
            return None
        self.notices.append(f"{text} is read as obs:/{text}, because this machine has no folder /{first}")
        return address


@dataclass(frozen=True)
class Listing:
    """What is at a place. Names are relative to it; a file stands for itself."""

    place: str
    items: list[Item]
    base: str
    notices: list[str] = field(default_factory=list)

    def name(self, item: Item) -> str:
        name = relative_to(item.path, self.base) if is_below(item.path, self.base) else item.path.rpartition("/")[2]
        return name + "/" if item.kind == FOLDER else name


def list_place(settings: Settings, text: str, *, recursive: bool = False, profile: str = "") -> Listing:
    """What lies at an address: a file itself, a folder's children, or with `recursive` everything below it."""
    if text.rstrip("/") in ("s3:", "obs:"):
        return _list_buckets(settings, text.partition(":")[0], profile)
    places = Places(settings, profile)
    place = places.open(text)
    with place_errors():
        item = _find(place)
        if item.kind != FOLDER:
            return Listing(str(place.address), [item], item.path, places.notices)
        found = place.tree.walk(item.path) if recursive else place.tree.children(item.path)
        return Listing(str(place.address), list(found), item.path, places.notices)


def _list_buckets(settings: Settings, kind: str, profile: str) -> Listing:
    from outlast.inside.s3.client import S3Client
    from outlast.store.profiles import find_access

    with place_errors():
        client = S3Client(find_access(kind, profile, os.environ, settings.home))
        return Listing(f"{kind}://", [Item(name, 0, 0, FOLDER) for name in client.list_buckets()], "")


def _find(place: Place) -> Item:
    """The file or folder at a place, links followed; a bucket that holds nothing is an empty folder."""
    address = place.address
    if place.is_local:
        place = place._replace(address=address._replace(path=os.path.realpath(address.path), into=False))
    elif not address.path and place.tree.stat("") is None:
        raise NotFound(str(address))
    return identify(place, single=True)


@dataclass(frozen=True)
class Measured:
    """How much lies at a place, and in each of its children."""

    place: str
    files: int
    size_bytes: int
    children: list[tuple[str, int, int]]  # name, files, bytes
    notices: list[str] = field(default_factory=list)


def measure_place(settings: Settings, text: str, *, profile: str = "") -> Measured:
    """Count the files below an address and add up their sizes."""
    places = Places(settings, profile)
    place = places.open(text)
    children: dict[str, tuple[int, int]] = {}
    with place_errors():
        item = _find(place)
        for each in place.tree.walk(item.path) if item.kind == FOLDER else [item]:
            relative = relative_to(each.path, item.path) if item.kind == FOLDER else ""
            first, slash, _ = relative.partition("/")
            files, size = children.get(first + slash, (0, 0))
            children[first + slash] = (files + (each.kind != FOLDER), size + each.size_bytes)
    rows = [(name, *counts) for name, counts in sorted(children.items()) if name]
    files, size = (sum(count[at] for count in children.values()) for at in (0, 1))
    return Measured(str(place.address), files, size, rows, places.notices)


def read_place(
    settings: Settings, text: str, *, start: int = 0, length: int | None = None, profile: str = ""
) -> Iterator[bytes]:
    """The bytes of a file, in pieces."""
    place = Places(settings, profile).open(text)
    with place_errors():
        item = _find(place)
        if item.kind == FOLDER:
            raise UsageError(f"{place.address} is a folder", hint=f"list it with: outlast ls {place.address}")
        yield from place.tree.read(item.path, start, length)


@dataclass(frozen=True)
class Removal:
    """What will be removed; nothing has been."""

    place: Place
    items: list[Item]
    folders: list[str]

    @property
    def is_whole_bucket(self) -> bool:
        return not self.place.address.path

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in self.items)

    @property
    def file_count(self) -> int:
        return sum(1 for item in self.items if item.kind != FOLDER)


def plan_removal(settings: Settings, text: str, *, recursive: bool = False, profile: str = "") -> Removal:
    """What an address stands for, to be removed. Files of this machine are refused: that is what `rm` is for."""
    place = Places(settings, profile).open(text)
    path = place.address.path
    if place.is_local:
        raise UsageError(f"{shown(text)} is on this machine", hint="use rm for that")
    with place_errors():
        item = _find(place)
        if item.kind == FOLDER and not recursive:
            raise UsageError(f"{place.address} is a folder", hint="remove everything in it with --recursive")
        if not recursive:
            return Removal(place, [item], [])
        items = list(place.tree.walk(path))
    folders = [*emptied(items, [], path), *([path] if path else [])]
    return Removal(place, [*items, item] if item.kind == FILE else items, folders)


def remove_place(removal: Removal) -> int:
    """Remove what was planned and return how many files that were."""
    paths = [item.path for item in removal.items]
    with place_errors():
        for start in range(0, len(paths), _REMOVE_AT_ONCE):
            removal.place.tree.remove(paths[start : start + _REMOVE_AT_ONCE])
        removal.place.tree.remove(removal.folders)
    return removal.file_count


def make_place(settings: Settings, text: str, *, profile: str = "") -> tuple[str, bool]:
    """Make a bucket or a folder; its address, and False when it was there already."""
    place = Places(settings, profile).open(text)
    address = place.address
    with place_errors():
        if address.scheme in BUCKETS and not address.path:
            from outlast.inside.s3.tree import S3Tree

            # A bucket that a folder plays is there as long as it is mapped.
            return str(address), isinstance(place.tree, S3Tree) and place.tree.client.make_bucket()
        there = place.tree.stat(address.path)
        if there is not None and there.kind == FILE:
            raise UsageError(f"{address} is a file")
        if there is None:
            place.tree.make_folder(address.path)
    return str(address._replace(into=True)), there is None
