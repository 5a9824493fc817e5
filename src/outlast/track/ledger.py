"""Where the time of a run went: each stint's seconds, split into the columns that people are shown."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from outlast.inside import layout
from outlast.inside.errors import Damaged, NotFound, RequestError
from outlast.inside.records import Beat, Claim, End, Manifest, Order, Record
from outlast.model.states import EndReason
from outlast.model.view import LEDGER_COLUMNS
from outlast.store.base import Store
from outlast.track.history import Kept, read_manifests, read_orders, trace_history

R = TypeVar("R", bound=Record)

#: Recorded phase -> column. `running` is split by what became of it.
_COLUMNS = {
    "fetching": "fetching", "staging": "fetching", "environment": "environment", "restoring": "restoring",
    "starting": "starting", "saving": "saving", "handing_over": "saving", "committing": "saving",
}  # fmt: skip


@dataclass(frozen=True)
class StintFacts:
    """What the ledger needs to know of one stint."""

    stint: int
    elapsed_s: float = 0.0  # on the machine, as far as known
    phases: Mapping[str, float] = field(default_factory=dict)  # as the runner recorded them; may cover less
    queued_s: float = 0.0
    kept_running_s: float = 0.0  # of `running`, up to the checkpoint that the next stint continued from
    is_finished: bool = False  # the training ended here: all of it counts
    is_open: bool = False  # still going: nothing is lost yet
    has_successor: bool = False


@dataclass(frozen=True)
class RunLedger:
    """Seconds by column (`LEDGER_COLUMNS`) for each stint and for the whole run."""

    stints: list[dict[str, float]]
    total: dict[str, float]
    useful_fraction: float | None  # of machine time, that is of everything but `queued`; None before there was any


def run_ledger(facts: Sequence[StintFacts]) -> RunLedger:
    """The ledger of a run. Each stint's columns but `queued` add up to its elapsed time."""
    stints = [stint_ledger(one) for one in facts]
    total = {column: sum(row[column] for row in stints) for column in LEDGER_COLUMNS}
    spent_s = sum(seconds for column, seconds in total.items() if column != "queued")
    return RunLedger(stints, total, total["useful"] / spent_s if spent_s > 0 else None)


def stint_ledger(facts: StintFacts) -> dict[str, float]:
    """One stint's seconds by column."""
    row = dict.fromkeys(LEDGER_COLUMNS, 0.0)
    row["queued"] = max(0.0, facts.queued_s)
    phases = facts.phases or _guess_phases(facts)
    running_s = 0.0
    for phase, seconds in phases.items():
        if phase in _COLUMNS:
            row[_COLUMNS[phase]] += max(0.0, seconds)
        elif phase == "running":
            running_s = max(0.0, seconds)
        else:
            row["lost"] += max(0.0, seconds)
    counts = facts.is_finished or facts.is_open
    useful_s = running_s if counts else min(running_s, max(0.0, facts.kept_running_s))
    row["useful"] = useful_s
    row["replayed" if facts.has_successor else "lost"] += running_s - useful_s
    # Time that no phase covers: after the last beat's phases, or before the first.
    covered_s = sum(max(0.0, seconds) for seconds in phases.values())
    row["useful" if facts.is_open else "lost"] += max(0.0, facts.elapsed_s - covered_s)
    return row


def _guess_phases(facts: StintFacts) -> dict[str, float]:
    """What can be known of a stint that vanished without a record: up to its checkpoint the script ran so long."""
    return {"running": min(max(0.0, facts.kept_running_s), max(0.0, facts.elapsed_s))}


def read_facts(store: Store, run: str) -> list[StintFacts]:
    """The facts of every stint of a run, from its folder."""
    orders = read_orders(store, run)
    manifests = read_manifests(store, run)
    kept = trace_history(orders, manifests)
    return [
        _facts(store, run, order, [one for one in manifests if one.stint == stint], kept[stint])
        for stint, order in sorted(orders.items())
    ]


def _facts(store: Store, run: str, order: Order, manifests: Sequence[Manifest], kept: Kept) -> StintFacts:
    end = _read(store, layout.end_key(run, order.stint), End)
    beat = _read(store, layout.beat_key(run, order.stint), Beat)
    claim = _read(store, layout.claim_key(run, order.stint), Claim)
    last = manifests[-1] if manifests else None
    phases = end.phases if end is not None and end.phases else beat.phases if beat is not None else {}
    elapsed_s = sum(phases.values())
    if end is None or not end.phases:
        elapsed_s = max(elapsed_s, beat.elapsed_s if beat else 0.0, last.elapsed_s if last else 0.0)
    # Nobody has continued the newest stint yet; its own last checkpoint is where one would.
    kept_running_s = kept.running_s if math.isfinite(kept.running_s) else last.running_s if last else 0.0
    return StintFacts(
        stint=order.stint,
        elapsed_s=elapsed_s,
        phases=phases,
        queued_s=_queued_s(store, order, claim) if claim is not None else 0.0,
        kept_running_s=kept_running_s,
        is_finished=end is not None and end.reason == EndReason.FINISHED,
        is_open=end is None,
        has_successor=not math.isinf(kept.until_s),
    )


def _queued_s(store: Store, order: Order, claim: Claim) -> float:
    """From the order to the claim: by what the two sides wrote or by what the store saw, whichever is less.

    The two sides may be machines whose clocks differ by hours; the store stamps both documents by one clock.
    """
    said_s = _seconds_between(order.created_at, claim.claimed_at)
    ordered = store.head(layout.order_key(order.run, order.stint))
    claimed = store.head(layout.claim_key(order.run, order.stint))
    if ordered is None or claimed is None:
        return said_s
    return min(said_s, max(0.0, claimed.modified_at - ordered.modified_at))


def _read(store: Store, key: str, kind: type[R]) -> R | None:
    try:
        return kind.from_bytes(store.get(key))
    except (NotFound, Damaged, RequestError):
        return None


def _seconds_between(earlier: str, later: str) -> float:
    """Never negative, and 0 when a time cannot be read: the two may come from different clocks."""
    try:
        begin, end = (datetime.datetime.fromisoformat(text) for text in (earlier, later))
        return max(0.0, (end - begin).total_seconds())
    except (ValueError, TypeError):
        return 0.0
