"""What the closing words offer next."""

from __future__ import annotations

from outlast.cli.sections import next_commands
from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import RunView, StintView


def view(state, reason=None, **fields):
    stint = StintView(number=1, state=StintState.ENDED, platform="local", reason=reason)
    return RunView(
        id="1115-quiet-otter", name="n", state=state, platform="local", created_at="", stint_list=[stint], **fields
    )


def test_a_failed_script_can_be_resumed():
    commands = [command for command, _ in next_commands(view(RunState.FAILED, EndReason.SCRIPT_ERROR))]
    assert commands[:2] == ["outlast logs 1115-quiet-otter", "outlast resume 1115-quiet-otter"]


def test_a_setup_that_failed_is_not_simply_tried_again():
    first, (command, words) = next_commands(view(RunState.FAILED, EndReason.SETUP_ERROR))
    assert first[0] == "outlast show 1115-quiet-otter"
    assert (command, words) == ("outlast resume 1115-quiet-otter", "try again, once the cause is mended")


def test_only_what_the_run_has_is_offered_to_be_fetched():
    def fetches(**fields):
        offered = [command for command, _ in next_commands(view(RunState.SUCCEEDED, EndReason.FINISHED, **fields))]
        return [command for command in offered if command.startswith("outlast fetch")]

    whole, checkpoint = "outlast fetch 1115-quiet-otter", "outlast fetch 1115-quiet-otter --what checkpoint"
    assert fetches(outputs={"out/a": {}}, last_checkpoint="0001-000001") == [whole]
    assert fetches(outputs={}, last_checkpoint="0001-000001") == [checkpoint]
    assert fetches(outputs={}) == []
    assert fetches(outputs={}, last_checkpoint="0001-000001", spec={"contract": "modelarts-v1"}) == []


def test_a_stopped_run_offers_the_outputs_of_its_last_checkpoint():
    stopped = view(RunState.STOPPED, EndReason.STOPPED, last_checkpoint="0001-000001", spec={"output": "out"})
    assert ("outlast fetch 1115-quiet-otter", "bring the results here") in next_commands(stopped)
