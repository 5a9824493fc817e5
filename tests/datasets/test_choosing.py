"""How many of each are kept."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.datasets.choosing import Keep, allot, choose
from outlast.errors import UsageError


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 500), max_size=12), st.integers(1, 2000))
def test_shares_add_up_are_never_too_many_and_never_none(counts, keep):
    shares = allot(counts, keep)
    filled = {name: count for name, count in counts.items() if count}
    assert set(shares) == set(filled)
    assert all(1 <= shares[name] <= filled[name] for name in shares)
    assert sum(shares.values()) == min(max(keep, len(filled)), sum(filled.values()))
    total = sum(filled.values())
    for name, share in shares.items():
        if share > 1 and keep <= total:
            assert share <= Fraction(keep * filled[name], total) + 1


@given(st.lists(st.integers()), st.integers(0, 30), st.integers())
def test_choosing_keeps_the_order_and_the_number(items, count, seed):
    chosen = choose(items, count, seed, "x")
    assert len(chosen) == min(count, len(items)) and chosen == choose(items, count, seed, "x")
    left = iter(items)
    assert all(any(each == other for other in left) for each in chosen)


@pytest.mark.parametrize(("text", "kept"), [("40", 40), ("5%", 50), ("0.01%", 1), ("100%", 1000), ("5000", 1000)])
def test_a_number_or_a_share_can_be_kept(text, kept):
    assert Keep.parse(text).of(1000) == kept


@pytest.mark.parametrize("text", ["", "0", "-3", "0%", "101%", "many", "4.5", "%"])
def test_other_words_are_refused(text):
    with pytest.raises(UsageError, match="cannot keep"):
        Keep.parse(text)
