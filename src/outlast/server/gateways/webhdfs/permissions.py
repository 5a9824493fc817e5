"""Who may do what to a file: HDFS's own rules of owner, group and others. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from outlast.webhdfs.filesystem import FOLDER, Status
from outlast.webhdfs.refusals import Refusal

READ, WRITE, EXECUTE = 4, 2, 1
STICKY = 0o1000
#: Of what is made, only the owner's bits are kept: whoever wants to share says so, with SETPERMISSION.
KEPT = 0o700
#: Owns the root and whatever nobody is known to own. No account can have this name.
KEEPER = "_server"


class Who(NamedTuple):
    """The one who acts, and whether the rules bind them."""

    name: str
    groups: frozenset[str] = frozenset()
    is_super: bool = False

    def owns(self, status: Status) -> bool:
        return self.is_super or status.owner == self.name

    def may(self, status: Status, wanted: int) -> bool:
        """Only the first class that fits counts, as everywhere in POSIX: an owner without a bit has not got it."""
        if self.is_super:
            return True
        shift = 6 if status.owner == self.name else 3 if status.group in self.groups else 0
        return (status.permission >> shift) & wanted == wanted


def above(path: str) -> Iterator[str]:
    """The folders on the way to a path, from the root on; none for the root itself."""
    if path == "/":
        return
    parts = path[1:].split("/")[:-1]
    yield "/"
    for count in range(1, len(parts) + 1):
        yield "/" + "/".join(parts[:count])


def parent(path: str) -> str:
    return posixpath.dirname(path)


def denied(who: Who, path: str, status: Status, wanted: int) -> Refusal:
    """In Hadoop's words, which name the file's owner and bits."""
    access = "_".join(word for bit, word in ((READ, "READ"), (WRITE, "WRITE"), (EXECUTE, "EXECUTE")) if wanted & bit)
    shown = f"{status.owner}:{status.group}:{'d' if status.kind == FOLDER else '-'}{_letters(status.permission)}"
    return Refusal(
        "AccessControlException", f'Permission denied: user={who.name}, access={access}, inode="{path}":{shown}'
    )


def bits_of(action: str) -> int:
    """`r-x` as bits."""
    return sum(bit for letter, bit in (("r", READ), ("w", WRITE), ("x", EXECUTE)) if letter in action)


def _letters(permission: int) -> str:
    found = "".join(
        letter if permission & (bit << shift) else "-"
        for shift in (6, 3, 0)
        for letter, bit in (("r", READ), ("w", WRITE), ("x", EXECUTE))
    )
    if permission & STICKY:
        found = found[:-1] + ("t" if permission & EXECUTE else "T")
    return found
