"""The store interface for those who write one; the clients themselves live with the inside half that shares them."""

from outlast.inside.stores.base import CHUNK_BYTES, Data, Entry, Store

__all__ = ["CHUNK_BYTES", "Data", "Entry", "Store"]
