"""Turn what a store says into what a user can act on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from outlast.inside.errors import InsideError, StoreFull


@contextlib.contextmanager
def spoken(what: str) -> Iterator[None]:
    """Errors of the inside half leave as errors with an exit code; `what` says what was being done."""
    try:
        yield
    except InsideError as error:
        from outlast.store.registry import translate

        told = translate(error)
        told.message = f"{what}: {told.message}"
        if isinstance(error, StoreFull):
            told.hint = "free some space (outlast gc), then try again"
        raise told from None
