"""How busy the machines of a run were, stint by stint."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.inside.stores.base import Store
from outlast.inside.usage import read_usage


@dataclass(frozen=True)
class StintUsage:
    """One stint. `columns` are `cpu_percent`, `memory_bytes`, and for each card like `gpu0_percent`.

    A percentage is the mean of a span, memory the most that was held; None where nothing was measured.
    """

    stint: int
    span_s: float
    at_s: tuple[float, ...]  # where each span begins, in seconds since the stint's own beginning
    columns: dict[str, tuple[float | None, ...]]
    limits: dict[str, float]  # the most that a column can be, where it is known


def read_run_usage(store: Store, run: str) -> list[StintUsage]:
    """What each stint has told; those that told nothing, or nothing that can be read, are left out."""
    found = []
    for stint in itertools.count(1):
        try:
            body = read_usage(store.get(layout.usage_key(run, stint)))
        except NotFound:
            if store.head(layout.order_key(run, stint)) is None:
                break
            continue
        except (ValueError, KeyError, TypeError):
            continue
        columns = {name: tuple(values) for name, values in body["columns"].items()}
        found.append(StintUsage(stint, body["span_s"], tuple(body["at_s"]), columns, body["limits"]))
    return found
