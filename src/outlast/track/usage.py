"""How busy the machines of a run were, stint by stint."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from outlast.inside import layout
from outlast.inside.errors import NotFound
from outlast.inside.stores.base import Store
from outlast.inside.usage import read_usage
from outlast.model.hearsay import MINUTE_S, Hearsay


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
    """What each stint has told, and where it told nothing what its platform said; without either it is left out."""
    found: list[StintUsage] = []
    for stint in itertools.count(1):
        own = _told(store, run, stint)
        if own is None and store.head(layout.order_key(run, stint)) is None:
            break
        told = _with_hearsay(own, stint, _said(store, run, stint))
        found += [told] if told is not None else []
    return found


def _told(store: Store, run: str, stint: int) -> StintUsage | None:
    try:
        body = read_usage(store.get(layout.usage_key(run, stint)))
    except (NotFound, ValueError, KeyError, TypeError):
        return None
    columns = {name: tuple(values) for name, values in body["columns"].items()}
    return StintUsage(stint, body["span_s"], tuple(body["at_s"]), columns, body["limits"])


def _said(store: Store, run: str, stint: int) -> Mapping[str, tuple[float | None, ...]]:
    try:
        return Hearsay.from_bytes(store.get(layout.platform_key(run, stint))).usage
    except (NotFound, ValueError):
        return {}


def _with_hearsay(
    own: StintUsage | None, stint: int, said: Mapping[str, tuple[float | None, ...]]
) -> StintUsage | None:  # fmt: skip
    """The platform's minutes after the last that the stint told itself."""
    last_s = own.at_s[-1] + own.span_s if own is not None and own.at_s else 0.0
    count = max(map(len, said.values()), default=0)
    minutes = [minute for minute in range(count) if minute * MINUTE_S >= last_s]
    if not minutes:
        return own
    own = own or StintUsage(stint, MINUTE_S, (), {}, {})
    columns = {}
    for name in dict.fromkeys((*own.columns, *said)):
        before = own.columns.get(name, (None,) * len(own.at_s))
        values = said.get(name, ())
        columns[name] = (*before, *(values[minute] if minute < len(values) else None for minute in minutes))
    return replace(own, at_s=(*own.at_s, *(minute * MINUTE_S for minute in minutes)), columns=columns)
