"""Metrics read from real formats, from everything that only looks like one, and in any cut."""

from __future__ import annotations

import itertools
import json
import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.inside.metrics import LINE_CAP_BYTES, MetricReader, Point

LOGS = Path(__file__).parent / "logformats" / "corpus"
CORPUS = sorted(path.stem for path in LOGS.glob("*.json"))
NOTHING = sorted(path.stem for path in LOGS.glob("nothing_*.log"))
MUST_NOT = [line for name in NOTHING for line in (LOGS / f"{name}.log").read_text(encoding="utf-8").splitlines()]


def read(*chunks: bytes, **options) -> tuple[list[Point], MetricReader]:
    reader = MetricReader(budget=None, **options)
    points = [point for chunk in chunks for point in reader.feed(chunk, 1.0)]
    return points + reader.finish(1.0), reader


def values(text: str) -> dict[str, float]:
    points, _ = read(text.encode())
    assert len(points) <= 1
    return points[0].values if points else {}


def plain(points: list[Point]) -> list:
    return json.loads(json.dumps([[p.epoch, p.step, p.values] for p in points]).replace("NaN", '"nan"'))


@pytest.mark.parametrize("name", CORPUS)
def test_log_gives_its_expected_series(name):
    points, reader = read((LOGS / f"{name}.log").read_bytes())
    expected = json.loads((LOGS / f"{name}.json").read_text(encoding="utf-8"))
    assert plain(points) == expected["points"]
    assert [reader.epoch, reader.epochs, reader.step, reader.steps] == expected["progress"]


@pytest.mark.parametrize("line", MUST_NOT)
def test_line_that_only_looks_like_a_metric_gives_none(line):
    assert values(line + "\n") == {}


def test_there_are_at_least_as_many_lines_that_must_not_match():
    must = sum(len(json.loads((LOGS / f"{name}.json").read_text())["points"]) for name in CORPUS)
    assert len(CORPUS) >= 25 and must > 100 and len(MUST_NOT) >= must


def test_lines_that_must_not_match_change_nothing_between_those_that_do():
    for line in MUST_NOT:
        reader = MetricReader(budget=None)
        reader.feed(b"epoch: 2 step: 5, loss is 0.5\n" + line.encode() + b"\n", 0.0)
        assert (reader.epoch, reader.step) == (2.0, 5), line


@pytest.mark.parametrize(
    "name", [name for name in CORPUS if not re.search(rb"[\r\b]", (LOGS / f"{name}.log").read_bytes())]
)
def test_windows_line_ends_give_the_same_values(name):
    data = (LOGS / f"{name}.log").read_bytes()
    assert plain(read(data.replace(b"\n", b"\r\n"))[0]) == plain(read(data)[0])


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from([*CORPUS, *NOTHING]), cuts=st.lists(st.integers(0, 3000), max_size=40))
def test_any_chunking_gives_the_same_points(name, cuts):
    data = (LOGS / f"{name}.log").read_bytes()
    whole, one = read(data)
    at = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    parts, other = read(*(data[start:end] for start, end in itertools.pairwise(at)))
    assert repr(parts) == repr(whole)
    assert (one.epoch, one.epochs, one.step, one.steps) == (other.epoch, other.epochs, other.step, other.steps)


def test_one_byte_at_a_time_gives_the_same_points():
    for name in CORPUS:
        data = (LOGS / f"{name}.log").read_bytes()
        assert repr(read(*(data[i : i + 1] for i in range(len(data))))[0]) == repr(read(data)[0]), name


@settings(max_examples=200, deadline=None)
@given(rubbish=st.binary(max_size=400))
def test_binary_rubbish_never_raises_and_never_hides_the_next_line(rubbish):
    points, _ = read(rubbish + b"\nepoch: 1 step: 5, loss is 0.25\n")
    assert points[-1].values == {"loss": 0.25}


PIECES = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [b"\n", b"\r", b"\b", b"\r\n", b"\x1b[31m", "准确率：".encode(), b"\xe5\x87", b"nan", b"1e400", b"9" * 400]
    ),
    st.sampled_from([line.encode() for line in MUST_NOT]),
    st.sampled_from(
        [line for name in CORPUS for line in (LOGS / f"{name}.log").read_bytes().splitlines(keepends=True)]
    ),
)


@settings(max_examples=250, deadline=None)
@given(pieces=st.lists(PIECES, max_size=30), cuts=st.lists(st.integers(0, 4000), max_size=30))
def test_any_bytes_cut_anywhere_give_the_points_of_the_whole(pieces, cuts):
    data = b"".join(pieces)
    whole, one = read(data)
    at = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    parts, other = read(*(data[start:end] for start, end in itertools.pairwise(at)))
    assert repr(parts) == repr(whole)
    assert (one.epoch, one.epochs, one.step, one.steps) == (other.epoch, other.epochs, other.step, other.steps)
    assert len(one._rest) <= LINE_CAP_BYTES and len(other._rest) <= LINE_CAP_BYTES


def test_more_names_than_any_training_has_are_refused_once():
    lines = b"".join(b"epoch 1 row_%d: 0.5\n" % number for number in range(3000))
    points, reader = read(lines)
    assert len({name for point in points for name in point.values}) == 1000
    assert len(reader.problems) == 1 and "1000" in reader.problems[0]


@settings(max_examples=200, deadline=None)
@given(number=st.floats(allow_nan=True, allow_infinity=True))
def test_every_float_python_prints_is_read_back(number):
    found = values(f"loss: {number!r}\n")["loss"]
    assert found == number or (math.isnan(found) and math.isnan(number))


def test_colours_and_quotes_and_percent_are_understood():
    assert values("\x1b[1;32mloss\x1b[0m: \x1b[31m0.5\x1b[0m\n") == {"loss": 0.5}
    assert values("\"loss\": \"1e-05\", 'acc': '96.0%'\n") == {"loss": 1e-05, "acc": 0.96}


def test_a_line_longer_than_the_cap_costs_bounded_memory_and_the_next_line_is_read():
    reader = MetricReader(budget=None)
    for _ in range(200):
        reader.feed(b"x" * 10_000, 0.0)
    assert len(reader._rest) <= LINE_CAP_BYTES
    assert [p.values for p in reader.feed(b"\nloss: 0.5\n", 0.0)] == [{"loss": 0.5}]


def test_pathological_lines_take_no_quadratic_time():
    for line in (
        b"a" * 60_000,
        b"loss " * 12_000,
        b"epoch:" * 10_000,
        b"1" * 60_000,
        b"loss: " + b"1," * 30_000,
        b" " * 60_000,
    ):
        read(line + b"loss\n")  # the test's timeout is the judge: quadratic would take minutes


def test_updates_by_carriage_return_are_at_most_two_a_second_and_end_with_the_last():
    reader = MetricReader(budget=None)
    points = []
    for n in range(1000):  # ten seconds of a bar drawn a hundred times a second
        bar = f"\rEpoch 1: {n // 10}%|##| {n}/1000 [00:01<00:01, 9it/s, loss={n / 1000}]"
        points += reader.feed(bar.encode(), n / 100)
    points += reader.feed(b"\n", 10.0)
    assert 15 <= len(points) <= 22
    assert points[-1].step == 999 and points[-1].values == {"loss": 0.999}
    assert reader.steps == 1000


def test_a_state_held_back_comes_out_when_the_output_is_quiet():
    reader = MetricReader(budget=None)
    reader.feed(b"\rloss=0.9\rloss=0.8\r", 0.0)
    assert reader.feed(b"", 0.1) == []
    assert [p.values for p in reader.feed(b"", 0.6)] == [{"loss": 0.8}]
    assert reader.feed(b"", 1.2) == []


def test_a_bar_redrawn_when_it_closes_gives_one_point():
    bar = b"\rEpoch 1: 100%|##| 10/10 [00:01<00:00, 9it/s, loss=0.5]"
    assert len(read(bar + bar + b"\n")[0]) == 1


def test_user_pattern_reads_what_no_format_knows():
    points, _reader = read(
        b"@@ 7|0.25|98%\nnothing\n", patterns=[r"@@ (?P<epoch>\d+)\|(?P<energy>[\d.]+)\|(?P<acc>\S+)"]
    )
    assert points == [Point(1.0, 7.0, None, {"energy": 0.25, "acc": 0.98})]
    points, _ = read(b"gauge depth -> 3.5\n", patterns=[r"gauge (?P<name>\w+) -> (?P<value>[\d.]+)"])
    assert points[0].values == {"depth": 3.5}


def test_other_lines_are_still_read_beside_a_user_pattern():
    points, _ = read(b"@@ 7\nepoch: 1 step: 5, loss is 0.25\n", patterns=[r"@@ (?P<depth>\d+)"])
    assert [p.values for p in points] == [{"depth": 7.0}, {"loss": 0.25}]


@pytest.mark.parametrize("pattern", ["(", "loss ([0-9.]+)"])
def test_bad_user_pattern_is_named(pattern):
    with pytest.raises(ValueError, match="metric pattern"):
        MetricReader(patterns=[pattern])


def test_total_epochs_come_from_settings_that_give_no_metric():
    points, reader = read(b"Namespace(batch_size=64, epochs=14, lr=1.0)\n")
    assert points == [] and reader.epochs == 14 and reader.epoch is None
