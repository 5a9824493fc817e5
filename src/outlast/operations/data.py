"""The verbs on data sets as methods: what `Client.data` is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.datasets.comparing import Comparison
    from outlast.inside.move.packed import Member
    from outlast.operations.data_copies import MadeMini
    from outlast.operations.data_packing import Repacked


class Data:
    """Data sets in any place. Every method takes `profile`: whose keys to use."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def pack(self, source: str, target: str, **words: Any) -> Repacked:
        """Pack a folder of many small files into tar shards with an index; `shard_bytes` says how large they are.

        client.data.pack("images", "obs://lab/images.packed")
        """
        from outlast.operations.data_packing import pack

        return pack(self._settings, source, target, **words)

    def unpack(self, source: str, target: str, **words: Any) -> Repacked:
        """Unpack a packed place; files that are there already are left alone."""
        from outlast.operations.data_packing import unpack

        return unpack(self._settings, source, target, **words)

    def list(self, source: str, **words: Any) -> list[Member]:
        """Everything in a packed place, sorted by path."""
        from outlast.operations.data_packing import members

        return members(self._settings, source, **words)

    def read(self, source: str, path: str, **words: Any) -> Iterator[bytes]:
        """One file of a packed place, in pieces; no more than that file is fetched."""
        from outlast.operations.data_packing import read_member

        return read_member(self._settings, source, path, **words)

    def check(self, first: str, second: str, **words: Any) -> Comparison:
        """Compare two places, packed or not; `full` reads every byte of both."""
        from outlast.operations.data_copies import check

        return check(self._settings, first, second, **words)

    def mini(self, source: str, target: str, **words: Any) -> MadeMini:
        """Make a small copy for debugging: `keep` samples (a number, or a share like "5%"), chosen by `seed`.

        client.data.mini("imagenet", "imagenet-mini", keep="200")
        """
        from outlast.operations.data_copies import mini

        return mini(self._settings, source, target, **words)
