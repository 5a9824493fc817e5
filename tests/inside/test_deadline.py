"""The deadline asks as late as is safe: a simulated script proves that it is neither late nor wasteful."""

import random

import pytest

from outlast.inside.deadline import FLAG, GO, KILL, TERM, Deadline


def test_no_limit_never_asks():
    deadline = Deadline(None, 10)
    deadline.script_started(1)
    assert deadline.decide(10**9).action == GO
    assert deadline.time_left_s(10**9) is None


def play_epochs(limit_s, epoch_s, save_s, jitter, seed):
    """Play a script that answers: returns when it left (None: it was killed) and what was asked."""
    chance = random.Random(seed)
    deadline = Deadline(limit_s, grace_s=min(10, limit_s / 4))
    deadline.script_started(0.5)
    now = 0.5
    epochs = 0
    step_s = max(0.05, limit_s / 3600)  # asked less often than the runner does, so never easier to be in time
    while True:
        end = now + epoch_s * chance.uniform(1 - jitter, 1 + jitter) + save_s
        flagged = False
        while now < end:
            action = deadline.decide(now).action
            if action == KILL:
                return None, epochs
            flagged = flagged or action in (FLAG, TERM)
            now = min(end, now + step_s)
        epochs += 1
        deadline.answers = True
        deadline.save_took(save_s)
        deadline.boundary(now)
        if flagged:
            return now, epochs


@pytest.mark.parametrize("seed", range(200))
def test_answering_script_always_leaves_in_time_and_uses_most_of_the_limit(seed):
    chance = random.Random(seed)
    limit_s = chance.choice([5, 15, 60, 3600])
    epoch_s = limit_s * chance.uniform(0.01, 0.3)
    left_at, _ = play_epochs(limit_s, epoch_s, epoch_s * 0.02, 0.05, seed)
    assert left_at is not None, f"killed: seed {seed}"
    assert left_at < limit_s
    # It may be one epoch early because one more would not fit, never more than two.
    assert left_at > limit_s - 2.5 * epoch_s - 2.0, f"left at {left_at:.1f} of {limit_s}: seed {seed}"


def test_epoch_longer_than_the_limit_is_flagged_then_terminated_then_killed():
    deadline = Deadline(60, grace_s=10)
    deadline.script_started(1)
    deadline.answers = True
    actions = [deadline.decide(second / 10).action for second in range(0, 600)]
    assert [action for index, action in enumerate(actions) if index == 0 or actions[index - 1] != action] == [
        GO,
        FLAG,
        TERM,
        KILL,
    ]


def test_unmodified_script_is_ended_right_after_a_checkpoint_when_the_next_cannot_be_reached():
    deadline = Deadline(60, grace_s=5)
    deadline.script_started(1)
    deadline.checkpoint(21)
    assert deadline.decide(21.1).action == GO
    deadline.checkpoint(41)
    advice = deadline.decide(41.1)
    assert advice.action == TERM
    assert "20.0 s after the last" in advice.why


def test_unmodified_script_without_checkpoints_gets_its_grace():
    deadline = Deadline(60, grace_s=10)
    deadline.script_started(1)
    assert deadline.decide(40).action == GO
    assert deadline.decide(50).action == TERM
    assert deadline.decide(59.9).action == KILL


def test_slow_commits_move_the_end_forward_but_leave_half_to_training():
    deadline = Deadline(100, grace_s=1)
    before = deadline.kill_at_s()
    deadline.commit_took(10)
    assert deadline.kill_at_s() == pytest.approx(100 - 0.3 - 15)
    assert deadline.kill_at_s() < before
    deadline.commit_took(1000)
    assert deadline.kill_at_s() == 50


def test_the_advice_never_weakens_as_time_goes_on():
    strength = {GO: 0, FLAG: 1, TERM: 2, KILL: 3}
    for answers in (True, False):
        deadline = Deadline(30, grace_s=5)
        deadline.answers = answers
        deadline.script_started(0.2)
        deadline.boundary(3)
        deadline.checkpoint(3)
        levels = [strength[deadline.decide(tenth / 10).action] for tenth in range(30, 310)]
        assert levels == sorted(levels)
