"""Letting folders play buckets, name nodes and repositories, and taking that back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import SpecError
from outlast.keeper.home import Home
from outlast.settings import Settings
from outlast.store.maps import forget_map, load_all, played_root, save_map


@dataclass(frozen=True)
class StoreMap:
    """A folder that plays a bucket, a name node or a hub's repository."""

    address: str
    folder: str
    exists: bool
    made: bool = False  # the folder is new
    before: str = ""  # the folder that played it until now


def map_store(settings: Settings, text: str, folder: str | os.PathLike[str]) -> StoreMap:
    """Let a folder play the bucket, name node or repository of an address. The folder is made if it is missing."""
    root = played_root(text)
    path = _folder(os.fspath(folder))
    home = Home(settings.home).path
    made = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"cannot make the folder {path}: {(error.strerror or str(error)).lower()}") from None
    before = save_map(home, root, path)
    return StoreMap(root, str(path), exists=True, made=made, before="" if before == str(path) else before)


def unmap_store(settings: Settings, text: str) -> StoreMap:
    """End a map; the folder stays as it is."""
    root = played_root(text)
    folder = forget_map(settings.home, root)
    return StoreMap(root, folder, Path(folder).is_dir())


def list_maps(settings: Settings) -> list[StoreMap]:
    """Every map, by address."""
    return [StoreMap(root, folder, Path(folder).is_dir()) for root, folder in load_all(settings.home).items()]


def _folder(text: str) -> Path:
    """The folder as an absolute path, links followed; `SpecError` if it can play no bucket."""
    if "://" in text:
        raise SpecError(f"{text} is no folder of this machine", hint="give a path, like ./bucket")
    if not text or "\0" in text:
        raise SpecError(f"{text!r} is no folder", hint="give a path, like ./bucket")
    path = Path(os.path.realpath(Path(text).expanduser()))
    if path.exists() and not path.is_dir():
        raise SpecError(f"{path} is a file", hint="give a folder, like ./bucket")
    if path == Path("/"):
        raise SpecError("the root of this machine cannot play a bucket", hint="give a folder, like ./bucket")
    return path
