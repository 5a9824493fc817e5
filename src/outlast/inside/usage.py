"""How busy a stint was from its beginning on: one small file, however long the stint lasts.

Samples are gathered in spans of equal length. When there are too many spans, each two become one and are twice as
long from then on: an hour is told by spans of 16 seconds, a day by those of eight and a half minutes.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

#: How many spans there are at most.
SPANS = 256
FIRST_SPAN_S = 1.0
#: The file is written again after so many seconds: one put among dozens of beats.
WRITE_S = 60.0
FIRST_WRITE_S = 10.0

#: Of one column in one span: the sum of the samples, how many they were, and the largest.
_Sum = Tuple[float, int, float]


class Usage:
    """Gathers samples of `Sampler.sample`. A percentage is the mean of its span, memory the most that was held."""

    def __init__(self) -> None:
        self._span_s = FIRST_SPAN_S
        self._spans: Dict[int, Dict[str, _Sum]] = {}
        self._limits: Dict[str, float] = {}
        self._due_at_s = FIRST_WRITE_S
        self._is_new = False

    def add(self, at_s: float, device: Dict[str, Any]) -> None:
        """Take a sample, `at_s` seconds after the stint's beginning."""
        values = _columns(device)
        if not values or at_s < 0:
            return
        while int(at_s / self._span_s) >= SPANS:
            self._join()
        span = self._spans.setdefault(int(at_s / self._span_s), {})
        for name, value in values.items():
            span[name] = _plus(span.get(name), (value, 1, value))
        self._limits.update(_limits(device))
        self._is_new = True

    def due(self, at_s: float, is_last: bool = False) -> Optional[bytes]:
        """The file's content when it is time to write it, or when it never will be again; else None."""
        if not self._is_new or (at_s < self._due_at_s and not is_last):
            return None
        self._due_at_s = at_s + WRITE_S
        self._is_new = False
        return self.to_bytes()

    def to_bytes(self) -> bytes:
        numbers = sorted(self._spans)
        names = sorted({name for span in self._spans.values() for name in span})
        columns = {name: [_told(name, self._spans[number].get(name)) for number in numbers] for name in names}
        body = {
            "format": 1,
            "span_s": self._span_s,
            "at_s": [number * self._span_s for number in numbers],  # where each span begins
            "columns": columns,
            "limits": self._limits,
        }
        return json.dumps(body).encode("ascii")

    def _join(self) -> None:
        joined: Dict[int, Dict[str, _Sum]] = {}
        for number, span in self._spans.items():
            target = joined.setdefault(number // 2, {})
            for name, value in span.items():
                target[name] = _plus(target.get(name), value)
        self._spans = joined
        self._span_s *= 2


def _columns(device: Dict[str, Any]) -> Dict[str, float]:
    """The numbers of a sample that are worth a curve, by name: `cpu_percent`, `gpu0_memory_bytes`."""
    found = {name: device.get(name) for name in ("cpu_percent", "memory_bytes")}
    for card in device.get("accelerators") or ():
        name = "%s%s" % (card.get("kind"), card.get("index"))
        found[name + "_percent"] = card.get("busy_percent")
        found[name + "_memory_bytes"] = card.get("memory_used_bytes")
    return {name: float(value) for name, value in found.items() if value is not None}


def _limits(device: Dict[str, Any]) -> Dict[str, float]:
    """The most that a column can be, where it is known and not 100 %."""
    found = {"memory_bytes": device.get("memory_limit_bytes")}
    for card in device.get("accelerators") or ():
        found["%s%s_memory_bytes" % (card.get("kind"), card.get("index"))] = card.get("memory_total_bytes")
    return {name: float(value) for name, value in found.items() if value is not None}


def _plus(one: Optional[_Sum], other: _Sum) -> _Sum:
    return other if one is None else (one[0] + other[0], one[1] + other[1], max(one[2], other[2]))


def _told(name: str, value: Optional[_Sum]) -> Optional[float]:
    if value is None:
        return None
    return value[2] if name.endswith("_bytes") else round(value[0] / value[1], 1)


def read_usage(data: bytes) -> Dict[str, Any]:
    """What `to_bytes` wrote; `ValueError` for anything else."""
    body = json.loads(data.decode("utf-8"))
    lists: List[Any] = [body["at_s"], *body["columns"].values()] if isinstance(body, dict) else []
    if not lists or body.get("format") != 1 or any(len(each) != len(lists[0]) for each in lists):
        raise ValueError("not the usage of a stint")
    return {name: body[name] for name in ("span_s", "at_s", "columns", "limits")}
