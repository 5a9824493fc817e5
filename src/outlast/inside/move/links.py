"""Symbolic links of a local source: kept when they lead inside it, followed where links cannot be kept.

A link that leads outside is never followed and never kept: the copy would hold, or point at, what was not asked for.
"""

from __future__ import annotations

import errno
import os
from typing import Iterator, List, Set, Tuple

from .base import FOLDER, LINK, Item
from .local import scan
from .names import is_below, relative_to, shown

Complaints = List[Tuple[str, str]]  # path, what is wrong with it


class Links:
    """The links below one source folder. What cannot be copied is added to `complaints`."""

    def __init__(self, root: str, complaints: Complaints) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._complaints = complaints

    def keep(self, item: Item) -> Iterator[Item]:
        """The link as it should stand in a copy of the root: its own text, or a relative one when that is absolute."""
        real = os.path.realpath(item.path)
        if self._is_loop(item.path):
            self._complain(item, "this link leads in a circle")
        elif not self._is_inside(real):
            self._complain(item, "this link leads outside, to %s" % shown(item.target))
        else:
            if self._leaves(item):
                folder = os.path.realpath(os.path.dirname(item.path))
                item = item._replace(target=os.path.relpath(real, folder))
            yield item

    def follow(self, item: Item, others: List[str]) -> Iterator[Item]:
        """The file a link leads to, under the link's path; for a folder everything in it."""
        return self._follow(item, others, set())

    def _follow(self, item: Item, others: List[str], above: Set[str]) -> Iterator[Item]:
        real = os.path.realpath(item.path)
        home = os.path.realpath(os.path.dirname(item.path))
        if self._is_loop(item.path):
            self._complain(item, "this link leads in a circle")
        elif not self._is_inside(real):
            self._complain(item, "this link leads outside, to %s" % shown(item.target))
        elif real in above or real == home or is_below(home, real):
            self._complain(item, "this link leads in a circle")
        elif not os.path.exists(real):
            self._complain(item, "this link leads to nothing: %s" % shown(item.target))
        elif not os.path.isdir(real):
            found = os.stat(real)
            yield Item(item.path, found.st_size, found.st_mtime_ns)
        else:
            is_empty = True
            for below in scan(item.path, others):
                is_empty = False
                if below.kind == LINK:
                    yield from self._follow(below, others, above | {real})
                else:
                    yield below
            if is_empty:
                yield Item(item.path, 0, 0, FOLDER)

    def _complain(self, item: Item, reason: str) -> None:
        self._complaints.append((shown(item.path), reason))

    def _is_inside(self, real: str) -> bool:
        return real == self._real or is_below(real, self._real)

    def _leaves(self, item: Item) -> bool:
        """True when the link's text passes through what is above the root, which has another name in a copy."""
        if os.path.isabs(item.target):
            return True
        depth = relative_to(item.path, self._root).count("/")
        for part in item.target.split("/"):
            depth += -1 if part == ".." else 0 if part in ("", ".") else 1
            if depth < 0:
                return True
        return False

    @staticmethod
    def _is_loop(path: str) -> bool:
        try:
            os.stat(path)
        except OSError as error:
            return error.errno == errno.ELOOP
        return False
