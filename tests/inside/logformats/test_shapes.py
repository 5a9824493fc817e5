"""A line read by its shape says exactly what the general way reads, whatever its numbers are."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.inside.logformats import read_alone
from outlast.inside.logformats.shapes import Shapes, learn
from outlast.inside.metrics import MetricReader

CORPUS = Path(__file__).parent / "corpus"
LINES = sorted(
    {
        line
        for path in CORPUS.glob("*.log")
        for line in re.split(rb"[\n\r\b]", path.read_bytes())
        if line and len(line) < 600
    }
)
LEARNED = [(line, shape) for line in LINES if (shape := learn(line, read_alone)) is not None]


def told(reading):
    return None if reading is None else repr(reading.told)


def by_shape(shape, line: bytes):
    match = shape.match(line.decode("latin-1") + "\n", 0)
    return None if match is None else repr(shape.read(*match.groups()))


def test_most_lines_with_metrics_can_be_learned():
    with_values = [line for line in LINES if (reading := read_alone(line)) is not None and reading.values]
    assert len(LEARNED) >= 0.85 * len(with_values)
    assert len(LEARNED) > 80


def test_every_learned_line_is_read_as_before():
    for line, shape in LEARNED:
        assert by_shape(shape, line) == told(read_alone(line)), line


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_other_numbers_of_the_same_shape_are_read_as_the_general_way_would(data):
    line, shape = data.draw(st.sampled_from(LEARNED))
    rng = random.Random(data.draw(st.integers(0, 10**9)))
    other = re.sub(rb"[0-9]+", lambda run: _digits(rng, len(run.group())), line)
    fast = by_shape(shape, other)
    if fast is not None:
        assert fast == told(read_alone(other)), other


def _digits(rng: random.Random, length: int) -> bytes:
    length = rng.choice([length, length, max(1, length - 1), length + 1, length + 6])
    return bytes(rng.choice(b"0123456789") for _ in range(length))


def test_a_number_that_is_part_of_a_name_does_not_vary():
    shape = learn(b"step 5 img/3: 0.5", read_alone)
    assert by_shape(shape, b"step 6 img/3: 0.7") is not None
    assert by_shape(shape, b"step 6 img/4: 0.7") is None


@pytest.mark.parametrize("line", [b"Accuracy: 9840/10000 (98%)", b"step 1,234 loss 0.5", b"hello", b"lr: 0.1"])
def test_a_line_whose_numbers_mean_more_than_themselves_is_not_learned(line):
    assert learn(line, read_alone) is None


def test_names_with_quotes_and_braces_stay_names():
    line = b"epoch 1 a'b{0}%s\\n\": 0.5, loss: 0.25"
    shape = learn(line, read_alone)
    assert by_shape(shape, line) == told(read_alone(line))


def test_a_log_of_ever_new_shapes_costs_no_more_memory():
    shapes = Shapes(read_alone)
    rng = random.Random(7)
    for _ in range(20_000):
        word = bytes(rng.choice(b"abcdefgh") for _ in range(6))
        shapes.find(b"loss " + word + b" 0.5")
    assert len(shapes._sightings) <= 1024 and len(shapes._known) <= 128


def test_long_log_is_read_by_shapes_as_by_the_general_way():
    rng = random.Random(11)
    for path in sorted(CORPUS.glob("*.json")):
        once = path.with_suffix(".log").read_bytes() + b"\n"
        log = re.sub(rb"(?<=[0-9])[0-9](?=[^0-9])", lambda _: b"%d" % rng.randrange(10), once * 6)
        slow, fast = MetricReader(budget=None), MetricReader(budget=None)
        slow._shapes.find = lambda line: None
        assert repr(fast.feed(log, 0.0) + fast.finish(0.0)) == repr(slow.feed(log, 0.0) + slow.finish(0.0)), path.stem
        assert (fast.epoch, fast.epochs, fast.step, fast.steps) == (slow.epoch, slow.epochs, slow.step, slow.steps)
