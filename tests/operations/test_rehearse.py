"""Rehearsals of a real little training, right and with every common mistake."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_training import EPOCHS, ToyTraining

from outlast.operations import causes
from outlast.operations.rehearse import plan_cuts, rehearse


def test_training_that_resumes_rightly_agrees_wherever_it_is_cut(tmp_path):
    first = random.SystemRandom().randrange(1 << 30)
    print(f"seeds from {first}")
    for seed in range(first, first + 30):
        found = rehearse(ToyTraining(tmp_path / str(seed)).run_once, seed=seed)
        assert found.agree, (seed, found)
        assert found.sentence.startswith("both trainings agree: 36 values, 1 file, 4 cuts (2 safe, 2 unsafe)")
        assert found.repeatable is None


@pytest.mark.parametrize(
    ("mistake", "cause"),
    [
        ("optimizer", causes.OPTIMIZER),
        ("order", causes.SAMPLE_ORDER),
        ("restart", causes.FROM_THE_START),
        ("counter-low", causes.COUNTER_LOW),
        ("counter-high", causes.COUNTER_HIGH),
    ],
)
def test_mistake_in_resuming_is_named(tmp_path, mistake, cause):
    found = rehearse(ToyTraining(tmp_path, mistake).run_once, seed=3)
    assert not found.agree and found.repeatable is True
    assert found.cause == cause
    assert "after the cut at epoch" in found.sentence


def test_without_samples_the_state_is_blamed_and_the_user_told_how_to_know_more(tmp_path):
    found = rehearse(ToyTraining(tmp_path, "optimizer", samples=False).run_once, seed=3)
    assert found.cause == causes.STATE
    assert found.sentence.startswith("loss at epoch ")
    assert " straight, " in found.sentence and " interrupted (after the cut at epoch" in found.sentence


def test_what_is_kept_beside_the_checkpoint_is_found_in_the_files(tmp_path):
    found = rehearse(ToyTraining(tmp_path, "beside").run_once, seed=3)
    assert found.sentence.startswith("out/model.json: best: ")
    assert "running average" in found.cause


def test_script_that_does_not_repeat_itself_is_told_apart_from_wrong_resuming(tmp_path):
    training = ToyTraining(tmp_path, "unseeded")
    found = rehearse(training.run_once, seed=3)
    assert not found.agree and found.repeatable is False
    assert "two straight trainings differ as well" in found.cause
    assert training.trained == 3


def test_script_that_never_saves_is_not_run_a_second_time(tmp_path):
    training = ToyTraining(tmp_path, "never-saves")
    found = rehearse(training.run_once)
    assert not found.agree and "saved no checkpoint in 12 s" in found.sentence
    assert training.trained == 1


def test_confirmation_can_be_left_out_and_steps_are_told(tmp_path):
    told: list[str] = []
    found = rehearse(ToyTraining(tmp_path, "order").run_once, seed=3, confirm=False, tell=told.append)
    assert found.repeatable is None
    assert told == ["training straight", "training again with 4 cuts (2 safe, 2 unsafe) (seed 3)"]


@given(
    duration_s=st.floats(0, 1e6),
    shares=st.lists(st.floats(0, 1.2), max_size=20),
    seed=st.integers(),
    count=st.integers(0, 12),
)
def test_cuts_are_in_order_inside_the_training_and_repeat_with_the_seed(duration_s, shares, seed, count):
    saves = [share * duration_s for share in shares]
    cuts = plan_cuts(duration_s, saves, seed, count)
    assert cuts == plan_cuts(duration_s, saves, seed, count)
    assert len(cuts) <= count
    assert [cut.at_s for cut in cuts] == sorted(cut.at_s for cut in cuts)
    assert all(0 <= cut.at_s <= duration_s and 0 <= cut.run_s <= cut.at_s for cut in cuts)
    assert all(cut.at_s in saves for cut in cuts if cut.kind == "safe")


def test_both_kinds_of_cuts_are_planned():
    kinds = [cut.kind for cut in plan_cuts(float(EPOCHS), range(1, EPOCHS), seed=1, count=6)]
    assert (kinds.count("safe"), kinds.count("unsafe")) == (3, 3)
