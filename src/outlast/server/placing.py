"""Changing what lies in stores on behalf of somebody far away: bring, write, rename."""

from __future__ import annotations

import posixpath
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from outlast.errors import NotFoundError, StoreError, UsageError
from outlast.inside.move.base import FOLDER, Item
from outlast.inside.move.names import is_below, join, relative_to
from outlast.inside.move.plan import Options, Place
from outlast.operations.places import Places, place_errors
from outlast.operations.transfer import carry_out, failure_words, plan_copy
from outlast.server.refusals import Conflict, TooLarge
from outlast.settings import Settings

#: What is sent in one request; larger files go by parts.
MOST_BYTES = 1 << 30


def send_upload(settings: Settings, content: Path, address: str) -> dict[str, Any]:
    """Copy an uploaded file or folder to an address; what is there already is skipped."""
    source = f"{content}/" if content.is_dir() else str(content)
    outcome = carry_out(plan_copy(settings, [source], address, Options()))
    if outcome.failures:
        raise StoreError(failure_words(outcome), hint="the same request does the rest")
    return {"address": address, "files": outcome.files, "size_bytes": outcome.size_bytes}


async def write_file(settings: Settings, address: str, body: AsyncIterator[bytes], cache: Path) -> int:
    """Write what is sent to a file; it appears whole or not at all. Returns how many bytes came."""
    place = await run_in_threadpool(Places(settings).open, address)
    if place.address.into:
        raise UsageError(f"{address} names a folder", hint="name the file, like obs://bucket/data/a.txt")
    with tempfile.TemporaryFile(dir=cache) as file:
        total = 0
        async for piece in body:
            total += len(piece)
            if total > MOST_BYTES:
                raise TooLarge(f"at most {MOST_BYTES} bytes go in one request", hint="upload it by parts")
            await run_in_threadpool(file.write, piece)
        file.seek(0)

        def write() -> None:
            with place_errors():
                place.tree.write(place.address.path, iter(lambda: file.read(1 << 20), b""), total)

        await run_in_threadpool(write)
    return total


def rename(settings: Settings, source: str, target: str) -> dict[str, Any]:
    """Give a file or a folder another name within its bucket or HDFS; what is there is never overwritten.

    Stores cannot rename: everything is copied within the store first, and removed when all of it is there. Repeating
    an interrupted renaming is refused, since the target is there by then: remove the half that is not wanted.
    """
    places = Places(settings)
    old, new = places.open(source), places.open(target)
    if old.address.root != new.address.root:
        raise UsageError(f"{source} and {target} lie in different places", hint="copy it, then remove the original")
    path = posixpath.normpath(new.address.path) if old.is_local else new.address.path
    with place_errors():
        item = old.tree.stat(old.address.path)
        _check_ends(old, item, new, path)
        assert item is not None
        inner = list(old.tree.walk(item.path)) if item.kind == FOLDER else [item]
        moves = [(each, path if each is item else join(path, relative_to(each.path, item.path))) for each in inner]
        for each, to in moves:
            if each.kind == FOLDER:
                old.tree.make_folder(to)
            elif not old.tree.copy_within(each.path, to, each.size_bytes):
                old.tree.write(to, old.tree.read(each.path), each.size_bytes)
        old.tree.remove([each.path for each in inner])
        if item.kind == FOLDER:
            old.tree.remove([*_folders(inner, item.path), item.path])
    return {"address": target, "files": sum(each.kind != FOLDER for each in inner)}


def _check_ends(old: Place, item: Item | None, new: Place, path: str) -> None:
    if not old.address.path.strip("/") or not path.strip("/"):
        raise UsageError("a whole bucket cannot be renamed")
    if item is None:
        raise NotFoundError(f"there is nothing at {old.address}")
    if path == item.path or is_below(path, item.path):
        raise UsageError(f"{new.address} lies in what is to be renamed")
    if new.tree.stat(path) is not None:
        raise Conflict(f"{new.address} is there already", hint="choose another name, or remove it first")


def _folders(items: list[Item], root: str) -> list[str]:
    """The folders between a root and its files, deepest first: emptied, they still lie on a disk or in HDFS."""
    found = set()
    for item in items:
        above = posixpath.dirname(item.path)
        while is_below(above, root):
            found.add(above)
            above = posixpath.dirname(above)
    return sorted(found, key=lambda path: path.count("/"), reverse=True)
