"""The user's own patterns: tried apart from the runner, so that a catastrophic one costs half a second, once."""

from __future__ import annotations

import threading
import time

import pytest

from outlast.inside.metrics import MetricReader
from outlast.inside.patterns import Patterns, check_pattern, reading_of

CATASTROPHE = r"(?P<loss>(a+)+)b"


@pytest.fixture
def patterns():
    made: list[Patterns] = []

    def make(*texts: str) -> Patterns:
        made.append(Patterns(texts))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_first_pattern_that_matches_a_line_has_it(patterns):
    ours = patterns(r"@ (?P<a>\d+)", r"(?P<b>\d+)")
    found = ours.search(b"@ 5\n7\nnothing\n@ 6\r8\b")
    assert [(each.start, each.reading.values) for each in found] == [
        (0, {"a": 5.0}), (4, {"b": 7.0}), (14, {"a": 6.0}), (18, {"b": 8.0}),
    ]  # fmt: skip


def test_catastrophic_pattern_is_put_aside_and_the_others_go_on(patterns):
    ours = patterns(CATASTROPHE, r"depth (?P<depth>\d+)")
    beats = []
    is_over = threading.Event()
    heart = threading.Thread(
        target=lambda: [beats.append(time.monotonic()) for _ in iter(lambda: is_over.wait(0.02), True)]
    )
    heart.start()
    found = ours.search(b"a" * 64 + b"\ndepth 3\n")
    is_over.set()
    heart.join()
    assert [each.reading.values for each in found] == [{"depth": 3.0}]
    assert len(ours.problems) == 1 and CATASTROPHE in ours.problems[0]
    assert len(beats) >= 2  # half a second of searching, and other threads went on
    assert [each.reading.values for each in ours.search(b"a" * 64 + b"\ndepth 4\n")] == [{"depth": 4.0}]
    assert len(ours.problems) == 1


def test_reader_goes_on_after_a_catastrophe_and_says_so():
    reader = MetricReader(budget=None, patterns=[CATASTROPHE])
    points = reader.feed(b"a" * 64 + b"\nloss: 0.5\n", 0.0) + reader.finish(0.0)
    assert [point.values for point in points] == [{"loss": 0.5}]
    assert len(reader.problems) == 1


def test_patterns_whose_process_died_are_given_up_with_a_sentence(patterns):
    ours = patterns(r"(?P<a>\d+)")
    ours.search(b"1\n")
    ours._process.kill()
    ours._process.wait()
    assert ours.search(b"2\n") == [] and ours.search(b"3\n") == []
    assert len(ours.problems) == 1 and not ours


def test_flood_with_a_pattern_keeps_order_and_the_newest():
    reader = MetricReader(budget=None, patterns=[r"@(?P<depth>\d+)"])
    lines = [b"@%d\nepoch: 1 step: %d, loss is 0.5\nnoise\n" % (n, n) for n in range(5000)]
    points = reader.feed(b"".join(lines), 0.0) + reader.finish(0.0)
    assert [point.values for point in points[:4]] == [{"depth": 0.0}, {"loss": 0.5}, {"depth": 1.0}, {"loss": 0.5}]
    assert len(points) == 10_000 and points[-1].step == 4999


@pytest.mark.parametrize(
    "groups, expected",
    [
        ({"loss": "0.5", "epoch": "3", "step": "1,200", "steps": None}, (3.0, None, 1200, None, {"loss": 0.5})),
        ({"acc": "96%"}, (None, None, None, None, {"acc": 0.96})),
        ({"name": "depth", "value": "3"}, (None, None, None, None, {"depth": 3.0})),
        ({"loss": "nan?"}, (None, None, None, None, {})),
        ({"step": "inf", "loss": "1e400"}, (None, None, None, None, {"loss": float("inf")})),
    ],
)
def test_groups_become_progress_and_metrics(groups, expected):
    assert reading_of(groups).told == expected


@pytest.mark.parametrize("pattern, word", [("(", "regular expression"), ("loss ([0-9.]+)", "named group")])
def test_useless_pattern_is_named(pattern, word):
    with pytest.raises(ValueError, match=word):
        check_pattern(pattern)
