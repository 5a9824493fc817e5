"""Names of repositories in a hub: `model:owner/name/file`, `dataset:owner/name`, `project:owner/name@revision`."""

from __future__ import annotations

import re
from dataclasses import dataclass

KINDS = ("model", "dataset", "project")
_ASSET = re.compile(
    rf"(?P<kind>{'|'.join(KINDS)}):(?P<owner>[\w.-]+)/(?P<name>[\w.-]+)(?:/(?P<path>[^@]*))?(?:@(?P<revision>.+))?"
)


@dataclass(frozen=True)
class Asset:
    """A repository of a hub, or something in it."""

    root: str  # `model:owner/name`
    path: str = ""  # inside the repository; empty for all of it
    revision: str = ""

    @property
    def name(self) -> str:
        """What it is called where it is used: the file or folder, or the repository."""
        return (self.path or self.root).rpartition("/")[2]


def read_asset(text: str) -> Asset | None:
    """What a text names in a hub; None when it is no such name."""
    match = _ASSET.fullmatch(text)
    if match is None:
        return None
    root = f"{match['kind']}:{match['owner']}/{match['name']}"
    return Asset(root, (match["path"] or "").strip("/"), match["revision"] or "")
