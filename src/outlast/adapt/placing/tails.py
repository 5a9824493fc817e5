"""Places that follow a contract's folder by the end of their path: of several no two may fall together there."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from outlast.adapt.draft import Draft
from outlast.adapt.needs import Role

_FINDER = [
    "def {0}(folder, path, otherwise=None):",
    '    """The longest end of a path that is there in a folder; its last name where none is."""',
    "    parts = [part for part in os.path.abspath(path).split(os.sep) if part]",
    "    ends = [os.path.join(folder, *parts[at:]) for at in range(len(parts))]",
    "    return next((end for end in ends if os.path.exists(end)), otherwise or ends[-1])",
]


def last_of(place: str) -> str:
    return place.rstrip("/").rpartition("/")[2]


class Tails:
    """What places become below a folder. `defaults`: of each its value as far as it is known, else an empty text.

    `is_whole`: where nothing of that name is there, the folder itself is the place; `is_many`: the old one, as it may
    be any; `is_spread`: they lie in several folders.
    """

    def __init__(
        self, draft: Draft, role: Role, defaults: Sequence[str], *, is_whole: bool = False, is_many: bool = False,
        is_spread: bool = False,
    ) -> None:  # fmt: skip
        self._draft, self._is_whole, self._is_many = draft, is_whole, is_many
        lasts = [last_of(each) for each in defaults]
        is_unknown = len(defaults) > 1 and "" in lasts
        may_meet = is_unknown or len(set(lasts)) < len(lasts)
        # Of `data/words.txt` and `data/labels/train.json` the one folder is `data`, and the other may be as well.
        are_spread = len({posixpath.dirname(posixpath.normpath(each)) for each in defaults if each}) > 1
        # What is read is there to be looked at; of what will be written only the text can tell.
        self.is_found = role is Role.DATA and (may_meet or are_spread or is_spread)
        self._count = 1 if self.is_found or is_unknown else _parts_apart([each for each in defaults if each])

    def of(self, folder: str, source: str) -> str:
        """The expression of a place below a folder."""
        self._draft.need_import("os")
        if self.is_found:
            otherwise = f", {source}" if self._is_many else f", {folder}" if self._is_whole else ""
            return f"{self._finder()}({folder}, {source}{otherwise})"
        if self._count > 1:
            return f'os.path.join({folder}, *os.path.normpath("/" + {source}).split("/")[-{self._count}:])'
        return f"os.path.join({folder}, os.path.basename(os.path.normpath({source})))"

    def above(self, source: str) -> str:
        """The expression of the folder that gave way: what lies before the part that `of` keeps."""
        return "os.path.dirname(" * self._count + f"os.path.normpath({source})" + ")" * self._count

    @property
    def said(self) -> str:
        return "by the end of its path" if self.is_found or self._count > 1 else "by its last name"

    def _finder(self) -> str:
        def make() -> tuple[str, ...]:
            name = self._draft.free("find_below")
            self._draft.add_on_top([line.format(name) for line in _FINDER])
            return (name,)

        return self._draft.once("find_below", make)[0]


def _parts_apart(places: Sequence[str]) -> int:
    """How many parts from the end tell places apart."""
    parts = [place.rstrip("/").split("/") for place in places]
    longest = max([len(each) for each in parts], default=1)
    for count in range(1, longest):
        if len({tuple(each[-count:]) for each in parts}) == len(parts):
            return count
    return longest
