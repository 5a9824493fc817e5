"""Questions that the whole program answers: what one file only runs, another may have imported, made or named."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from outlast.adapt.draft import Draft


def files_of(draft: Draft) -> tuple[Draft, ...]:
    """This file and the others of its program."""
    return (draft, *draft.others)


def words_of(draft: Draft) -> frozenset[str]:
    """Every name in the file, and in what is run of the others."""
    return draft.words.union(*(each.names_run for each in draft.others))


def roots_of(draft: Draft) -> frozenset[str]:
    """First parts of what any file imports."""
    return frozenset(root for each in files_of(draft) for root in each.names.roots)


def is_seeded(draft: Draft) -> bool:
    """Whether any file speaks of a seed."""
    return any("seed" in word.lower() for word in words_of(draft))


def search(pattern: re.Pattern[str], draft: Draft) -> re.Match[str] | None:
    """Where a text first stands in any file."""
    return next((found for each in files_of(draft) if (found := pattern.search(each.text))), None)


def calls_of(draft: Draft) -> Iterator[tuple[str, cst.Call]]:
    """Calls of all files, each with the full name of what it calls."""
    return ((each.resolve(call.func), call) for each in files_of(draft) for call in each.calls())
