"""A stint that is not over: every way to lose its runner, to stop it, and to be refused by a platform."""

from __future__ import annotations

import dataclasses

import pytest

from outlast.model.states import RunState, StintState
from outlast.relay import (
    Cancel,
    Choice,
    Job,
    Policy,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
    decide,
    run_state,
    stint_state,
)
from relay_seen import E, ended, is_lost, is_next, is_refused, is_wait, seen, tend


def test_order_without_a_job_is_submitted():
    assert tend() == (Submit(1),)


def test_job_that_is_not_listed_yet_is_waited_for_then_asked_for_again_then_given_up():
    assert is_wait(tend(since_submit_s=0.1, gone_s=0.1))
    assert tend(since_submit_s=31.0, gone_s=31.0) == (Submit(1),)
    assert is_refused(tend(since_submit_s=121.0, gone_s=121.0))
    # One poll that misses a job which has queued for an hour proves nothing.
    assert is_wait(tend(since_submit_s=3600.0, gone_s=0.0))


def test_queue_may_take_for_ever():
    assert tend(job=Job.QUEUED, since_submit_s=1e6) == (Wait(None, "stint 1 is queued"),)


def test_gone_job_is_given_a_moment_for_its_end_to_appear():
    for facts in ({"job": Job.ENDED}, {"job": Job.ABSENT, "claimed": True}, {"job": Job.QUEUED, "claimed": True}):
        assert is_wait(tend(**facts))
        assert is_wait(tend(gone_s=0.4, **facts))
        assert is_lost(tend(gone_s=0.5, **facts))
        assert is_lost(tend(gone_s=0.5, preempted=True, **facts), E.PREEMPTED)


def test_silent_runner_is_lost_only_after_the_silence_limit():
    assert is_wait(tend(job=Job.RUNNING, claimed=True, silent_s=59.9, running_s=1e6))
    assert is_lost(tend(job=Job.RUNNING, claimed=True, silent_s=60.0))


def test_runner_that_never_comes_up_is_lost_but_queueing_time_does_not_count():
    assert is_wait(tend(job=Job.RUNNING, since_submit_s=1e6, running_s=119.0))
    assert is_lost(tend(job=Job.RUNNING, since_submit_s=1e6, running_s=120.0))
    assert is_wait(tend(job=Job.RUNNING, claimed=True, running_s=121.0))
    assert is_lost(tend(job=Job.RUNNING, claimed=True, running_s=180.0))


def test_stop_ends_what_has_no_runner():
    for facts in ({}, {"job": Job.QUEUED}, {"job": Job.ENDED, "gone_s": 1.0}):
        assert is_lost(tend(want="stop", **facts), E.STOPPED)
    assert is_wait(tend(want="stop", job=Job.ENDED, gone_s=0.1))


def test_stop_leaves_a_runner_time_to_save_and_then_cancels_it():
    running = {"job": Job.RUNNING, "claimed": True, "silent_s": 0.0, "want": "stop"}
    assert tend(asked_stop_s=5.0, **running) == (Wait(15.0, "stint 1 is asked to stop"),)
    cancel, end = tend(asked_stop_s=20.0, **running)
    assert cancel == Cancel(1) and isinstance(end, WriteEnd) and end.reason is E.STOPPED


def test_stop_starts_nothing_new():
    assert run_state(seen(want="stop")) is RunState.STOPPED
    decision = decide(seen(ended(1, E.HAND_OVER, 1), want="stop"))
    assert (decision.state, decision.actions) == (RunState.STOPPED, ())
    assert run_state(seen(ended(1, E.FINISHED), want="stop")) is RunState.SUCCEEDED
    assert run_state(seen(ended(1, E.SCRIPT_ERROR), want="stop")) is RunState.FAILED


def test_job_that_outlives_its_end_is_cancelled_unless_its_runner_is_just_leaving():
    def actions(**facts: object) -> tuple[object, ...]:
        stint = dataclasses.replace(ended(1, E.FINISHED, **facts), job=Job.RUNNING)
        return decide(seen(stint)).actions

    assert actions(ago_s=1.0) == ()
    assert actions(ago_s=10.0) == (Cancel(1),)
    assert actions(ago_s=0.0, by="keeper") == (Cancel(1),)


def test_earlier_stint_without_an_end_is_fenced_before_anything_else():
    run = seen(StintSeen(1, job=Job.RUNNING, claimed=True), StintSeen(2, job=Job.QUEUED))
    first = decide(run).actions[0]
    assert isinstance(first, WriteEnd) and (first.stint, first.reason) == (1, E.LOST)


def test_folder_without_an_order_gets_one():
    run = seen(ended(1, E.HAND_OVER, 1), StintSeen(2, ordered=False))
    assert is_next(run, 2, "0001-000001")


def test_states_follow_the_way_of_a_stint():
    way = [
        (StintSeen(1), StintState.PLANNED),
        (StintSeen(1, since_submit_s=0.0), StintState.SUBMITTED),
        (StintSeen(1, job=Job.QUEUED), StintState.QUEUED),
        (StintSeen(1, job=Job.RUNNING), StintState.PREPARING),
        (StintSeen(1, job=Job.RUNNING, claimed=True, phase="restoring"), StintState.PREPARING),
        (StintSeen(1, job=Job.RUNNING, claimed=True, phase="running"), StintState.RUNNING),
        (StintSeen(1, job=Job.RUNNING, claimed=True, phase="handing-over"), StintState.HANDING_OVER),
        (ended(1, E.HAND_OVER), StintState.ENDED),
    ]
    assert [stint_state(stint) for stint, _ in way] == [state for _, state in way]
    assert decide(seen(way[2][0])).state is RunState.QUEUED
    assert decide(seen(way[5][0])).state is RunState.RUNNING


# -- several platforms ----------------------------------------------------------------------------------------------


def test_refused_stint_never_counts_and_leaves_the_verdict_on_the_one_before():
    run = [ended(1, E.HAND_OVER, 2), *(ended(number, E.REFUSED, message="full") for number in range(2, 40))]
    decision = decide(seen(*run, policy=Policy(max_stints=2)))
    assert decision.actions == (WriteOrder(40, "0001-000002"), Submit(40))
    assert decision.message == "full"
    lost = [ended(number, E.LOST) for number in range(1, 6)]
    assert run_state(seen(*lost, *(ended(number, E.REFUSED) for number in range(6, 30)))) is RunState.RUNNING
    assert decide(seen(ended(1, E.REFUSED), ended(2, E.FINISHED))).message == "finished after 1 stint"


def test_run_that_was_only_refused_has_not_started():
    refused = dataclasses.replace(ended(1, E.REFUSED), claimed=False)
    assert run_state(seen(refused)) is RunState.QUEUED


def test_order_carries_the_choice_and_waits_while_there_is_none():
    chosen = decide(seen(choice=Choice("lab-pai", "free-v100 is full")))
    assert chosen.actions == (WriteOrder(1, None, "lab-pai", "free-v100 is full"), Submit(1))
    waiting = decide(seen(choice=Choice("", "waits for a platform: all are full", 12.0)))
    assert waiting.actions == (Wait(12.0, "waits for a platform: all are full"),)
    assert (waiting.state, waiting.message) == (RunState.QUEUED, "waits for a platform: all are full")


def test_platform_that_took_no_job_is_left_at_once_unless_it_has_the_job_after_all():
    assert is_refused(tend(refused="free-v100 took no job"))
    assert is_wait(tend(job=Job.QUEUED, refused="the answer was lost"))
    assert is_wait(tend(job=Job.RUNNING, claimed=True, silent_s=1.0, refused="the answer was lost"))


def test_queue_is_left_after_the_patience_only_when_there_is_somewhere_to_go():
    stint = StintSeen(1, job=Job.QUEUED, platform="free-v100", waiting_s=1801.0)
    assert is_wait(decide(seen(stint)).actions)
    decision = decide(seen(stint, elsewhere="lab-pai"))
    assert is_refused(decision.actions) and "30 min 1 s in the queue of free-v100" in decision.message
    patient = dataclasses.replace(stint, waiting_s=100.0)
    assert decide(seen(patient, elsewhere="lab-pai")).actions == (Wait(1700.0, "stint 1 is queued"),)


def test_platform_that_does_not_answer_costs_no_running_stint():
    alive = StintSeen(1, job=Job.RUNNING, claimed=True, silent_s=5.0, unheard="is down", platform="lab-pai")
    assert is_wait(decide(seen(alive, elsewhere="local")).actions)
    assert is_lost(decide(seen(dataclasses.replace(alive, silent_s=61.0))).actions)


def test_platform_that_does_not_answer_is_left_when_the_stint_has_no_runner_and_another_can_be_asked():
    waiting = StintSeen(1, since_submit_s=90.0, gone_s=90.0, unheard="has been down for 61 s", waiting_s=61.0,
                        platform="lab-pai")  # fmt: skip
    assert is_wait(decide(seen(waiting)).actions)
    decision = decide(seen(waiting, elsewhere="local"))
    assert is_refused(decision.actions) and decision.message == "lab-pai has been down for 61 s"


@pytest.mark.parametrize(
    ("code", "words", "said"),
    [
        (None, "", "ended before its runner came up"),
        (-9, "", "ended before its runner came up (signal 9)"),
        (-9, "killed by signal 9", "ended before its runner came up (killed by signal 9)"),
        (127, "this image has no python", "ended before its runner came up (exit code 127, this image has no python)"),
    ],
)
def test_job_that_never_came_up_is_told_in_the_platforms_words(code, words, said):
    gone = StintSeen(1, job=Job.ENDED, job_exit=code, job_words=words, since_submit_s=9.0, gone_s=99.0)
    assert decide(seen(gone)).message == f"the job of stint 1 {said}"
