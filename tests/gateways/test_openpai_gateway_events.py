"""Events of a job: the beginning and the end of each stint behind it, newest first."""

import pytest

from outlast.model.states import EndReason, RunState, StintState
from outlast.model.view import RunView, StintView
from outlast.server.gateways.openpai.book import JobFacts, JobRow, RoleFacts
from outlast.server.gateways.openpai.events import events_of
from outlast.server.gateways.openpai.refusing import PaiRefusal

ROW = JobRow(JobFacts("ann", "mnist", "k8s", "default", (RoleFacts("Ps_1", 1, 0),)), "1116-quiet-otter", 1.0)
TIMES = [f"2026-11-16T12:0{minute}:00.000Z" for minute in range(4)]


def view(*ends):
    """A run whose stints ended so; None: one that still runs."""
    stints = [
        StintView(number, StintState.ENDED, "local", end, "took too long" if end is EndReason.LOST else "",
                  created_at=TIMES[number - 1], ended_at=TIMES[number] if end else "")
        for number, end in enumerate(ends, 1)
    ]  # fmt: skip
    return RunView(
        id="1116-quiet-otter", name="mnist", state=RunState.RUNNING, user="ann", platform="local",
        created_at=TIMES[0], stint_list=tuple(stints),
    )  # fmt: skip


def test_every_stint_begins_and_ends_and_the_newest_comes_first():
    found = events_of(ROW, view(EndReason.LOST, EndReason.HAND_OVER, None))
    assert found["totalCount"] == 5
    assert [event["reason"] for event in found["data"]] == ["Started", "HandOver", "Started", "Lost", "Started"]
    lost = found["data"][3]
    assert lost["type"] == "Warning" and lost["message"] == "stint 1 ended (lost): took too long"
    assert lost["taskroleName"] == "ps1" and lost["firstTimestamp"] == lost["lastTimestamp"] == 1794830460000
    assert len({event["uid"] for event in found["data"]}) == 5


def test_one_type_can_be_asked_for_and_another_word_is_refused():
    told = view(EndReason.LOST, EndReason.FINISHED)
    assert [event["reason"] for event in events_of(ROW, told, "Warning")["data"]] == ["Lost"]
    assert events_of(ROW, told, "Normal")["totalCount"] == 3
    with pytest.raises(PaiRefusal) as caught:
        events_of(ROW, told, "normal")
    assert caught.value.status == 400


def test_a_job_that_has_not_begun_has_no_events():
    assert events_of(ROW, view()) == {"totalCount": 0, "data": []}
