"""The keeper: observe, decide, act."""

from __future__ import annotations

import pytest
from world_rows import ask, order_of, row_of, stints_of

from outlast.errors import PlatformError
from outlast.inside import layout
from outlast.inside.errors import PlaceError, StoreFull
from outlast.inside.records import End
from outlast.platforms.base import job_name
from outlast.testing.runs import write_run


def test_run_in_the_inbox_is_ordered_and_submitted_in_one_turn(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    assert order_of(world, spec.id, 1).limit_s == 60.0
    assert world.platform.submits == {job_name(spec.id, 1): 1}
    assert list((world.settings.home / "inbox").iterdir()) == []
    assert row_of(world, spec.id).state == "queued"


def test_chain_of_stints_until_finished(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat(epoch=1.0, metrics={"loss": 0.5})
    world.turn(keeper)
    assert row_of(world, spec.id).view["metrics"] == {"loss": 0.5}
    last = stint.checkpoint()
    stint.end("hand-over")
    world.turn(keeper)
    assert order_of(world, spec.id, 2).resume_from == last
    second = world.platform.start(world.store)
    second.beat()
    world.turn(keeper)
    second.checkpoint()
    second.end("finished")
    world.turn(keeper)
    row = row_of(world, spec.id)
    assert (row.state, row.open, row.view["stints"]) == ("succeeded", False, 2)
    assert world.platform.submits == {job_name(spec.id, 1): 1, job_name(spec.id, 2): 1}
    assert keeper.idle_s == 0.0
    world.turn(keeper, 7.0)
    assert keeper.idle_s == 7.0


def test_turn_returns_soon_while_a_stint_hands_over(world):
    write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    assert world.turn(keeper) <= 0.2
    stint.beat(time_left_s=30.0)
    assert 0.5 < world.turn(keeper) <= 1.0
    stint.beat(time_left_s=2.0)
    assert world.turn(keeper) <= 0.2
    stint.beat("handing-over")
    assert world.turn(keeper) <= 0.1


def test_lost_stint_is_fenced_before_the_next_is_ordered(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat(epoch=3.0)
    kept = stint.checkpoint()
    world.turn(keeper)
    world.platform.lose(job_name(spec.id, 1))
    world.turn(keeper, 0.1)
    assert stints_of(world, spec.id) == [1], "the end may still appear"
    world.turn(keeper, 0.6)
    end = End.from_bytes(world.store.get(layout.end_key(spec.id, 1)))
    assert (end.reason, end.by, end.epoch, end.last_checkpoint) == ("lost", "keeper", 3.0, kept)
    assert order_of(world, spec.id, 2).resume_from == kept
    assert not stint.end("finished"), "a late runner finds the fence"


def test_silence_is_measured_by_the_beat_counter_not_by_times(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    for _ in range(5):
        stint.beat()
        world.turn(keeper, 50.0)
    assert stints_of(world, spec.id) == [1]
    world.turn(keeper, 61.0)
    assert job_name(spec.id, 1) in world.platform.cancelled
    assert End.from_bytes(world.store.get(layout.end_key(spec.id, 1))).reason == "lost"


def test_restarted_keeper_is_patient_again_and_adopts(world):
    spec = write_run(world.store, world.settings)
    first = world.keeper()
    world.turn(first)
    stint = world.platform.start(world.store)
    stint.beat()
    world.turn(first, 59.0)
    second = world.keeper()
    world.turn(second, 59.0)
    assert world.store.head(layout.end_key(spec.id, 1)) is None
    stint.beat()
    world.turn(second, 59.0)
    assert stints_of(world, spec.id) == [1] and world.platform.submits == {job_name(spec.id, 1): 1}


def test_stop_of_a_queued_run_cancels_it(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    ask(world, spec.id, want="stop")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "stopped" and not row_of(world, spec.id).open
    assert world.platform.cancelled == [job_name(spec.id, 1)]


def test_stop_waits_for_the_runner_then_ends_it(world):
    spec = write_run(world.store, world.settings, grace_s=2.0)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    world.turn(keeper)
    ask(world, spec.id, want="stop")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "running"
    world.turn(keeper, 13.0)
    assert row_of(world, spec.id).state == "stopped"


def test_resumed_run_goes_on_where_the_user_said(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    stint = world.platform.start(world.store)
    chosen = stint.checkpoint()
    stint.checkpoint()
    stint.end("script-error", exit_code=1, tail=["boom"], fingerprint="f")
    world.turn(keeper)
    second = world.platform.start(world.store)
    second.end("script-error", exit_code=1, tail=["boom"], fingerprint="f")
    world.turn(keeper)
    assert row_of(world, spec.id).state == "failed" and "boom" in row_of(world, spec.id).view["message"]
    ask(world, spec.id, want="go", since_stint=3, resume_from=chosen, limit_s=7.0)
    from outlast.keeper.home import Home
    from outlast.keeper.inbox import drop_marker

    drop_marker(Home(world.settings.home), spec.id, spec.store)
    world.turn(keeper)
    order = order_of(world, spec.id, 3)
    assert (order.resume_from, order.limit_s) == (chosen, 7.0)
    assert row_of(world, spec.id).open


def test_trouble_with_one_run_does_not_keep_the_others_waiting(world):
    bad, good = write_run(world.store, world.settings), write_run(world.store, world.settings)
    keeper = world.keeper()
    broken = world.platform.submit

    def submit(launch):
        if launch.spec.id == bad.id:
            raise RuntimeError("broken in a new way")
        broken(launch)

    world.platform.submit = submit
    world.turn(keeper)
    assert job_name(good.id, 1) in world.platform.jobs
    assert "broken in a new way" in row_of(world, bad.id).view["notice"]
    world.platform.submit = broken
    world.turn(keeper)
    assert job_name(bad.id, 1) in world.platform.jobs
    assert row_of(world, bad.id).view["notice"] == ""


@pytest.mark.parametrize("error", [StoreFull("no space left in /s"), PlaceError("/s is read-only")])
def test_full_or_read_only_store_is_the_runs_notice(world, error):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    put, broken = world.store.put_if_absent, [True]

    def put_if_absent(key, data):
        if broken[0]:
            raise error
        return put(key, data)

    world.store.put_if_absent = put_if_absent
    assert world.turn(keeper) <= 2.0
    assert str(error) in row_of(world, spec.id).view["notice"]
    broken[0] = False
    world.turn(keeper)
    assert job_name(spec.id, 1) in world.platform.jobs


def test_platform_that_cannot_answer_is_a_notice_and_ages_go_on(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    world.platform.start(world.store).beat()
    world.turn(keeper)

    def down(verb):
        if verb == "poll":
            raise PlatformError("the scheduler does not answer")

    world.platform.on_call = down
    world.turn(keeper, 50.0)
    assert "does not answer" in row_of(world, spec.id).view["notice"]
    assert stints_of(world, spec.id) == [1]
    world.platform.on_call = lambda verb: None
    world.turn(keeper, 20.0)
    assert End.from_bytes(world.store.get(layout.end_key(spec.id, 1))).reason == "lost"


def test_second_platform_is_tried_after_a_loss_without_progress(world):
    spec = write_run(world.store, world.settings, platforms=("fake", "other"))
    keeper = world.keeper()
    world.turn(keeper)
    for _ in range(2):
        world.platform.start(world.store)
        world.platform.lose(list(world.platform.jobs)[-1])
        world.turn(keeper, 1.0)
        world.turn(keeper, 1.0)
    assert [order_of(world, spec.id, number).platform for number in (1, 2, 3)] == ["fake", "other", "fake"]


def test_secrets_reach_the_launch_and_nothing_else(world):
    from outlast.keeper.home import Home
    from outlast.keeper.secrets import SecretsFile

    spec = write_run(world.store, world.settings, secrets=("TOKEN",))
    SecretsFile(Home(world.settings.home)).save_run(spec.id, {"TOKEN": "s3cret-value"})
    world.turn(world.keeper())
    assert world.platform.launches[job_name(spec.id, 1)].secrets == {"TOKEN": "s3cret-value"}
    assert "s3cret-value" not in repr(world.platform.launches)
    for entry in world.store.list(""):
        assert b"s3cret-value" not in world.store.get(entry.key)
    assert "s3cret-value" not in str(row_of(world, spec.id))


def test_run_whose_folder_is_gone_is_let_go(world):
    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    other = world.keeper()
    for entry in list(world.store.list(layout.run_prefix(spec.id))):
        world.store.delete(entry.key)
    world.turn(other)
    assert not row_of(world, spec.id).open


def test_two_keepers_on_one_home_start_each_stint_once(world):
    specs = [write_run(world.store, world.settings) for _ in range(3)]
    keepers = [world.keeper(), world.keeper(alone=False)]
    for _ in range(6):
        for keeper in keepers:
            world.turn(keeper)
    assert world.platform.submits == {job_name(spec.id, 1): 1 for spec in specs}
    for spec in specs:
        assert stints_of(world, spec.id) == [1]


def test_one_turn_for_one_run_takes_milliseconds(world):
    """A long history must not slow the hand-over: what cannot change is not read again."""
    import time

    spec = write_run(world.store, world.settings)
    keeper = world.keeper()
    world.turn(keeper)
    for _ in range(20):
        stint = world.platform.start(world.store)
        for _ in range(5):
            stint.checkpoint()
        stint.end("hand-over")
        world.turn(keeper)
    stint = world.platform.start(world.store)
    stint.beat()
    world.turn(keeper)
    best = min(_timed(lambda: world.turn(keeper, 0.01), time.thread_time) for _ in range(20))
    print(f"one turn: {best * 1000:.1f} ms")
    assert stints_of(world, spec.id)[-1] == 21
    assert best < 0.05


def _timed(work, clock) -> float:
    started = clock()
    work()
    return clock() - started
