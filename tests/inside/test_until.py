"""Conditions are read as people write them, and wrong ones are refused by the part that is wrong."""

from __future__ import annotations

import math

import pytest

from outlast.inside.until import Until


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("epoch>=100", {"epoch": 100}, True),
        ("epoch>=100", {"epoch": 99}, False),
        ("epoch > 100", {"epoch": 100}, False),
        ("val_acc >= 0.98", {"val_acc": 0.981}, True),
        ("loss<0.1 and epoch>=5", {"loss": 0.05, "epoch": 4}, False),
        ("loss<0.1 and epoch>=5", {"loss": 0.05, "epoch": 5}, True),
        ("a>1 or b<2", {"b": 1}, True),
        ("a>1 or b<2 and c==3", {"a": 0, "b": 1, "c": 4}, False),
        ("b<2 and c==3 or a>1", {"a": 2}, True),
        ("loss <= -1.5e-3", {"loss": -0.0015}, True),
        ("loss<.5", {"loss": 0.4}, True),
        ("loss<1.", {"loss": 0.4}, True),
        ("val/acc@1 >= 90", {"val/acc@1": 91.0}, True),
        ("top-5>=90", {"top-5": 90}, True),
        ("损失<0.1", {"损失": 0.01}, True),
        ("  epoch>=3 AND step>=9  ", {"epoch": 3, "step": 9}, True),
    ],
)
def test_a_condition_holds_or_not(text, values, expected):
    assert Until.parse(text).holds(values) is expected


def test_a_name_without_a_value_is_not_met():
    assert not Until.parse("loss<0.1").holds({})
    assert not Until.parse("loss<0.1").holds({"Loss": 0.0})


def test_not_a_number_meets_nothing():
    for sign in (">=", "<=", ">", "<", "=="):
        assert not Until.parse(f"loss{sign}0").holds({"loss": math.nan})


def test_infinities_compare_like_numbers():
    assert Until.parse("loss>1e300").holds({"loss": math.inf})


def test_it_remembers_its_text_and_names():
    condition = Until.parse(" b<2 and a>1 or b>5 ")
    assert str(condition) == "b<2 and a>1 or b>5"
    assert condition.names == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("epoch", "'epoch' compares nothing"),
        ("epoch=100", "'epoch=100' does not compare"),
        ("epoch=>100", "'epoch=>100' does not compare"),
        ("epoch!=100", "'epoch!=100' does not compare"),
        ("100<=epoch", "'100<=epoch' must begin with a name"),
        ("epoch>=", "'epoch>='"),
        ("epoch>=ten", "'epoch>=ten'"),
        ("epoch>=1 and", "and"),
        ("epoch>=1 and loss", "'loss' compares nothing"),
        ("and epoch>=1", "and"),
        ("(a>1) or b<2", "brackets"),
        ("a>1 b<2", "'a>1 b<2'"),
        ("a>1, b<2", "'a>1, b<2'"),
        ("__import__('os').x>1", "brackets"),
        ("0<loss<1", "must begin with a name"),
    ],
)
def test_a_wrong_condition_is_refused_by_its_wrong_part(text, named):
    with pytest.raises(ValueError, match="write it like") as caught:
        Until.parse(text)
    assert named in str(caught.value)
