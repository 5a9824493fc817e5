"""A stint that cannot be heard is followed by what its platform says of it."""

from __future__ import annotations

import threading
import time

import pytest

from outlast.errors import Unavailable
from outlast.inside import layout
from outlast.keeper.asking import HEARSAY_S
from outlast.keeper.listening import QUIET_S
from outlast.keeper.observe import RunFolder
from outlast.keeper.view import full_view
from outlast.model.hearsay import Happening, Hearsay
from outlast.platforms.base import Field, Job, JobState, Tells
from outlast.testing.fake_platform import FakePlatform
from outlast.testing.runs import write_run
from outlast.track.usage import read_run_usage


class TellingPlatform(FakePlatform, Tells):
    """Says what the test has it say, and counts how often it is asked."""

    def __init__(self):
        super().__init__()
        self.said = Hearsay()
        self.asked = 0
        self.trouble = None

    def hearsay(self, name):
        self.asked += 1
        if self.trouble is not None:
            raise self.trouble
        return self.said


@pytest.fixture
def telling(world):
    world.platform = TellingPlatform()
    return world


def _say(world, *words, **usage):
    events = tuple(Happening(f"2026-11-16T17:20:{at:02d}+08:00", each) for at, each in enumerate(words))
    world.platform.said = Hearsay(events, {name: tuple(values) for name, values in usage.items()})


def _view(world, run):
    folder = RunFolder(world.store, run)
    folder.refresh()
    return full_view(folder, world.settings)


def _index_message(keeper, run):
    return next(row for row in keeper._index.all_runs() if row.id == run).view["message"]


def test_before_the_first_sign_of_life_the_platform_is_listened_to(telling):
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    _say(telling, "Training job created.", "Code download started.", cpu_percent=(3.0, None, 50.0), npu_percent=(1.0,))
    telling.turn(keeper)
    name = next(iter(telling.platform.jobs))
    telling.platform.jobs[name] = Job(JobState.RUNNING)
    telling.turn(keeper)
    assert _index_message(keeper, run) == "stint 1 is preparing: Code download started."
    (stint,) = _view(telling, run).stint_list
    assert stint.detail == "Code download started."
    assert stint.events == ("2026-11-16 17:20:00 Training job created.", "2026-11-16 17:20:01 Code download started.")
    (usage,) = read_run_usage(telling.store, run)
    assert (usage.at_s, usage.span_s) == ((0.0, 60.0, 120.0), 60.0)
    assert usage.columns == {"cpu_percent": (3.0, None, 50.0), "npu_percent": (1.0, None, None)}


def test_it_is_asked_rarely_and_again_when_the_job_moves_on(telling):
    write_run(telling.store, telling.settings)
    keeper = telling.keeper()
    for _ in range(5):
        telling.turn(keeper)
    assert telling.platform.asked == 1
    name = next(iter(telling.platform.jobs))
    telling.platform.jobs[name] = Job(JobState.RUNNING)
    telling.turn(keeper)
    assert telling.platform.asked == 2
    telling.turn(keeper, HEARSAY_S)
    assert telling.platform.asked == 3


def test_a_stint_that_speaks_is_believed_and_nobody_else_is_asked(telling):
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    telling.turn(keeper)
    asked = telling.platform.asked
    stint = telling.platform.start(telling.store)
    _say(telling, "Nobody wants to know.")
    for _ in range(60):
        stint.beat()
        telling.turn(keeper)
    assert telling.platform.asked == asked
    assert telling.store.head(layout.platform_key(run, 1)) is None and _view(telling, run).stint_list[0].events == ()


def test_what_was_said_of_a_stint_is_gone_when_it_speaks_for_itself(telling):
    run = write_run(telling.store, telling.settings).id
    _say(telling, "Code download started.", cpu_percent=(3.0,))
    keeper = telling.keeper()
    telling.turn(keeper)
    assert _view(telling, run).stint_list[0].events
    stint = telling.platform.start(telling.store)
    stint.beat()
    for each in (keeper, telling.keeper()):  # also a keeper that did not write it itself
        telling.store.put(layout.platform_key(run, 1), telling.platform.said.to_bytes())
        telling.turn(each)
        stint.beat()
        telling.turn(each)
        (shown,) = _view(telling, run).stint_list
        assert (shown.events, shown.detail, shown.phase) == ((), "", "running")
        assert read_run_usage(telling.store, run) == []
    telling.turn(each, QUIET_S + 1)
    assert _view(telling, run).stint_list[0].events == ("2026-11-16 17:20:00 Code download started.",)


def test_a_stint_that_falls_silent_is_followed_beyond_what_it_told(telling):
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    telling.turn(keeper)
    stint = telling.platform.start(telling.store)
    stint.beat()
    body = b'{"format": 1, "span_s": 30.0, "at_s": [0.0, 30.0], "columns": {"cpu_percent": [7.0, 8.0]}, "limits": {}}'
    telling.store.put(layout.usage_key(run, 1), body)
    telling.turn(keeper)
    _say(telling, "Suspected hang.", cpu_percent=(7.5, 99.0), gpu_percent=(0.0, 1.0))
    telling.turn(keeper, QUIET_S + 1)
    assert _view(telling, run).stint_list[0].events == ("2026-11-16 17:20:00 Suspected hang.",)
    (usage,) = read_run_usage(telling.store, run)
    assert usage.at_s == (0.0, 30.0, 60.0)  # its own first, then the platform's later minutes
    assert usage.columns == {"cpu_percent": (7.0, 8.0, 99.0), "gpu_percent": (None, None, 1.0)}
    telling.platform.lose(stint.launch.job_name)
    _say(telling, "Suspected hang.", "The node was lost.")
    telling.turn(keeper)
    telling.turn(keeper, 30.0)
    lost, _ = _view(telling, run).stint_list
    assert lost.reason == "lost" and lost.events[-1] == "2026-11-16 17:20:01 The node was lost."


def test_the_words_of_a_platform_that_took_the_machine_are_in_the_message(telling):
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    telling.turn(keeper)
    stint = telling.platform.start(telling.store)
    stint.beat()
    words = "Training job stopped: it ran for 1 h."
    telling.platform.jobs[stint.launch.job_name] = Job(JobState.ENDED, words, preempted=True)
    telling.turn(keeper)
    telling.turn(keeper, 30.0)
    assert _view(telling, run).stint_list[0].message == f"the platform took the machine of stint 1 ({words})"


def test_trouble_with_asking_changes_nothing(telling):
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    telling.platform.trouble = Unavailable("it is away", why="down")
    telling.turn(keeper)
    assert telling.platform.asked == 1 and _view(telling, run).stint_list[0].events == ()
    stint = telling.platform.start(telling.store)
    stint.end("finished")
    telling.turn(keeper)
    assert _view(telling, run).state == "succeeded"


def test_a_distant_platform_is_asked_by_its_own_thread(telling):
    """The keeper does not wait for the answer; it is woken by it."""

    class Distant(TellingPlatform):
        fields = (Field("server", "Server"),)

        def __init__(self):
            super().__init__()
            self.may_answer = threading.Event()

        def hearsay(self, name):
            assert self.may_answer.wait(60)
            return super().hearsay(name)

    telling.platform = platform = Distant()
    run = write_run(telling.store, telling.settings).id
    keeper = telling.keeper()
    _say(telling, "Training job is queuing.")
    _turn_until(telling, keeper, lambda: platform.jobs)
    telling.turn(keeper)
    platform.may_answer.set()
    _turn_until(telling, keeper, lambda: telling.store.head(layout.platform_key(run, 1)) is not None)
    assert _view(telling, run).stint_list[0].detail == "Training job is queuing."


def _turn_until(world, keeper, condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        world.turn(keeper)
        time.sleep(0.01)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"format": 2}', b'{"format": 1, "events": [1], "usage": {}}'])
def test_what_is_no_hearsay_is_none(telling, data):
    run = write_run(telling.store, telling.settings).id
    telling.turn(telling.keeper())
    telling.store.put(layout.platform_key(run, 1), data)
    assert _view(telling, run).stint_list[0].events == () and read_run_usage(telling.store, run) == []
