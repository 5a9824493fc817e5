"""What is left of a run that goes on, from what it has shown so far."""

from __future__ import annotations

import datetime

from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import CheckpointView, RunView, StintView
from outlast.operations.outlook import run_outlook

NOW = datetime.datetime(2026, 11, 16, 12, 0)


def stint(number: int, **fields) -> StintView:
    ledger = {"queued": 60.0, "starting": 20.0, "useful": 3000.0, "saving": 30.0}
    words = {"reason": EndReason.HAND_OVER, "limit_s": 3600.0, "ledger": ledger}
    return StintView(number, StintState.ENDED, "free-v100", **{**words, **fields})


def view(**fields) -> RunView:
    points = tuple(
        CheckpointView(f"0001-{number:06d}", 1, "", 1, 1, {"epoch": number * 10}) for number in range(1, 4)
    )  # fmt: skip
    words = {
        "state": RunState.RUNNING, "epoch": 30.0, "epochs": 100.0, "stint_list": (stint(1),), "checkpoints": points,
        "ledger": {"useful": 3000.0},
    }  # fmt: skip
    return RunView("1116-x", "x", platform="free-v100", created_at="", **{**words, **fields})


def test_stints_and_time_left_follow_from_speed_limit_and_queue():
    found = run_outlook(view(), NOW)
    assert found.stints == 3  # 70 epochs of 100 s, at most 30 in the 3600 s of a stint
    assert 7000 + 3 * 60 < found.total_s < 7000 + 3 * 60 + 500
    assert found.done_at.date() == NOW.date()


def test_rate_of_now_wins_over_the_average():
    assert run_outlook(view(rate=0.02, rate_of="epochs"), NOW).total_s < run_outlook(view(), NOW).total_s


def test_total_may_come_from_until():
    assert run_outlook(view(epochs=None, spec={"until": "epoch>=100"}), NOW).stints == 3


def test_nothing_is_foretold_without_a_total_a_speed_or_a_stint():
    assert run_outlook(view(epochs=None), NOW) is None
    assert run_outlook(view(stint_list=()), NOW) is None
    assert run_outlook(view(ledger={}, checkpoints=()), NOW) is None
    assert run_outlook(view(state=RunState.SUCCEEDED), NOW) is None


def test_stint_that_was_refused_tells_nothing():
    refused = stint(2, reason=EndReason.REFUSED, ledger={"queued": 0.0}, limit_s=1.0)
    assert run_outlook(view(stint_list=(stint(1), refused)), NOW) == run_outlook(view(), NOW)
