"""Turn what a store says into what a user can act on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from outlast.errors import NotFoundError, SpecError, StoreError
from outlast.inside.errors import Damaged, InsideError, NotFound, RequestError, StoreFull


@contextlib.contextmanager
def spoken(what: str) -> Iterator[None]:
    """Errors of the inside half leave as errors with an exit code; `what` says what was being done."""
    try:
        yield
    except NotFound as error:
        raise NotFoundError(f"{what}: {error}") from None
    except StoreFull as error:
        raise StoreError(f"{what}: {error}", hint="free some space (outlast gc), then try again") from None
    except Damaged as error:
        raise StoreError(f"{what}: {error}", retryable=False) from None
    except RequestError as error:
        raise SpecError(f"{what}: {error}") from None
    except InsideError as error:
        raise StoreError(f"{what}: {error}") from None
