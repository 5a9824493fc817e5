"""The ground on which a local copy lands, as it is before anything moves.

A link in the destination that leads out of it would carry files to where nobody sent them, so it is refused.
"""

from __future__ import annotations

import os
from typing import Dict, Optional

from .base import FILE, FOLDER, Item
from .local import LocalTree
from .names import is_below, shown

_FINE, _MISSING = "", "missing"


class Ground:
    """A destination folder of this machine. Every folder below it is looked at once."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._tree = LocalTree()
        self._known: Dict[str, str] = {}

    def look(self, path: str) -> Optional[Item]:
        """What is at a path now; never asked for when the folder above is missing."""
        return None if self._verdict(os.path.dirname(path)) == _MISSING else self._tree.stat(path)

    def complain(self, path: str, kind: str, there: Optional[Item]) -> str:
        """Why nothing of that kind can be put at the path; empty when it can."""
        verdict = self._verdict(os.path.dirname(path))
        if verdict not in (_FINE, _MISSING):
            return verdict
        if there is not None and kind == FOLDER:
            return self._judge(path, there) if path != self._root else self._judge_root()
        if there is not None and there.kind == FOLDER:
            return "a folder of that name is there"
        return ""

    def _verdict(self, folder: str) -> str:
        known = self._known.get(folder)
        if known is None:
            known = self._known[folder] = self._find_verdict(folder)
        return known

    def _find_verdict(self, folder: str) -> str:
        if folder == self._root:
            return self._judge_root()
        if not is_below(folder, self._root):
            return _FINE  # above what the user named: theirs
        above = self._verdict(os.path.dirname(folder))
        if above != _FINE:
            return above
        there = self._tree.stat(folder)
        return _MISSING if there is None else self._judge(folder, there)

    def _judge_root(self) -> str:
        if os.path.isdir(self._root):
            return _FINE
        return "%s is a file" % shown(self._root) if os.path.lexists(self._root) else _MISSING

    def _judge(self, folder: str, there: Item) -> str:
        if there.kind == FOLDER:
            return _FINE
        if there.kind == FILE:
            return "%s is a file" % shown(folder)
        real = os.path.realpath(folder)
        if real != self._real and not is_below(real, self._real):
            return "the link %s leads out of the destination" % shown(folder)
        return _FINE if os.path.isdir(real) else "%s is a link to no folder" % shown(folder)
