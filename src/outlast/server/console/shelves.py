"""What lies in a store, as the pages show it: one folder, one page of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from outlast.inside.errors import InsideError
from outlast.inside.move.address import BUCKETS, parse
from outlast.inside.move.base import FOLDER
from outlast.server.console.calls import calls


@dataclass(frozen=True)
class Thing:
    """A file or a folder at an address of its own."""

    name: str
    address: str
    is_folder: bool
    size_bytes: int
    modified_s: float

    @property
    def is_linkable(self) -> bool:
        """Whether its store can sign links to it."""
        return not self.is_folder and self.address.partition("://")[0] in BUCKETS


@dataclass(frozen=True)
class Shelf:
    """A page of a folder; `following` is the cursor of the next one."""

    address: str
    things: tuple[Thing, ...]
    following: str | None
    notices: tuple[str, ...]


async def look(at: str, cursor: str = "") -> Shelf:
    """What lies in the folder at an address; raises what the API refuses."""
    address = at if at.endswith("/") else f"{at}/"
    found = await calls().get("/stores/items", address=address, cursor=cursor or None)
    things = tuple(_thing(address, item) for item in found["items"])
    ordered = sorted(things, key=lambda thing: (not thing.is_folder, thing.name))
    return Shelf(address, tuple(ordered), found["next"], tuple(found["notices"]))


async def known_places() -> list[tuple[str, str]]:
    """Where one can begin: addresses, each with what it is. A profile that is not its kind's own needs a bucket."""
    found = await calls().get("/stores")
    places = [(address.rstrip("/") + "/", "") for address in found["maps"]]
    for access in found["accesses"]:
        named = access["profile"] if access["profile"] != access["kind"] else ""
        places.append((f"{access['kind']}://{named}@" if named else f"{access['kind']}://", access["endpoint"]))
    return list(dict.fromkeys(places))


def crumbs(address: str) -> list[tuple[str, str]]:
    """The way down to a folder: (name, address) of each step."""
    try:
        found = parse(address)
    except InsideError:
        return [(address, address)]
    if found.scheme == "file":
        steps, base, names = [("/", "/")], "/", found.path.strip("/").split("/")
    else:
        base = f"{found.root}/"
        top = [(f"{found.scheme}://", f"{found.scheme}://")] if found.scheme in BUCKETS and not found.profile else []
        steps, names = [*top, (found.authority, base)], found.path.strip("/").split("/")
    for name in filter(None, names):
        base += f"{name}/"
        steps.append((name, base))
    return steps


def page_of(address: str, cursor: str = "") -> str:
    """The page that shows a folder."""
    return "/stores?" + urlencode({"at": address} | ({"cursor": cursor} if cursor else {}))


def download_of(address: str) -> str:
    return "/api/v1/stores/file?" + urlencode({"address": address})


def _thing(base: str, item: dict[str, Any]) -> Thing:
    name = str(item["name"])
    is_folder = name.endswith("/") or item["kind"] == FOLDER
    return Thing(name, base + name, is_folder, int(item["size_bytes"]), float(item["modified_s"]))
