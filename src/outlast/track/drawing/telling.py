"""Which metrics of a run tell most, when nobody says which to show."""

from __future__ import annotations

import re
from collections.abc import Iterable

from outlast.inside.better import direction

_HELD_OUT = re.compile(r"(?:^|[^a-z])(?:val|valid|validation|eval|evaluation|test|dev)(?:[^a-z]|$)|^(?:val|eval|test)")
_A_CLASS = 2  # of the same kind, two are enough to look at


def telling_metrics(names: Iterable[str], most: int) -> list[str]:
    """At most so many: losses first, what was measured on held-out data with them, then accuracies and the like.

    Metrics that are neither good nor bad (a learning rate, a time) come only when there is nothing else.
    """
    ranked = sorted(names, key=lambda name: (_rank(name), len(name), name))
    good = [name for name in ranked if direction(name)] or ranked
    taken: list[str] = []
    for limit in (_A_CLASS, most):
        for name in good:
            alike = sum(_rank(other) == _rank(name) for other in taken)
            if name not in taken and alike < limit and len(taken) < most:
                taken.append(name)
    return sorted(taken, key=ranked.index)


def _rank(name: str) -> int:
    held_out = bool(_HELD_OUT.search(name.lower()))
    match direction(name):
        case -1 if "loss" in name.lower():
            return 1 if held_out else 0
        case 1:
            return 2 if held_out else 3
        case -1:
            return 4
    return 5
