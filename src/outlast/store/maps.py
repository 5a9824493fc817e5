"""Folders that play a bucket or a name node, so that scripts and commands that name it work without it."""

from __future__ import annotations

from pathlib import Path

from outlast.errors import NotFoundError, SpecError
from outlast.inside.move.address import Address, parse
from outlast.store.private import PrivateFile
from outlast.store.registry import outside_errors


def load_maps(home: Path) -> dict[str, str]:
    """Address of a bucket or a name node -> the folder that plays it. Creates nothing."""
    return {root: str(folder) for root, folder in sorted(_file(home).read()["maps"].items())}


def save_map(home: Path, root: str, folder: Path) -> str:
    """Let a folder play a place, and return the folder that played it before; empty when none did."""
    with _file(home).changing() as body:
        before = str(body["maps"].get(root, ""))
        body["maps"][root] = str(folder)
    return before


def forget_map(home: Path, root: str) -> str:
    """End a map and return its folder, which stays as it is."""
    known = load_maps(home)
    if root not in known:
        mapped = f"mapped: {', '.join(known)}" if known else "nothing is mapped"
        raise NotFoundError(f"no folder plays {root}; {mapped}")
    with _file(home).changing() as body:
        return str(body["maps"].pop(root))


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
