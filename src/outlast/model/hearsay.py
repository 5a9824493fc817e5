"""What a platform itself says of a stint while the stint says nothing: its events, and how busy the machine was.

Kept as `platform.json` in the stint's folder, rewritten by the keeper; people and curves read it from there.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

FORMAT = 1
MINUTE_S = 60.0


class Happening(NamedTuple):
    """One event of a job."""

    at: str  # ISO 8601, by the platform's clock
    words: str
    is_trouble: bool = False

    @property
    def line(self) -> str:
        """`2026-11-16 17:20:05 Training job is queuing.`"""
        return f"{self.at[:19].replace('T', ' ')} {self.words}".strip()


@dataclass(frozen=True)
class Hearsay:
    """Everything that a platform has said of one job."""

    events: tuple[Happening, ...] = ()  # newest last
    usage: dict[str, tuple[float | None, ...]] = field(default_factory=dict)  # `npu_percent` → one for each minute

    @property
    def newest(self) -> str:
        return self.events[-1].words if self.events else ""

    @property
    def is_empty(self) -> bool:
        return not self.events and not self.usage

    def to_bytes(self) -> bytes:
        return json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Hearsay:
        """What `to_bytes` wrote; `ValueError` for anything else."""
        try:
            body = json.loads(data)
            if body["format"] != FORMAT:
                raise ValueError(f"format {body['format']}")
            events = tuple(Happening(str(at), str(words), bool(trouble)) for at, words, trouble in body["events"])
            return cls(events, {str(name): tuple(values) for name, values in body["usage"].items()})
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not what a platform said: {error}") from None
