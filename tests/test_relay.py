"""One look in, one decision out: every row of the table of end reasons, and every way to lose a runner."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path

import pytest

import outlast.relay
from outlast.model.states import EndReason, RunState, StintState
from outlast.platforms.base import JobState
from outlast.relay import (
    Cancel,
    Choice,
    EndSeen,
    Job,
    Policy,
    RunSeen,
    StintSeen,
    Submit,
    Wait,
    WriteEnd,
    WriteOrder,
    decide,
    next_checkpoint,
    run_state,
    stint_state,
    suggest_fix,
)

E = EndReason


def ended(number: int, reason: EndReason, saved: int = 0, **facts: object) -> StintSeen:
    """A stint that ended with a reason after committing so many checkpoints."""
    place = {name: facts.pop(name) for name in ("epoch", "step") if name in facts}
    names = tuple(f"{number:04d}-{n:06d}" for n in range(1, saved + 1))
    end = EndSeen(reason, **facts)  # type: ignore[arg-type]
    return StintSeen(number, job=Job.ENDED, claimed=True, end=end, checkpoints=names, **place)


def seen(*stints: StintSeen, **facts: object) -> RunSeen:
    policy = facts.pop("policy", Policy())
    checkpoints = tuple(name for stint in stints for name in stint.checkpoints)
    facts.setdefault("run", "1115-quiet-otter-7kq")
    facts.setdefault("checkpoint_place", "ckpt")
    return RunSeen(policy=policy, stints=stints, checkpoints=checkpoints, **facts)  # type: ignore[arg-type]


def is_next(run: RunSeen, number: int, resume_from: str | None) -> bool:
    return decide(run).actions == (WriteOrder(number, resume_from), Submit(number))


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


# -- an open stint ---------------------------------------------------------------------------------------------


def tend(**facts: object) -> tuple[object, ...]:
    want = {name: facts.pop(name) for name in ("want", "asked_stop_s") if name in facts}
    return decide(seen(StintSeen(1, **facts), **want)).actions  # type: ignore[arg-type]


def is_lost(actions: tuple[object, ...], reason: EndReason = E.LOST) -> bool:
    """The fence first, then the cancelling."""
    end, cancel = actions if len(actions) == 2 else (None, None)
    return isinstance(end, WriteEnd) and end.reason is reason and cancel == Cancel(1)


def is_refused(actions: tuple[object, ...]) -> bool:
    return is_lost(actions, E.REFUSED)


def is_wait(actions: tuple[object, ...]) -> bool:
    return len(actions) == 1 and isinstance(actions[0], Wait)


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


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
        ("/usr/bin/python: No module named torchvision.models", "add torchvision to"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", "smaller batch"),
        ("RuntimeError: NPU out of memory. Tried to allocate", "smaller batch"),
        ("RuntimeError: No CUDA GPUs are available", "--gpus 1"),
        ("AssertionError: Torch not compiled with CUDA enabled", "--gpus 1"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'", "'data/train.csv'"),
        ("OSError: [Errno 30] Read-only file system: '/results'", "--output"),
        ("PermissionError: [Errno 13] Permission denied: '/opt/x'", "--output"),
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("MemoryError", "--memory"),
        ("RuntimeError: Error(s) in loading state_dict for Net:", "does not fit the model"),
        ("ValueError: loss is nan, stopping training", "learning rate"),
        ("train.py: error: unrecognized arguments: --lr 1", "after '--'"),
    ],
)
def test_well_known_last_words_get_a_suggestion(line, words):
    assert words in suggest_fix(("Traceback (most recent call last):", line, ""), 1)


def test_a_download_under_xihe_is_told_the_rule_of_that_contract():
    tail = ("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",)
    assert "--contract xihe there is no network" in suggest_fix(tail, 1, "xihe")
    assert "--contract" not in suggest_fix(tail, 1, "modelarts")


@pytest.mark.parametrize("exit_code", [137, -9])
def test_killed_script_probably_ran_out_of_memory(exit_code):
    assert "memory" in suggest_fix((), exit_code)


@pytest.mark.parametrize("exit_code", [0, 1, 85, 255, None])
def test_unknown_last_words_get_no_invented_suggestion(exit_code):
    assert suggest_fix(("epoch 3 loss 0.4 nancy", "goodbye {0} %s"), exit_code) == ""


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
