"""Paths of Windows behind a place, `root + r"\\images"`: on a platform of Linux they are a part of a name."""

from __future__ import annotations

from collections.abc import Iterable

from outlast.adapt.draft import Draft
from outlast.adapt.placing.sources import Use
from outlast.adapt.placing.spelling import UNKNOWN
from outlast.migrate.engine import Kind

_ADVICE = 'write "/" in its place, which Windows knows as well'


def tell_windows(draft: Draft, uses: Iterable[Use]) -> None:
    for use in uses:
        if "\\" in use.after:
            shown = use.after.replace(UNKNOWN, "…").lstrip("/").replace("\\\\", "\\")
            said = f'"{shown}" behind a folder: the backslash divides no names on Linux'
            draft.say(Kind.DIFFERS, "paths", use.sink.path, said, _ADVICE)
