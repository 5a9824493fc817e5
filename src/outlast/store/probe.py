"""One real write, read and removal: whether a store can be used, and what time it is there."""

from __future__ import annotations

import secrets

from outlast.errors import StoreError
from outlast.store.base import Store

_FOLDER = "checks/"


def probe_store(store: Store) -> float:
    """Write a small key, read it back and remove it; returns the time that the store gave it.

    Whatever keeps a run from using the store comes out as the inside half's errors.
    """
    key, value = _FOLDER + secrets.token_hex(8), secrets.token_bytes(16)
    store.put(key, value)
    try:
        entry, read = store.head(key), store.get(key)
    finally:
        store.delete(key)
    if entry is None or read != value:
        raise StoreError(f"{store.url} gave back something else than was written there", retryable=False)
    return entry.modified_at
