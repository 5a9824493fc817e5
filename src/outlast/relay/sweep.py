"""Which members of a sweep may start, and which are hopeless: pure, like every decision of the relay.

Members are compared at equal epochs, at 1, 2, 4, 8 … times the epoch that the user chose. Each comparison can end the
worse half, as in successive halving; the member that has the best value of all is never ended.
"""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from outlast.model.states import RunState


@dataclass(frozen=True, slots=True)
class Rule:
    """Early stopping as the user asked for it."""

    metric: str
    sign: int  # +1: more is better, -1: less is
    after: float = 4.0  # the first epoch at which members are compared
    peers: int = 3  # others that must have come as far before anyone is judged


@dataclass(frozen=True, slots=True)
class MemberSeen:
    """One member, as far as the sweep cares."""

    run: str
    state: RunState
    started: bool = False  # it has had a stint
    exempt: bool = False  # resumed by its user after it had ended: not judged again
    reached: float = -math.inf  # the furthest epoch (or step, where there are no epochs) of the metric
    bests: tuple[tuple[float, float], ...] = ()  # (epoch, best value up to there), at each improvement

    @property
    def is_training(self) -> bool:
        return self.started and not self.state.is_final

    def best_at(self, place: float) -> float | None:
        """The best value up to an epoch; None before there is one."""
        index = bisect.bisect_right(self.bests, (place, math.inf))
        return self.bests[index - 1][1] if index else None

    def has_passed(self, place: float) -> bool:
        """Whether everything up to an epoch is known: one that has only begun may still improve."""
        return self.reached > place or (self.state.is_final and self.reached >= place)


@dataclass(frozen=True, slots=True)
class Hopeless:
    """A member that shall stop, and the numbers that say why."""

    run: str
    place: float
    value: float
    median: float
    peers: int


def held(members: Sequence[MemberSeen], at_once: int | None) -> frozenset[str]:
    """The members that must wait with their first stint; those that have begun are never held."""
    if at_once is None:
        return frozenset()
    waiting = [member.run for member in members if not member.started and not member.state.is_final]
    free = at_once - sum(member.is_training for member in members)
    return frozenset(waiting[max(0, free) :])


def hopeless(members: Sequence[MemberSeen], rule: Rule) -> list[Hopeless]:
    """The members whose best value is worse than the median of the others' at the same epoch."""
    leader = _leader(members, rule)
    judged = (_judge(member, members, rule) for member in members if member.is_training and not member.exempt)
    return [found for found in judged if found is not None and found.run != leader]


def _leader(members: Sequence[MemberSeen], rule: Rule) -> str | None:
    known = [member for member in members if member.bests]
    return max(known, key=lambda member: _merit(member.bests[-1][1], rule)).run if known else None


def _judge(member: MemberSeen, members: Sequence[MemberSeen], rule: Rule) -> Hopeless | None:
    """Judged at the furthest epoch of comparison that enough others have passed, too."""
    for place in _rungs(member, rule):
        value = member.best_at(place)
        others = [other.best_at(place) for other in members if other.run != member.run and other.has_passed(place)]
        known = [_merit(other, rule) for other in others if other is not None]
        if value is None or len(known) < rule.peers:
            continue
        median = statistics.median(known)
        if _merit(value, rule) >= median:
            return None
        return Hopeless(member.run, place, value, rule.sign * median, len(known))
    return None


def _rungs(member: MemberSeen, rule: Rule) -> list[float]:
    """The epochs of comparison that a member has passed, the furthest first."""
    rungs: list[float] = []
    place = rule.after
    while member.has_passed(place):
        rungs.insert(0, place)
        place *= 2
    return rungs


def _merit(value: float, rule: Rule) -> float:
    """More is better; a value that is no number is the worst there is."""
    return -math.inf if math.isnan(value) else rule.sign * value
