"""Durations and sizes as people write them."""

import pytest

from outlast.model.quantities import parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90), ("0.5", 0.5), ("15s", 15), ("200ms", 0.2), ("1s500ms", 1.5), ("2m", 120), ("2min", 120),
        ("1h30m", 5400), ("1h 30min", 5400), ("2d", 172800),
    ],
)  # fmt: skip
def test_durations_are_read_with_every_unit(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "5x", "s", "-5s", "1h nonsense"])
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="1h30m"):
        parse_duration(text)


def test_sizes_are_powers_of_1024():
    assert (parse_size("512M"), parse_size("4GiB"), parse_size("1kb")) == (512 << 20, 4 << 30, 1024)
    with pytest.raises(ValueError, match="16GiB"):
        parse_size("much")
