"""Folders that play a bucket, a name node or a hub's repository: scripts and commands that name it work without it."""

from __future__ import annotations

from pathlib import Path

from outlast.errors import NotFoundError, SpecError
from outlast.inside.move.address import Address, parse
from outlast.store.assets import read_asset
from outlast.store.private import PrivateFile
from outlast.store.registry import outside_errors


def load_maps(home: Path) -> dict[str, str]:
    """Address of a bucket or a name node -> the folder that plays it. Creates nothing."""
    return {root: folder for root, folder in load_all(home).items() if "://" in root}


def load_repositories(home: Path) -> dict[str, str]:
    """`model:owner/name` -> the folder that plays that repository."""
    return {root: folder for root, folder in load_all(home).items() if "://" not in root}


def load_all(home: Path) -> dict[str, str]:
    """Everything that a folder plays."""
    return {root: str(folder) for root, folder in sorted(_file(home).read()["maps"].items())}


def save_map(home: Path, root: str, folder: Path) -> str:
    """Let a folder play a place, and return the folder that played it before; empty when none did."""
    with _file(home).changing() as body:
        before = str(body["maps"].get(root, ""))
        body["maps"][root] = str(folder)
    return before


def forget_map(home: Path, root: str) -> str:
    """End a map and return its folder, which stays as it is."""
    known = load_all(home)
    if root not in known:
        mapped = f"mapped: {', '.join(known)}" if known else "nothing is mapped"
        raise NotFoundError(f"no folder plays {root}; {mapped}")
    with _file(home).changing() as body:
        return str(body["maps"].pop(root))


def played_root(text: str) -> str:
    """What a folder can play: the root of a bucket or a name node, or a repository of a hub."""
    asset = read_asset(text)
    if asset is None:
        return read_root(text).root
    if asset.path or asset.revision:
        raise SpecError(f"{text} names something in {asset.root}", hint=f"a folder plays all of it: {asset.root}")
    return asset.root


def read_root(text: str) -> Address:
    """The bucket or name node that an address names, and nothing in it."""
    with outside_errors():
        address = parse(text)
    if address.scheme == "file":
        raise SpecError(
            f"{text} is on this machine already",
            hint="map a bucket or a name node: obs://bucket, s3://bucket, hdfs://host:port",
        )
    if address.profile:
        raise SpecError(f"{text} names a profile, and a folder needs no keys", hint="write it without the part up to @")
    if address.path.strip("/"):
        raise SpecError(f"{text} names something in {address.root}", hint=f"a folder plays all of it: {address.root}")
    return address


def _file(home: Path) -> PrivateFile:
    return PrivateFile(home / "maps.json", ("maps",), "move it away and map again")
