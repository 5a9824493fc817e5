"""Lists and pictures that lie beside the code, while the data lies elsewhere: who knows which they travel with.

They are looked for in the contract's folder, and else where they were.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role
from outlast.adapt.placing.sites import Site, enclosed
from outlast.adapt.placing.tails import Tails
from outlast.migrate.engine import Kind

#: a list of words or numbers
BESIDE = re.compile(r"(?:\./)?[\w.-]+\.(?:json|txt|names)")
_BELOW = re.compile(r"(?:\./)?(?:[\w-][\w.-]*/)+[\w.-]+\.(?:json|txt|names)")
_FILE = re.compile(r"(?:\./)?(?:[\w-][\w.-]*/)*[\w.-]+\.(?:json|txt|names|jpe?g|png|bmp|gif)", re.I)


def may_travel(text: str, others: Iterable[str], *, is_elsewhere: bool) -> bool:
    """Whether a list may travel with the code. `others`: what is read, it among them; `is_elsewhere`: some in folders.

    One in a folder may do so where other data lies elsewhere, and none that is no list in that folder.
    """
    if not _BELOW.fullmatch(text):
        return is_elsewhere and BESIDE.fullmatch(text) is not None
    rest = [each for each in others if _top(each) != _top(text)]
    return bool(rest) and all(is_list(each) for each in others if _top(each) == _top(text))


def lies_among(modules: Collection[str], text: str) -> bool:
    """Whether a list lies among the program's own modules: `"data/classes.txt"` beside `data/build.py`."""
    return _BELOW.fullmatch(text) is not None and _top(text) in modules


def is_list(text: str) -> bool:
    return (BESIDE.fullmatch(text) or _BELOW.fullmatch(text)) is not None


def may_stay_option(default: str, folders: Sequence[str]) -> bool:
    """Whether what an option names by default may travel with the code. `folders`: defaults of options for data."""
    tops = {_top(each) for each in folders} - {""}
    return _FILE.fullmatch(default) is not None and _top(default) not in tops


def look_first(draft: Draft, site: Site, given: str, name: str) -> None:
    """Let what may travel with the code be looked for in the option's folder, and else where it was."""
    source = draft.source(site.literal)
    found = Tails(draft, Role.DATA, [""] * 2, is_many=True).of(given, source)
    draft.say(Kind.CHANGED, "paths", site.literal, f"{source} is looked for in --{name}, then where it was")
    draft.replace(site.literal, enclosed(draft, site.literal, f"{found} if {given} else {source}"))


def _top(text: str) -> str:
    """The first folder of a path below the code."""
    first, slash, _ = text.removeprefix("./").partition("/")
    return first if slash else ""
