"""Who is next when the machine is full: pure, so that tests can try every order.

First come first served, weighted by user. A job that is next but does not fit yet keeps what is free of its needs,
so that smaller jobs behind it cannot pass it for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from outlast.model.quantities import format_size


class Need(NamedTuple):
    """An amount of each thing that stints share out."""

    cpus: int
    memory_bytes: int = 0
    gpus: int = 0
    npus: int = 0

    def fits(self, free: Need) -> bool:
        return all(wanted <= there for wanted, there in zip(self, free, strict=True))

    def without(self, taken: Need) -> Need:
        """What is left after `taken`, never less than nothing."""
        return Need(*(max(0, there - gone) for there, gone in zip(self, taken, strict=True)))

    def share_of(self, machine: Need) -> float:
        """The largest part of the machine that this takes of any one thing."""
        return max(part / whole for part, whole in zip(self, machine, strict=True) if whole)


@dataclass(frozen=True)
class Waiting:
    """A job in the queue; a lower number came earlier."""

    name: str
    user: str
    number: int
    need: Need


@dataclass(frozen=True)
class Choice:
    """What to start now, in this order, which job keeps a reservation, and why the others wait."""

    start: tuple[str, ...] = ()
    reserved: str | None = None
    why: Mapping[str, str] = field(default_factory=dict)


def choose(
    waiting: Iterable[Waiting],
    running: Sequence[tuple[str, Need]],
    machine: Need,
    weights: Mapping[str, float],
    reserved: str | None = None,
) -> Choice:
    """Decide which waiting jobs start. `running` are pairs of user and need; `reserved` is what the last call said.

    The user whose running share divided by weight is smallest is served first, with their oldest job.
    """
    queue = sorted(waiting, key=lambda job: job.number)
    why = {job.name: _never(job.need, machine) for job in queue if not job.need.fits(machine)}
    queue = [job for job in queue if job.name not in why]
    free = machine
    shares: dict[str, float] = {}
    for user, need in running:
        free = free.without(need)
        shares[user] = shares.get(user, 0.0) + need.share_of(machine)
    start: list[str] = []
    held: Waiting | None = None
    usable = free
    while queue:
        job = _next(queue, shares, weights, usable if held else None, reserved)
        if job is None:
            break
        if not job.need.fits(usable):
            held = job
            reserved = job.name
            usable = usable.without(job.need)
        else:
            start.append(job.name)
            shares[job.user] = shares.get(job.user, 0.0) + job.need.share_of(machine)
            usable, free = usable.without(job.need), free.without(job.need)
            reserved = None if reserved == job.name else reserved
        queue.remove(job)
    held_list = [held] if held else []
    for job in [*held_list, *queue]:
        why[job.name] = _why(job, free, held)
    return Choice(tuple(start), held.name if held else None, why)


def _next(
    queue: Sequence[Waiting],
    shares: Mapping[str, float],
    weights: Mapping[str, float],
    room: Need | None,
    reserved: str | None,
) -> Waiting | None:
    """The job to serve next; with `room`, only one that fits into it."""
    candidates = [job for job in queue if room is None or job.need.fits(room)]
    for job in candidates:
        if job.name == reserved:
            return job
    return min(
        candidates,
        key=lambda job: (shares.get(job.user, 0.0) / weights.get(job.user, 1.0), job.number),
        default=None,
    )


def _never(need: Need, machine: Need) -> str:
    return f"needs {_words(need)}, this machine has {_words(machine)}"


def _why(job: Waiting, free: Need, held: Waiting | None) -> str:
    missing = job.need.without(free)
    if any(missing):
        return f"waits for {_words(missing)}"
    return f"waits behind {held.name}" if held else "waits"


def _words(amount: Need) -> str:
    words = [
        f"{count} {name}{'s' if count != 1 else ''}"
        for name, count in (("cpu", amount.cpus), ("gpu", amount.gpus), ("npu", amount.npus))
        if count
    ]
    if amount.memory_bytes:
        words.append(f"{format_size(amount.memory_bytes)} of memory")
    return " and ".join(words) or "nothing"
