"""The rows of the mover's table, its targets, and how they are shown."""

from __future__ import annotations

from typing import NamedTuple

from bench.common import Result
from bench.cost import Cost

OURS, RIVALS, SLOW = "outlast cp", ("s5cmd", "rclone", "rclone 16"), "boto3"
MEMORY_MIB = 150
_BASIS = "medians of interleaved rounds, sources and destinations in memory, a server for each measurement"


class Row(NamedTuple):
    """One line of the table."""

    name: str
    dataset: str
    action: str  # a field of Tool
    server: str = "null"  # null, null over TLS, seaweed
    at_least: float = 0.0  # times the faster rival; 0: no target

    @property
    def is_down(self) -> bool:
        return self.action.endswith("down")


ROWS = [
    Row("small-up", "small", "up", at_least=2.5),
    Row("small-down", "small", "down", at_least=2.5),
    Row("packed-up", "small", "packed_up", at_least=8),
    Row("packed-down", "small", "packed_down", at_least=8),
    Row("small-again", "small", "again", at_least=2),
    Row("mixed-up", "mixed", "up", at_least=2),
    Row("mixed-down", "mixed", "down", at_least=1.2),
    Row("large-up", "large", "up", at_least=2),
    Row("large-down", "large", "down", at_least=1.2),
    Row("huge-up", "huge", "up", at_least=2),
    Row("huge-down", "huge", "down", at_least=1.2),
    Row("tls-small-up", "some small", "up", "null over TLS", 2.5),
    Row("tls-small-down", "some small", "down", "null over TLS", 2.5),
    Row("tls-large-up", "some large", "up", "null over TLS", 2),
    Row("tls-large-down", "some large", "down", "null over TLS", 1.2),
    Row("seaweed-small-up", "some small", "up", "seaweed", 2.5),
    Row("seaweed-small-down", "some small", "down", "seaweed", 2.5),
    Row("seaweed-mixed-up", "some mixed", "up", "seaweed", 2),
    Row("seaweed-mixed-down", "some mixed", "down", "seaweed", 1.2),
    Row("seaweed-large-up", "some large", "up", "seaweed", 2),
    Row("seaweed-large-down", "some large", "down", "seaweed", 1.2),
]

_ACTIONS = {
    "up": "upload", "down": "download", "again": "sync of an unchanged tree", "packed_up": "upload, packed by us",
    "packed_down": "download, packed by us",
}  # fmt: skip


def results_of(row: Row, words: str, costs: dict[str, Cost]) -> list[Result]:
    """What a row says about the targets."""
    rivals = [name for name in RIVALS if name in costs and (row.action != "again" or name == "s5cmd")]
    if OURS not in costs or not rivals:
        return []
    best = min(rivals, key=lambda name: costs[name].wall_s)
    mine = costs[OURS]
    title = f"mover, {row.server}: {words}, {_ACTIONS[row.action]}"
    peers: dict[str, float] = {}
    for name, cost in costs.items():
        peers |= {f"{name} s": cost.wall_s, f"{name} cpu s": cost.cpu_s, f"{name} MiB": cost.peak_mib}
    speed, cpu = costs[best].wall_s / mine.wall_s, mine.cpu_s / costs[best].cpu_s
    against = "s5cmd sync" if row.action == "again" else "the faster of s5cmd and rclone"
    note = f"{_BASIS}; against {best}; boto3 once only"
    found = [
        Result(title, speed, "x", f"at least {row.at_least:g} times {against}", speed >= row.at_least, peers, note),
        Result(f"{title}: processor time", cpu, "x", "at most 0.5", cpu <= 0.5, {f"{best} cpu s": costs[best].cpu_s}),
        Result(
            f"{title}: memory", mine.peak_mib, "MiB", f"below {MEMORY_MIB}", mine.peak_mib < MEMORY_MIB,
            {name: cost.peak_mib for name, cost in costs.items() if name != OURS},
        ),
    ]  # fmt: skip
    if "inside" in costs:
        share = mine.wall_s / costs["inside"].wall_s
        met = share >= 0.9
        found.append(Result(f"{title}: inside half", share, "x", "at least 0.9 of outlast cp", met, {}))
    return found


def print_table(row: Row, words: str, costs: dict[str, Cost]) -> None:
    rivals = [costs[name].wall_s for name in RIVALS if name in costs]
    print(f"\n{row.name}: {words}, {_ACTIONS[row.action]}, {row.server} server")
    print(f"  {'':20}{'wall s':>9}{'times':>8}{'cpu s':>9}{'peak MiB':>10}")
    for name, cost in costs.items():
        times = f"{min(rivals) / cost.wall_s:.2f}" if rivals else ""
        print(f"  {name:20}{cost.wall_s:9.2f}{times:>8}{cost.cpu_s:9.2f}{cost.peak_mib:10.0f}", flush=True)
