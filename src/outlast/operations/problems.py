"""Several wrong values of one request, reported together; and guesses at what was meant."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from outlast.errors import SpecError


class Problems:
    """Collects independent errors, so that a user mends them all at once."""

    def __init__(self) -> None:
        self._errors: list[SpecError] = []

    def add(self, message: str, *, hint: str = "") -> None:
        self._errors.append(SpecError(message, hint=hint))

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """A `SpecError` within this block is kept for later; the block ends there."""
        try:
            yield
        except SpecError as error:
            self._errors.append(error)

    def raise_all(self) -> None:
        """Raise what was collected: one error as it is, several as one with a line for each."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise SpecError("\n".join(dict.fromkeys(str(error) for error in self._errors)))


def closest(word: str, known: Iterable[str]) -> str | None:
    import difflib

    found = difflib.get_close_matches(word, list(known), n=1)
    return found[0] if found else None


def guess(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing."""
    found = closest(word, known)
    return f"; did you mean {found!r}?" if found else ""


def guess_path(given: str, path: Path) -> str:
    """`; did you mean ./mnist?` from the names beside a path that does not exist, or nothing."""
    try:
        found = closest(path.name, (entry.name for entry in path.parent.iterdir()))
    except OSError:
        return ""
    if found is None:
        return ""
    trimmed = given.rstrip("/")
    return f"; did you mean {trimmed[: len(trimmed) - len(path.name)]}{found}?"
