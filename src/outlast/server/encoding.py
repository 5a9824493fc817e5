"""What one segment of a run's output or metrics says, as the data of an event."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from outlast.inside import layout
from outlast.track.segments import KeyOf
from outlast.track.series import MetricPoint, parse_points, prefer_tracked

#: The stint, the segment's bytes, and how to get the segment before it.
Encode = Callable[[int, bytes, Callable[[], bytes]], dict[str, Any]]


class Kind(NamedTuple):
    """A kind of segment: where it lies, and what it says."""

    name: str
    key: KeyOf
    encode: Encode

    def of_node(self, node: int) -> Kind:
        """A kind of log as another node than the first wrote it."""
        return self._replace(name=f"{self.name}-{node}", key=partial(layout.log_key, node=node)) if node else self


def _log(stint: int, data: bytes, before: Callable[[], bytes]) -> dict[str, Any]:
    """Text, whole characters only: what a cut left over is said with the next segment."""
    if data and 0x80 <= data[0] < 0xC0:
        data = _cut_off(before()) + data
    rest = len(_cut_off(data))
    return {"stint": stint, "text": data[: len(data) - rest].decode("utf-8", "replace")}


def _cut_off(data: bytes) -> bytes:
    """The beginning of a character at the end of `data` that goes on in the next segment."""
    for count in range(1, min(3, len(data)) + 1):
        byte = data[-count]
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[-count:] if wanted > count else b""
        if byte < 0x80:
            break
    return b""


def _metrics(stint: int, data: bytes, before: Callable[[], bytes]) -> dict[str, Any]:
    return {"stint": stint, "points": [_point(point) for point in prefer_tracked(parse_points(stint, data))]}


def _point(point: MetricPoint) -> dict[str, Any]:
    return {
        "at_s": point.at_s, "epoch": point.epoch, "step": point.step, "values": dict(point.values),
        "from": point.source,
    }  # fmt: skip


def _bytes(stint: int, data: bytes, before: Callable[[], bytes]) -> dict[str, Any]:
    return {"stint": stint, "base64": base64.b64encode(data).decode()}


LOG = Kind("log", layout.log_key, _log)
#: The same byte for byte, for those who write it to a terminal.
LOG_BYTES = Kind("output", layout.log_key, _bytes)
METRICS = Kind("metrics", layout.metrics_key, _metrics)
