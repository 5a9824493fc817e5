"""How many samples of each kind are kept, and which. Pure, and the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from outlast.errors import UsageError

T = TypeVar("T")
_KEEP = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")


@dataclass(frozen=True)
class Keep:
    """How much of a data set is kept: a number of samples, or a share of them."""

    count: int = 0
    share: Fraction = Fraction(0)

    @classmethod
    def parse(cls, text: str) -> Keep:
        """`40` samples in total, or `5%` of them."""
        match = _KEEP.fullmatch(text.strip())
        if match and match[2] and 0 < Fraction(match[1]) <= 100:
            return cls(share=Fraction(match[1]) / 100)
        if match and not match[2] and match[1].isdigit() and int(match[1]) > 0:
            return cls(count=int(match[1]))
        raise UsageError(f"cannot keep {text!r}", hint="give a number of samples like 40, or a share like 5%")

    def of(self, total: int) -> int:
        return min(self.count or max(round(total * self.share), 1), total)


def allot(counts: Mapping[str, int], keep: int) -> dict[str, int]:
    """Divide `keep` over strata in proportion to their sizes: largest remainders first, but at least one each.

    With more strata than `keep`, each still gives one: a class that is missing is no use for debugging.
    """
    filled = {name: count for name, count in counts.items() if count > 0}
    total = sum(filled.values())
    if keep >= total:
        return dict(filled)
    exact = {name: Fraction(keep * count, total) for name, count in filled.items()}
    shares = {name: max(int(share), 1) for name, share in exact.items()}
    while sum(shares.values()) > keep and any(share > 1 for share in shares.values()):
        # The minimum of one took too much: the strata that are furthest above their due give it back.
        most = max((name for name in shares if shares[name] > 1), key=lambda name: (shares[name] - exact[name], name))
        shares[most] -= 1
    left = keep - sum(shares.values())
    for name in sorted(exact, key=lambda name: (shares[name] - exact[name], name))[: max(left, 0)]:
        shares[name] += 1
    return shares


def choose(items: Sequence[T], count: int, seed: int, stratum: str) -> list[T]:
    """`count` of the items, in their order. Another stratum, or another seed, chooses differently."""
    if count >= len(items):
        return list(items)
    at = sorted(random.Random(f"{seed}:{stratum}").sample(range(len(items)), count))
    return [items[each] for each in at]
