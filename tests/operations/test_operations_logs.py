"""What the script printed, now and as it comes."""

from __future__ import annotations

import pytest

from outlast.errors import NotFoundError
from outlast.operations.logs import read_logs


def test_output_of_all_stints_in_order_or_of_one(bench):
    spec = bench.run()
    stint = bench.start()
    stint.log(1, b"a\n")
    stint.log(2, b"b\n")
    stint.checkpoint()
    bench.end(stint, "hand-over")
    bench.start().log(1, b"c\n")
    assert b"".join(read_logs(bench.settings, spec.id)) == b"a\nb\nc\n"
    assert b"".join(read_logs(bench.settings, spec.id, stint=2)) == b"c\n"
    with pytest.raises(NotFoundError, match="no stint 3; it has 2"):
        list(read_logs(bench.settings, spec.id, stint=3))


def test_following_ends_with_the_run_and_misses_nothing(bench):
    spec = bench.run()
    stint = bench.start()
    stint.log(1, b"first\n")
    got = []
    for piece in read_logs(bench.settings, spec.id, follow=True):
        got.append(piece)
        if len(got) == 1:
            stint.log(2, b"second\n")
        elif len(got) == 2:
            stint.log(3, b"last words\n")
            stint.end("finished")
    assert got == [b"first\n", b"second\n", b"last words\n"]


def test_following_one_stint_ends_with_that_stint(bench):
    spec = bench.run()
    stint = bench.start()
    stint.log(1, b"one\n")
    stint.checkpoint()
    bench.end(stint, "hand-over")
    bench.start().log(1, b"two\n")
    assert list(read_logs(bench.settings, spec.id, stint=1, follow=True)) == [b"one\n"]
