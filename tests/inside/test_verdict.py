"""One end reason for every way a script can end."""

import pytest

from outlast.inside.verdict import DEADLINE, DISK, MEMORY, PREEMPTED, STOP, UNTIL, Facts, describe_exit, judge


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (Facts(0), "finished"),
        (Facts(1), "script-error"),
        (Facts(-9), "script-error"),
        (Facts(85, committed=1), "hand-over"),
        (Facts(85, committed=0), "time-limit"),
        (Facts(0, acknowledged=True, committed=2), "hand-over"),
        (Facts(0, asked=DEADLINE), "finished"),
        (Facts(0, asked=DEADLINE, noticed=True, committed=1), "hand-over"),
        (Facts(-15, asked=DEADLINE, noticed=True, committed=1), "hand-over"),
        (Facts(-15, asked=DEADLINE, noticed=True, committed=0), "time-limit"),
        (Facts(-9, asked=DEADLINE, committed=0), "time-limit"),
        (Facts(-15, asked=STOP), "stopped"),
        (Facts(85, asked=STOP, committed=1), "stopped"),
        (Facts(0, asked=UNTIL), "finished"),
        (Facts(-9, asked=UNTIL), "finished"),
        (Facts(-15, asked=PREEMPTED), "preempted"),
        (Facts(0, asked=PREEMPTED), "finished"),
        (Facts(-9, asked=MEMORY, asked_why="used 5 GB of 4 GB"), "script-error"),
        (Facts(-15, asked=DISK, asked_why="no space left"), "setup-error"),
    ],
)
def test_each_way_to_end_has_one_reason(facts, reason):
    assert judge(facts).reason == reason


def test_a_script_that_left_without_saving_is_told_so_in_words():
    message = judge(Facts(85, place="ckpt", limit_s=60, pending="ckpt/a.pt is still open")).message
    assert "ckpt" in message
    assert "60 s" in message
    assert "still open" in message


def test_exit_codes_are_described_for_people():
    assert describe_exit(3) == "exit code 3"
    assert describe_exit(-9) == "signal 9 (SIGKILL)"
    assert describe_exit(-64) in ("signal 64", "signal 64 (SIGRTMAX)")
