"""A sweep: one request over a grid of parameters. Its record names the runs; everything else is in their folders."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from outlast.inside.records import Record


@dataclasses.dataclass
class SweepRecord(Record):
    """`sweeps/NAME.json`: written once, when every member's spec is in the store."""

    NAME: ClassVar[str] = "the record of a sweep"

    name: str
    swept: list[tuple[str, list[str]]]  # parameters and their values, in the order they were given
    members: list[dict[str, Any]]  # {"run", "name", "params"}: only the parameters that vary
    store: str
    at_once: int | None = None
    metric: str = ""  # what the table is sorted by; empty: the most telling one
    sign: int = 0
    early_stop_after: float | None = None  # the first epoch of comparison; None: nobody is stopped early
    seed: int | None = None  # of a random choice
    of: int = 0  # how large the whole grid is
    user: str = ""
    created_at: str = ""

    @property
    def parameters(self) -> list[str]:
        return [name for name, _ in self.swept]

    @property
    def runs(self) -> list[str]:
        return [str(member["run"]) for member in self.members]
