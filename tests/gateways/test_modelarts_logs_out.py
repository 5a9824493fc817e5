"""Logs of jobs are brought to the place in OBS that the job named, once, under the name of the cloud."""

from __future__ import annotations

import pytest
from modelarts_lab import first_body, job_body

from outlast.operations.maps import map_store
from outlast.server.database import Database
from outlast.server.gateways.modelarts import carrying
from outlast.server.gateways.modelarts.book import JobBook, NewJob
from outlast.server.gateways.modelarts.carrying import BACKOFF_S, Carrier
from outlast.server.gateways.modelarts.exports import LOST_S, Export, Exports
from outlast.server.gateways.modelarts.jobs import SeenJob
from outlast.server.gateways.modelarts.phases import Progress
from outlast.settings import Settings


def _body(name, place, **words):
    body = job_body(name, **words)
    body["spec"]["log_export_path"] = {"obs_url": place, "host_path": ""}
    return body


def _text(path):
    return path.read_text() if path.is_file() else ""


@pytest.mark.slow
def test_a_log_of_the_second_generation_lies_where_the_job_said(door):
    made = door.call("ann", "POST", "/training-jobs", _body("logs-out", "/lab/logs/two/"))
    assert made.status_code == 201, made.text
    job = made.json()["metadata"]["id"]
    assert made.json()["spec"]["is_hosted_log"] is True
    assert door.follow("ann", job)["status"]["phase"] == "Completed"
    path = door.bucket / f"logs/two/modelarts-job-{job}-worker-0.log"
    shown = door.call("ann", "GET", f"/training-jobs/{job}/tasks/worker-0/logs/preview").json()["content"]
    assert "epoch 2 loss 0.333" in shown
    door.wait(lambda: _text(path) == shown)


@pytest.mark.slow
def test_a_log_of_the_first_generation_carries_the_name_of_its_machine(door):
    made = door.call("ann", "POST", "/v1/training-jobs", first_body("logs_out1", log_url="/lab/logs/one/"))
    assert made.json()["is_success"], made.text
    path = door.bucket / f"logs/one/{made.json()['resource_id']}-job-logs_out1-0.log"
    door.wait(lambda: "copied 1" in _text(path))


def test_a_place_that_cannot_be_used_is_refused_before_anything_starts(door):
    for user, place in (("ann", "obs://no-such-bucket/logs/"), ("root", "obs://no-such-bucket/logs/")):
        refused = door.call(user, "POST", "/training-jobs", _body("logs-nowhere", place))
        assert (refused.status_code, refused.json()["error_code"]) == (400, "ModelArts.2791"), refused.text
    assert not door.call("ann", "POST", "/training-job-searches", {
        "filters": [{"key": "name", "operator": "like", "value": ["logs-nowhere"]}],
    }).json()["items"]  # fmt: skip


# ---- carrying, without a server


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A carrier of a server whose one job has ended without a word."""
    return _Desk(tmp_path, monkeypatch)


class _Desk:
    def __init__(self, folder, monkeypatch):
        self.bucket = folder / "bucket"
        self.bucket.mkdir()
        self.settings = Settings.load({}, home=folder / "home")
        map_store(self.settings, "obs://lab", self.bucket)
        self.database = Database(f"sqlite:///{folder / 'server.db'}")
        self.book = JobBook(self.database)
        new = NewJob("v2", "quiet", "ann", "run-1", False, "", {"spec": {}})
        self.row = self.book.add(new, lambda _: False)
        self.now, self.phase, self.is_there = 1000.0, "Completed", True
        self.exports = Exports(self.database, lambda: self.now)
        self.exports.add(self.row.number, "obs://lab/logs")
        self.carrier = Carrier(self.settings, self.database)
        self.carrier._exports = self.exports
        monkeypatch.setattr(carrying, "see", self._see)

    def _see(self, settings, row):
        return SeenJob(row, Progress(self.phase), None, object() if self.is_there else None)

    def waiting(self):
        self.now += 1e6
        return self.exports.due()


def test_a_job_without_a_word_has_an_empty_log_and_it_is_brought_once(desk):
    assert desk.carrier.round() == 1
    (file,) = (desk.bucket / "logs").iterdir()
    assert (file.name, file.read_bytes()) == (f"modelarts-job-{desk.row.id}-worker-0.log", b"")
    assert desk.carrier.round() == 0 and not desk.waiting()


def test_a_log_waits_for_the_end_of_its_job(desk):
    desk.phase = "Running"
    assert desk.carrier.round() == 0 and not (desk.bucket / "logs").exists()
    desk.phase = "Terminated"
    assert desk.carrier.round() == 1


@pytest.mark.parametrize("what", ["job", "run"])
def test_what_was_deleted_has_no_log_any_more(desk, what):
    if what == "job":
        desk.book.remove(desk.row)
    else:
        desk.phase, desk.is_there = "Abnormal", False
    assert desk.carrier.round() == 0 and not desk.waiting()


def test_a_place_that_is_away_is_tried_again_and_then_given_up_with_a_warning(desk):
    desk.bucket.rmdir()
    desk.bucket.write_text("in the way")
    for wait_s in BACKOFF_S:
        assert desk.carrier.round() == 0 and not desk.exports.due()
        desk.now += wait_s - 1
        assert not desk.exports.due()
        desk.now += 2
        assert len(desk.exports.due()) == 1
    assert desk.carrier.round() == 0 and not desk.waiting()
    (notice,) = desk.book.by_number(desk.row.number).notices
    assert notice.startswith("the log could not be brought to obs://lab/logs: ")


def test_one_process_of_several_carries_a_log_and_another_one_when_it_is_gone(desk):
    (mine,) = desk.exports.due()
    theirs = Exports(desk.database, lambda: desk.now)
    assert desk.exports.claim(mine) and not theirs.claim(mine) and not theirs.due()
    desk.now += LOST_S + 1
    assert theirs.due() == [Export(mine.number, "obs://lab/logs", 0, 1000.0 + LOST_S)]
    assert theirs.claim(theirs.due()[0])
