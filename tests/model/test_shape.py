"""Documents into dataclasses: what fits is taken, everything else is named with its place and its value."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.model.shape import plain, read


@dataclass(frozen=True, kw_only=True)
class Inner:
    name: str
    count: int = 1

    def __post_init__(self) -> None:
        if self.count < 0:
            raise ValueError(f"count is {self.count}; it cannot be negative")


@dataclass(frozen=True, kw_only=True)
class Outer:
    mode: Literal["auto", "on"]
    ratio: float | None = None
    on: bool = False
    words: tuple[str, ...] = ()
    parts: tuple[Inner, ...] = ()
    table: dict[str, str] = field(default_factory=dict)
    free: dict[str, Any] | None = None
    one: Inner = Inner(name="only")


FULL = {
    "mode": "on", "ratio": 2, "on": True, "words": ["a", "b"], "parts": [{"name": "x", "count": 3}],
    "table": {"k": "v"}, "free": {"deep": [1, {"x": None}]}, "one": {"name": "y"},
}  # fmt: skip


def test_document_becomes_a_dataclass_and_comes_back():
    outer = read(Outer, FULL)
    assert outer.ratio == 2.0 and isinstance(outer.ratio, float)
    assert outer.words == ("a", "b") and outer.parts == (Inner(name="x", count=3),) and outer.one.count == 1
    assert read(Outer, json.loads(json.dumps(plain(outer)))) == outer


def test_what_is_not_said_has_its_default():
    assert read(Outer, {"mode": "auto"}) == Outer(mode="auto")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "mode is missing"),
        ([], "value is [], not an object"),
        ({"mode": "off"}, "mode is 'off'; possible: 'auto', 'on'"),
        ({"mode": []}, "mode is []; possible: 'auto', 'on'"),
        ({"mode": "on", "ratio": "much"}, "ratio is 'much', not a number"),
        ({"mode": "on", "ratio": True}, "ratio is True, not a number"),
        ({"mode": "on", "on": 1}, "on is 1, not true or false"),
        ({"mode": "on", "words": "ab"}, "words is 'ab', not a list"),
        ({"mode": "on", "words": ["a", 1]}, "words[1] is 1, not text"),
        ({"mode": "on", "table": []}, "table is [], not an object"),
        ({"mode": "on", "table": {"k": 1}}, "table.k is 1, not text"),
        ({"mode": "on", "table": {1: "v"}}, "table has the key 1, which is not text"),
        ({"mode": "on", "parts": [{"count": 1}]}, "parts[0].name is missing"),
        ({"mode": "on", "parts": [{"name": "x", "count": 1.5}]}, "parts[0].count is 1.5, not a whole number"),
        ({"mode": "on", "parts": [{"name": "x", "count": -1}]}, "parts[0]: count is -1; it cannot be negative"),
        ({"mode": "on", "one": None}, "one is None, not an object"),
        ({"mode": "on", "newer": 1}, "newer is not known"),
        ({"mode": "on", "one": {"name": "x", "odd": 1}}, "one.odd is not known"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(body, words):
    with pytest.raises(ValueError) as caught:
        read(Outer, body)
    assert str(caught.value) == words


RUBBISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*FULL, "name", "count", "other"]), inner),
)


@given(RUBBISH)
def test_rubbish_is_refused_or_read_but_never_breaks(body):
    try:
        assert isinstance(read(Outer, body), Outer)
    except ValueError as error:
        assert str(error)
