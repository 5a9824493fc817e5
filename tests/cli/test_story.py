"""What stays on the screen: every end told once, in order, with the words that help."""

from __future__ import annotations

import dataclasses

import pytest
import simulated

from outlast.cli.story import PATIENCE_S, Story
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import RunView, StintView


def run_of(*stints: StintView, state: RunState = RunState.RUNNING, **more) -> RunView:
    return RunView(
        id="1115-a-b-c",
        name="x",
        state=state,
        platform="local",
        created_at="",
        stints=len(stints),
        stint_list=stints,
        **more,
    )


def ended(number: int, reason: EndReason, **more) -> StintView:
    return StintView(number=number, state=StintState.ENDED, platform="local", reason=reason, **more)


def under_way(number: int, **more) -> StintView:
    return StintView(number=number, state=StintState.RUNNING, platform="local", **more)


def texts(lines) -> list[str]:
    return [line.text for line in lines]


def test_hand_over_is_one_line_with_everything_in_it():
    story = Story()
    first = run_of(under_way(1), epoch=9.0)
    assert story.tell(first, 0.0) == []
    done = ended(1, EndReason.HAND_OVER, last_checkpoint="0001-000009", elapsed_s=15.2, message="near", epoch=9.0)
    told = story.tell(run_of(done, under_way(2)), 1.0)
    assert texts(told) == ["stint 1 handed over at epoch 9 (checkpoint 0001-000009, 15 s) → stint 2"]
    assert story.tell(run_of(done, under_way(2)), 2.0) == []


def test_first_stint_tells_why_it_is_not_where_it_was_wanted_first():
    assert Story().tell(run_of(under_way(1, why="first choice")), 0.0) == []
    story, view = Story(), run_of(under_way(1, why="free is full: no V100"))
    assert texts(story.tell(view, 0.0)) == ["stint 1 goes to local: free is full: no V100"]
    assert story.tell(view, 1.0) == []
    assert Story(told_through=1).tell(view, 0.0) == []


def test_end_waits_a_moment_for_its_successor_and_no_longer():
    story = Story()
    view = run_of(ended(1, EndReason.LOST, message="the heartbeat stopped"))
    assert story.tell(view, 10.0) == []
    assert story.tell(view, 10.0 + PATIENCE_S / 2) == []
    assert texts(story.tell(view, 10.0 + PATIENCE_S)) == ["stint 1 was lost: the heartbeat stopped"]


def test_final_run_is_told_at_once_and_names_no_successor():
    told = Story().tell(run_of(ended(1, EndReason.HAND_OVER), state=RunState.STOPPED), 0.0)
    assert texts(told) == ["stint 1 handed over"]


def test_several_ends_in_one_view_are_told_in_order():
    view = run_of(
        ended(1, EndReason.HAND_OVER), ended(2, EndReason.PREEMPTED), under_way(3, resumed_from="0001-000004")
    )
    assert texts(Story().tell(view, 0.0)) == [
        "stint 1 handed over → stint 2",
        "stint 2 lost its machine to the platform → stint 3 goes on from 0001-000004",
    ]


def test_history_before_a_resume_is_not_told_again():
    view = run_of(ended(1, EndReason.STOPPED), ended(2, EndReason.STOPPED), under_way(3))
    assert Story(told_through=2).tell(view, 0.0) == []


def test_passing_message_of_an_open_run_is_not_a_line():
    assert Story().tell(run_of(under_way(1), message="stint 1 is running"), 0.0) == []


def test_notice_is_told_once():
    story = Story()
    view = run_of(under_way(1), notice="bubblewrap is not installed")
    assert texts(story.tell(view, 0.0)) == ["bubblewrap is not installed"]
    assert story.tell(view, 1.0) == []


@pytest.mark.parametrize("reason", EndReason)
def test_every_reason_has_words_and_the_first_line_of_its_message(reason):
    told = Story().tell(run_of(ended(1, reason, message="why\nmore"), state=RunState.FAILED), 0.0)
    assert len(told) == 1 and "more" not in told[0].text
    assert ("why" in told[0].text) == (reason not in (EndReason.FINISHED, EndReason.HAND_OVER))


def test_checkpoint_knows_the_epoch_better_than_the_last_look():
    view = simulated.Simulation().view(simulated.STINT_S + 2)
    stale = dataclasses.replace(view, epoch=3.0)
    assert "handed over at epoch 11" in Story().tell(stale, 0.0)[0].text


def test_whole_simulated_run_tells_three_ends():
    story, simulation = Story(), simulated.Simulation()
    told = [line for tick in range(0, 500) for line in story.tell(simulation.view(tick / 10), tick / 10)]
    assert [line.text.split(" (")[0] for line in told] == [
        "stint 1 handed over at epoch 11", "stint 2 handed over at epoch 22", "stint 3 finished at epoch 30",
    ]  # fmt: skip
