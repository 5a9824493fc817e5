"""Allowances: periods, what is left of them, and values that are none."""

from __future__ import annotations

import datetime

import pytest

from outlast.errors import SpecError
from outlast.platforms.allowance import Allowance, used_s

#: A Wednesday, near midnight.
NOW = datetime.datetime(2026, 11, 18, 23, 30, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("per", "begins", "renews_s"),
    [("day", "2026-11-18", 1800), ("week", "2026-11-16", 4 * 86400 + 1800), ("month", "2026-11-01", 12 * 86400 + 1800)],
)
def test_period_begins_and_renews(per, begins, renews_s):
    allowance = Allowance(36000, per)
    assert allowance.begins(NOW.date()) == datetime.date.fromisoformat(begins)
    assert allowance.renews_s(NOW) == renews_s


def test_last_month_of_the_year_renews_in_the_next():
    assert Allowance(1, "month").renews_s(datetime.datetime(2026, 12, 31, tzinfo=datetime.UTC)) == 86400


def test_allowance_in_all_never_renews():
    assert Allowance(3600).renews_s(NOW) is None
    assert Allowance(3600).begins(NOW.date()) == datetime.date.min


def test_rest_that_is_not_worth_a_stint_counts_as_used_up():
    assert not Allowance(36000).is_spent(36000 - 301)
    assert Allowance(36000).is_spent(36000 - 299)
    assert not Allowance(100).is_spent(80)
    assert Allowance(100).is_spent(91)


def test_use_is_added_up_over_runs_from_a_day_on():
    uses = [{"a": {"2026-11-15": 100.0, "2026-11-16": 10.0}}, {"a": {"2026-11-18": 5.0}, "b": {"2026-11-18": 1.0}}, {}]
    assert used_s(uses, "a", datetime.date(2026, 11, 16)) == 15.0
    assert used_s(uses, "c", datetime.date.min) == 0


def test_words_and_values():
    assert Allowance.of({"hours": "10", "per": "week"}) == Allowance(36000, "week")
    assert Allowance.of({"hours": "0.5"}).words == "0.5 h"
    assert Allowance.of({"hours": "10", "per": "week"}).words == "10 h of this week"
    assert Allowance.of({"per": "day"}) is None


@pytest.mark.parametrize("values", [{"hours": "ten"}, {"hours": "-1"}, {"hours": "inf"}, {"hours": "1", "per": "year"}])
def test_values_that_are_no_allowance_are_refused(values):
    with pytest.raises(SpecError):
        Allowance.of(values)
