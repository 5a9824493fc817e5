"""The output of a run, from its segments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from outlast.inside import layout
from outlast.store.base import Store
from outlast.track.segments import SegmentTail, read_segments


def read_log(store: Store, run: str, stint: int, node: int = 0) -> Iterator[bytes]:
    """The output of one stint, or of one of its nodes, in pieces of at most 1 MiB; nothing when it wrote none."""
    return read_segments(store, layout.log_prefix(run, stint, node))


class LogTail:
    """Follows the output of a run, or of one of its nodes, over all its stints."""

    def __init__(self, store: Store, run: str, node: int = 0) -> None:
        self._tail = SegmentTail(store, run, partial(layout.log_key, node=node))
        self.pace_s = store.pace_s  # what two polls should be apart

    def poll(self) -> list[tuple[int, bytes]]:
        """What was written since the last call, in order, as (stint, bytes)."""
        return self._tail.poll()
