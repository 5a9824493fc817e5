"""Opening stores from outside, in the words of the outside errors."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from pathlib import Path

from outlast.errors import CredentialError, NotFoundError, OutlastError, SpecError, StoreError
from outlast.inside.errors import AccessDenied, InsideError, NotFound, PlaceError, RequestError, StoreFull
from outlast.inside.net.retry import Policy
from outlast.inside.stores import OPENERS
from outlast.inside.stores import open_store as open_inside
from outlast.inside.stores.access import Access
from outlast.store.base import Store


def schemes() -> list[str]:
    """The kinds of stores that can be opened."""
    return sorted(OPENERS)


def store_url(address: str | Path) -> str:
    """The full address of a store: `/data/outlast` and `~/outlast` become `file:///…`, addresses stay."""
    text = str(address)
    if "://" in text:
        return text
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise SpecError(f"cannot tell where {text!r} is", hint="write the whole path") from None
    if not text or not path.is_absolute():
        raise SpecError(
            f"store {text!r} is neither an address nor an absolute path",
            hint="write it like file:///home/me/store or /home/me/store",
        )
    return path.as_uri()


def open_store(address: str | Path, access: Access | None = None, policy: Policy | None = None) -> Store:
    """Open a store by its address or by an absolute path. Creates nothing yet.

    `keeper.accesses` finds the access that a remote one needs; without any, the environment's is tried.
    """
    url = store_url(address)
    scheme = url.partition("://")[0].lower()
    if scheme not in OPENERS:
        near = difflib.get_close_matches(scheme, OPENERS, n=1)
        guess = f"; did you mean '{near[0]}://'?" if near else ""
        known = ", ".join(f"{each}://" for each in schemes())
        raise SpecError(f"unknown kind of store '{scheme}://'{guess}", hint=f"known: {known}")
    with outside_errors():
        return open_inside(url, access, policy)


def translate(error: InsideError) -> OutlastError:
    """The outside error that says the same."""
    message = str(error)
    if isinstance(error, NotFound):
        return NotFoundError(message)
    if isinstance(error, AccessDenied):
        return CredentialError(message, hint="see whose keys are used with: outlast whoami --check")
    if isinstance(error, RequestError):
        return SpecError(message)
    if isinstance(error, StoreFull):
        return StoreError(message, retryable=False)
    return StoreError(message, retryable=isinstance(error, PlaceError))


@contextlib.contextmanager
def outside_errors() -> Iterator[None]:
    """Within this block the inside half's errors come out as the outside half's."""
    try:
        yield
    except InsideError as error:
        raise translate(error) from error
