"""A rhythm is learned only when every write was seen and the pause shows where a save begins."""

from __future__ import annotations

import pytest

from outlast.inside.rounds import Rounds
from outlast.inside.saves import Saves
from outlast.inside.seen import SeenFile


def seen(path, at_s):
    return SeenFile(path, 10, int(at_s * 1e9), 1, 0o644)


def watch(writes, every_s, until_s):
    """Look every `every_s` at files that are written at the given times; only the newest version is ever seen."""
    rounds = Rounds(settle_s=1.0)
    versions = {}
    look_s = 0.0
    while look_s < until_s:
        moved = {path: at_s for path, at_s in writes if look_s - every_s < at_s <= look_s}
        moved = {path: at_s for path, at_s in moved.items() if versions.get(path) != at_s}
        versions.update(moved)
        rounds.note([seen(path, at_s) for path, at_s in sorted(moved.items(), key=lambda item: item[1])], look_s)
        look_s += every_s
    return [file.path for file in rounds.find()]


def cycle(order, period_s, apart_s, count=12):
    return [
        (path, 0.5 + number * period_s + index * apart_s) for number in range(count) for index, path in enumerate(order)
    ]


@pytest.mark.parametrize("order", [["a", "b"], ["b", "a"], ["c", "a", "b"]])
def test_the_order_of_a_save_is_found(order):
    assert watch(cycle(order, 0.8, 0.05), every_s=0.1, until_s=6) == order


@pytest.mark.parametrize("every_s", [0.45, 0.6, 0.9, 1.7])
def test_looks_that_may_have_missed_a_write_teach_nothing(every_s):
    assert watch(cycle(["a", "b"], 0.8, 0.05), every_s, until_s=9) == []


def test_a_pause_within_the_save_as_long_as_the_one_after_it_teaches_nothing():
    assert watch(cycle(["a", "b"], 0.8, 0.4), every_s=0.1, until_s=9) == []
    assert watch(cycle(["a", "b"], 0.8, 0.7), every_s=0.1, until_s=9) == []


def test_two_rounds_are_not_enough():
    assert watch(cycle(["a", "b"], 0.8, 0.05, count=2), every_s=0.1, until_s=9) == []


def test_an_extra_file_now_and_then_teaches_nothing():
    writes = cycle(["a", "b"], 0.8, 0.05)
    writes.insert(4, ("best", writes[3][1] + 0.05))
    assert watch(writes, every_s=0.1, until_s=9) == []


def test_parts_of_one_save_are_not_a_series():
    shards = [(f"model-{number:05d}-of-00020.pt", 0.5 + 0.8 * number) for number in range(20)]
    assert watch(shards, every_s=0.1, until_s=20) == []
    folders = [(f"step-{number // 4}/rank-{number % 4}.pt", 0.5 + 0.8 * number) for number in range(20)]
    assert watch(folders, every_s=0.1, until_s=20) == []


def test_files_of_one_time_are_not_taken_for_a_whole_save():
    """The order was learned; now both carry one time, so which is newer cannot be told."""
    saves = Saves()
    saves.learn([seen("a", 1.0), seen("b", 1.1)])
    noticed_s = {"a": 5.0, "b": 5.0}
    assert saves.is_cycle([seen("a", 2.0), seen("b", 2.1)], noticed_s)
    assert not saves.is_cycle([seen("a", 2.0), seen("b", 2.0)], noticed_s)
    assert not saves.is_cycle([seen("b", 2.0), seen("a", 2.1)], noticed_s)
