"""`copy` for one file, `copy_parallel` for what is in a folder."""

from __future__ import annotations

import os
import posixpath
from typing import Iterable, Optional, Sequence

from outlast.inside.move.base import FILE, FOLDER, Item

from .errors import MoxFileNotExistsException, MoxFileRespException, Resp, told
from .looking import look
from .moving import Found, chosen_files, files_in, move_files
from .ownname import also_by_own_name
from .places import Spot, Url, find, say

# As many at once as the store likes, which is more than MoXing's own number.
_MOXING_THREADS = 16


def copy(src_url: Url, dst_url: Url, client_id: Optional[str] = None) -> None:
    """Copy one file. A destination that is a folder of this machine, or ends with a slash, gets it under its name."""
    with told(str(src_url)):
        source, target = find(src_url), find(dst_url)
        item = _look(source)
        if item is None:
            raise MoxFileNotExistsException(source.url)
        if item.kind != FILE:
            raise MoxFileRespException(
                Resp(400, "Bad Request", "IsADirectory", "%s is a folder; use copy_parallel for it" % source.url)
            )
        _copy_file(source, item, target)


def _copy_file(source: Spot, item: Item, target: Spot) -> None:
    if source.whole == target.whole:
        return
    folder, name = target._replace(path=posixpath.dirname(target.path)), posixpath.basename(target.path)
    if target.into or (target.is_local and os.path.isdir(target.path)):
        folder, name = target, posixpath.basename(source.path)
    move_files(source, [Found(name, item)], folder)


def copy_parallel(
    src_url: Url,
    dst_url: Url,
    file_list: Optional[Sequence[str]] = None,
    threads: int = _MOXING_THREADS,
    is_processing: bool = True,
    use_queue: bool = True,
    client_id: Optional[str] = None,
) -> None:
    """Copy what is in a folder to directly below the destination, or only the files of a list.

    Files that are there are replaced, others stay. A single file as the source is copied as `copy` does. Processes
    and queues are accepted and not needed.
    """
    with told(str(src_url)):
        source, target = find(src_url), find(dst_url)
        item = _look(source)
        if item is not None and item.kind == FILE:
            return _copy_file(source, item, target)
        if source.whole == target.whole:
            return None
        found: Iterable[Found] = chosen_files(source, file_list) if file_list is not None else files_in(source)
        if source.is_local == target.is_local:
            found = list(found)  # what is copied must not be found again when one folder lies in the other
        moved = move_files(source, found, target, 0 if threads == _MOXING_THREADS else max(threads, 0))
        if not moved:
            if item is not None:
                target.tree.make_folder(target.path)
            say("No files to copy: %s %s" % (source.url, "is empty" if item is not None else "does not exist"))
        else:
            also_by_own_name(source, moved, target)
        return None


def _look(spot: Spot) -> Optional[Item]:
    """The file or folder at a place, links followed; None for nothing."""
    if not spot.is_local:
        try:
            return look(spot)
        except MoxFileNotExistsException:
            return None
    if not os.path.exists(spot.path):
        return None
    if os.path.isdir(spot.path):
        return Item(spot.path, 0, 0, FOLDER)
    found = os.stat(spot.path)
    return Item(spot.path, found.st_size, found.st_mtime_ns)
