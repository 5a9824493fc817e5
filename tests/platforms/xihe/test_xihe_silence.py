"""A stint of which nothing can be heard while it runs is neither given up nor called queued."""

import pytest

from outlast import relay
from outlast.model.states import RunState, StintState
from outlast.relay import Job, Policy, RunSeen, StintSeen

DAY_S = 86400.0


def look(**words):
    stint = StintSeen(1, since_submit_s=DAY_S, **words)
    return relay.decide(RunSeen(policy=Policy(), stints=(stint,)))


def test_a_silent_job_runs_for_a_day_without_a_word_and_is_waited_for():
    decision = look(job=Job.RUNNING, running_s=DAY_S, is_silent=True)
    assert (decision.state, decision.stint_state) == (RunState.RUNNING, StintState.RUNNING)
    assert [type(action) for action in decision.actions] == [relay.Wait]


def test_the_same_silence_is_a_death_where_something_should_be_heard():
    decision = look(job=Job.RUNNING, running_s=DAY_S)
    assert relay.Cancel(1) in decision.actions


def test_the_end_of_a_silent_job_without_results_is_followed_like_any_other():
    decision = look(job=Job.ENDED, job_exit=1, gone_s=60.0)
    assert any(isinstance(action, relay.WriteEnd) for action in decision.actions)


@pytest.mark.parametrize("asked_s", [0.0, 3600.0])
def test_a_silent_job_can_be_stopped(asked_s):
    stint = StintSeen(1, since_submit_s=DAY_S, job=Job.RUNNING, running_s=DAY_S, is_silent=True)
    seen = RunSeen(policy=Policy(), want="stop", asked_stop_s=asked_s, stints=(stint,))
    assert (relay.Cancel(1) in relay.decide(seen).actions) is bool(asked_s)
