"""One look in, one decision out: every row of the table of end reasons."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

import outlast.relay
from outlast.model.states import RunState
from outlast.platforms.base import JobState
from outlast.relay import (
    Job,
    Policy,
    Submit,
    Wait,
    WriteOrder,
    decide,
    next_checkpoint,
    run_state,
)
from relay_seen import E, ended, is_next, seen


def test_job_words_are_those_of_the_platforms():
    assert {job.name: job.value for job in Job} == {state.name: state.value for state in JobState}


def test_relay_imports_only_the_model_and_the_standard_library():
    allowed = {"__future__", "bisect", "collections.abc", "dataclasses", "enum", "math", "re", "statistics", "typing"}
    folder = Path(outlast.relay.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name in allowed or name.startswith(("outlast.model.", "outlast.relay.")), (path, name)


def test_new_run_is_ordered_then_submitted():
    decision = decide(seen())
    assert decision.actions == (WriteOrder(1, None), Submit(1))
    assert decision.state is RunState.QUEUED
    assert decision.stint_state is None


def test_finished_run_has_succeeded_and_needs_nothing():
    decision = decide(seen(ended(1, E.HAND_OVER, 2), ended(2, E.FINISHED, 1)))
    assert (decision.state, decision.actions) == (RunState.SUCCEEDED, ())
    assert decision.message == "finished after 2 stints"


def test_hand_over_starts_the_next_stint_at_once_from_the_last_checkpoint():
    assert is_next(seen(ended(1, E.HAND_OVER, 3, ago_s=0.0)), 2, "0001-000003")


def test_reaching_the_number_of_stints_keeps_the_work_and_says_how_to_go_on():
    decision = decide(seen(ended(1, E.HAND_OVER, 1), policy=Policy(max_stints=1)))
    assert decision.state is RunState.STOPPED
    assert decision.message == ("reached the limit of 1 stint; continue with: outlast resume 1115-quiet-otter-7kq")
    resumed = seen(ended(1, E.HAND_OVER, 1), policy=Policy(max_stints=1), since_stint=2)
    assert is_next(resumed, 2, "0001-000001")


def test_finishing_in_the_last_allowed_stint_is_success():
    assert run_state(seen(ended(1, E.FINISHED), policy=Policy(max_stints=1))) is RunState.SUCCEEDED


def test_script_that_never_saves_fails_after_the_first_limit():
    decision = decide(seen(ended(1, E.TIME_LIMIT), limit_s=15.0))
    assert decision.state is RunState.FAILED
    for words in ("stint 1", "15 s", "'ckpt'", "--checkpoint PATH", "outlast.save"):
        assert words in decision.message


def test_limit_without_a_new_checkpoint_goes_on_from_the_older_one_a_few_times():
    run = [ended(1, E.HAND_OVER, 2), ended(2, E.TIME_LIMIT), ended(3, E.TIME_LIMIT)]
    assert is_next(seen(*run), 4, "0001-000002")
    decision = decide(seen(*run, ended(4, E.TIME_LIMIT)))
    assert decision.state is RunState.FAILED
    assert "--limit" in decision.message and "3 stints in a row" in decision.message


def test_progress_forgives_earlier_limits():
    run = [ended(1, E.TIME_LIMIT), ended(2, E.TIME_LIMIT), ended(3, E.HAND_OVER, 1), ended(4, E.TIME_LIMIT)]
    assert is_next(seen(*run), 5, "0003-000001")


def test_hand_over_that_left_nothing_counts_like_a_limit():
    assert run_state(seen(ended(1, E.HAND_OVER))) is RunState.FAILED
    run = [ended(1, E.HAND_OVER, 1), *(ended(n, E.HAND_OVER) for n in (2, 3, 4))]
    assert run_state(seen(*run)) is RunState.FAILED


@pytest.mark.parametrize("reason", [E.LOST, E.PREEMPTED])
def test_lost_machines_are_replaced_after_a_growing_pause(reason):
    pauses = []
    for count in range(1, 6):
        last = [ended(n, reason, ago_s=0.0) for n in range(1, count + 1)]
        (action,) = decide(seen(*last)).actions
        assert isinstance(action, Wait)
        pauses.append(action.seconds)
        waited = dataclasses.replace(last[-1].end, ago_s=action.seconds)
        last[-1] = dataclasses.replace(last[-1], end=waited)
        assert is_next(seen(*last), count + 1, None)
    assert pauses == [1.0, 5.0, 30.0, 120.0, 300.0]


def test_six_lost_stints_in_a_row_without_progress_fail_the_run():
    decision = decide(seen(*(ended(n, E.LOST, message="no sign of life") for n in range(1, 7))))
    assert decision.state is RunState.FAILED
    assert "6 stints in a row were lost" in decision.message and "no sign of life" in decision.message


def test_lost_stints_are_not_counted_while_there_is_progress():
    run = seen(*(ended(n, E.PREEMPTED, 1, ago_s=0.0) for n in range(1, 30)))
    assert is_next(run, 30, "0029-000001")


def test_damaged_checkpoints_are_no_progress():
    run = seen(*(ended(n, E.LOST, 1) for n in range(1, 7)), damaged=frozenset(f"{n:04d}-000001" for n in range(1, 7)))
    assert run_state(run) is RunState.FAILED


def test_script_error_after_progress_is_retried_once():
    failed = ended(1, E.SCRIPT_ERROR, 2, exit_code=1, fingerprint="a")
    assert is_next(seen(failed), 2, "0001-000002")
    decision = decide(seen(failed, ended(2, E.SCRIPT_ERROR, 1, exit_code=1, fingerprint="b")))
    assert decision.state is RunState.FAILED
    assert "2 times in a row" in decision.message


def test_script_error_without_progress_fails_with_the_last_lines_and_a_fix():
    tail = ("Traceback (most recent call last):", "ModuleNotFoundError: No module named 'sklearn'")
    decision = decide(seen(ended(1, E.SCRIPT_ERROR, exit_code=1, tail=tail)))
    assert decision.state is RunState.FAILED
    assert "stint 1 (exit code 1)" in decision.message
    assert tail[-1] in decision.message and "scikit-learn" in decision.message


def test_same_error_twice_fails_even_if_retries_remain():
    policy = Policy(script_retries=9)
    first = ended(1, E.SCRIPT_ERROR, 1, fingerprint="a", epoch=7.0)
    assert is_next(seen(first, policy=policy), 2, "0001-000001")
    no_progress = decide(seen(first, ended(2, E.SCRIPT_ERROR, fingerprint="a"), policy=policy))
    assert no_progress.state is RunState.FAILED and "same error" in no_progress.message
    # It saved again what it had restored, and died where it had died before.
    same_place = ended(2, E.SCRIPT_ERROR, 1, fingerprint="a", epoch=7.0)
    assert run_state(seen(first, same_place, policy=policy)) is RunState.FAILED
    with_loss_between = seen(first, ended(2, E.LOST), dataclasses.replace(same_place, number=3), policy=policy)
    assert run_state(with_loss_between) is RunState.FAILED
    further = ended(2, E.SCRIPT_ERROR, 1, fingerprint="a", epoch=9.0)
    assert is_next(seen(first, further, policy=policy), 3, "0002-000001")


def test_retries_count_anew_after_a_stint_that_went_well():
    error = [ended(n, E.SCRIPT_ERROR, 1, fingerprint=str(n)) for n in (1, 3)]
    assert is_next(seen(error[0], ended(2, E.HAND_OVER, 1), error[1]), 4, "0003-000001")


def test_no_retries_means_none():
    failed = ended(1, E.SCRIPT_ERROR, 2, exit_code=-11)
    decision = decide(seen(failed, policy=Policy(script_retries=0)))
    assert decision.state is RunState.FAILED
    assert "signal 11" in decision.message


def test_bad_request_fails_at_once_and_a_bad_place_is_tried_again():
    request = ended(1, E.SETUP_ERROR, cause="request", message="no such requirement: nupmy")
    decision = decide(seen(request))
    assert (decision.state, decision.message) == (RunState.FAILED, "no such requirement: nupmy")
    places = [ended(n, E.SETUP_ERROR, cause="place", message="no network") for n in (1, 2, 3)]
    assert is_next(seen(*places[:2]), 3, None)
    assert "no network" in decide(seen(*places)).message
    assert run_state(seen(*places)) is RunState.FAILED


def test_stopped_run_stays_stopped_until_it_is_resumed():
    run = [ended(1, E.HAND_OVER, 1), ended(2, E.STOPPED, 1)]
    decision = decide(seen(*run))
    assert (decision.state, decision.actions) == (RunState.STOPPED, ())
    assert "outlast resume" in decision.message
    assert is_next(seen(*run, since_stint=3), 3, "0002-000001")


def test_saving_script_that_never_loads_is_found_out():
    run = [ended(n, E.HAND_OVER, 9, epoch=9.0, step=900) for n in (1, 2, 3)]
    assert is_next(seen(*run), 4, "0003-000009")
    decision = decide(seen(*run, ended(4, E.HAND_OVER, 9, epoch=8.0, step=800)))
    assert decision.state is RunState.FAILED
    assert "epoch 8" in decision.message and "'ckpt'" in decision.message


def test_many_stints_within_one_long_epoch_only_raise_a_suspicion():
    decision = decide(seen(*(ended(n, E.HAND_OVER, 2, epoch=3.0) for n in range(1, 9))))
    assert decision.state is RunState.RUNNING
    assert "start from the beginning" in decision.message
    local_steps = decide(seen(*(ended(n, E.HAND_OVER, 2, step=900) for n in range(1, 9))))
    assert local_steps.state is RunState.RUNNING and "step 900" in local_steps.message
    steps = seen(*(ended(n, E.HAND_OVER, 2, epoch=3.0, step=n * 10) for n in range(1, 9)))
    assert "handed over" in decide(steps).message


def test_next_stint_starts_from_the_highest_usable_checkpoint():
    run = seen(ended(1, E.HAND_OVER, 12), ended(2, E.HAND_OVER, 2), ended(3, E.LOST))
    assert next_checkpoint(run) == "0002-000002"
    damaged = dataclasses.replace(run, damaged=frozenset({"0002-000002", "0002-000001"}))
    assert next_checkpoint(damaged) == "0001-000012"
    chosen = dataclasses.replace(run, since_stint=4, resume_from="0001-000007")
    assert next_checkpoint(chosen) == "0001-000007"
    chosen_damaged = dataclasses.replace(chosen, damaged=frozenset({"0001-000007"}))
    assert next_checkpoint(chosen_damaged) == "0001-000006"
    since = dataclasses.replace(chosen, checkpoints=(*run.checkpoints, "0004-000001"))
    assert next_checkpoint(since) == "0004-000001"
    many = dataclasses.replace(run, checkpoints=("9999-000001", "10000-000001"))
    assert next_checkpoint(many) == "10000-000001"
