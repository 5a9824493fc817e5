"""What ModelArts says of a job itself: events and device use, and why a job did not end well."""

from __future__ import annotations

import json

import pytest
from cloud_lab import says, wait_for

from outlast.errors import Unavailable
from outlast.model.hearsay import Happening, Hearsay
from outlast.model.ids import new_run_id
from outlast.platforms.base import Job, JobState
from outlast.platforms.modelarts import wire, wirev1
from servers.faults import ALWAYS


@pytest.fixture
def run(cloud):
    """A run's id; whatever was started for it is gone afterwards."""
    run = new_run_id()
    yield run
    cloud.proxy.clear()
    cloud.platform("sweeping").forget(run)


def _over(platform, name):
    job = platform.poll([name])[name]
    return job if job.state is JobState.ENDED else None


# ---- documents


def test_events_are_read_oldest_first_and_empty_ones_left_out():
    rows = [
        {"time": "2026-01-01T00:00:02+08:00", "level": "Error", "message": "failed:\n  no space", "source": "Job"},
        {"time": "2026-01-01T00:00:01+08:00", "level": "Warning", "message": "slow"}, {"message": ""}, "nonsense",
        {"time": None, "level": "Info", "message": "created"},
    ]  # fmt: skip
    assert wire.read_events({"events": rows}) == [
        Happening("", "created"), Happening("2026-01-01T00:00:01+08:00", "slow", True),
        Happening("2026-01-01T00:00:02+08:00", "failed: no space", True),
    ]  # fmt: skip
    assert wire.read_events({}) == wire.read_events({"events": None}) == []


def test_minutes_without_a_sample_are_unknown_and_empty_series_are_none():
    rows = [
        {"metric": "cpuUsage", "value": [-1, 3.5, "7", None]}, {"metric": "npuUtil", "value": [-1, -1.0]},
        {"metric": "gpuMemUsage", "value": [0, 12]}, {"metric": "fanSpeed", "value": [9]}, "nonsense", {"value": [1]},
    ]  # fmt: skip
    assert wire.read_use(rows) == {"cpu_percent": (None, 3.5, 7.0, None), "gpu_memory_percent": (0.0, 12.0)}
    assert wire.read_use(None) == wire.read_use({"metrics": 1}) == {}


@pytest.mark.parametrize("as_text", [False, True])
def test_the_first_generation_tells_its_use_as_an_object_or_as_a_text(as_text):
    use = {"cpuUsage": ["-1", "40.5"], "memUsage": ["3", "4"], "gpuUtil": []}
    body = {"system_metric_list": json.dumps(use) if as_text else use}
    assert wirev1.read_use(body) == {"cpu_percent": (None, 40.5), "memory_percent": (3.0, 4.0)}
    for nonsense in ("", "x", "[1]", None, 3, {"cpuUsage": "1"}):
        assert wirev1.read_use({"system_metric_list": nonsense}) == {}


def test_the_last_troubles_explain_an_end():
    job = Job(JobState.ENDED, "exit code 1", 1)
    events = [Happening("", "created"), *(Happening("", words, True) for words in ("old", "disk full", "disk full"))]
    assert wire.explained(job, events).detail == "exit code 1; old; disk full"
    assert wire.explained(job, [Happening("", "finished with exit code 1", True)]).detail == "finished with exit code 1"
    assert wire.explained(job, [Happening("", "created")]) == job
    assert len(wire.explained(job, [Happening("", "x" * 9999, True)]).detail) < 500


def test_hearsay_survives_being_written_down():
    said = Hearsay((Happening("2026-01-01T00:00:00Z", "训练作业排队中", True),), {"npu_percent": (None, 1.5)})
    assert Hearsay.from_bytes(said.to_bytes()) == said and said.newest == "训练作业排队中"


# ---- a real job at a real door


@pytest.mark.slow
@pytest.mark.parametrize("api", ["v2", "v1"])
def test_a_job_that_fails_is_explained_and_its_use_is_told(cloud, run, api):
    """Its runner finds no order, so nothing is ever heard of the stint itself."""
    platform, launch = cloud.platform(api=api), cloud.launch(run)
    name = launch.job_name
    assert platform.hearsay(name) == Hearsay()  # there is no such job yet
    platform.submit(launch)
    early = platform.hearsay(name)
    job = wait_for(lambda: _over(platform, name))
    told = platform.hearsay(name)
    assert all(len(values) == 1 and values[0] >= 0 for values in told.usage.values())
    if api == "v1":
        assert early.events == told.events == ()  # this generation has no events
        return
    assert early.events[0].words == told.events[0].words == "Training job created."
    assert told.events[-1].words.startswith("Training job failed: ") and told.events[-1].is_trouble
    assert "cannot begin" in job.detail and told.events[-1].words in job.detail
    assert told.events[-1].line.startswith(told.events[-1].at[:10])


@pytest.mark.slow
def test_events_that_cannot_be_had_now_leave_the_state_as_it_is_and_are_asked_for_again(cloud, run):
    platform, launch = cloud.platform(), cloud.launch(run)
    cloud.proxy.add(says(503, "ModelArts.0010", "busy", path="/events", times=ALWAYS))
    platform.submit(launch)
    job = wait_for(lambda: _over(platform, launch.job_name))
    assert job.exit_code == 1 and "Training job failed" not in job.detail
    with pytest.raises(Unavailable, match="busy"):
        platform.hearsay(launch.job_name)
    cloud.proxy.clear()
    assert "Training job failed" in platform.poll([launch.job_name])[launch.job_name].detail


@pytest.mark.slow
def test_an_account_that_may_not_ask_for_events_is_not_shut_out(cloud, run):
    """The service counts refusals against a key: what was refused once is not asked for again."""
    platform, launch = cloud.platform(), cloud.launch(run)
    asked = [
        says(403, "ModelArts.0204", "not allowed", path=f"/{what}", times=ALWAYS) for what in ("events", "metrics")
    ]
    cloud.proxy.add(*asked)
    platform.submit(launch)
    assert wait_for(lambda: _over(platform, launch.job_name)).exit_code == 1
    for _ in range(3):
        assert platform.hearsay(launch.job_name) == Hearsay()
        assert platform.poll([launch.job_name])[launch.job_name].state is JobState.ENDED
    assert [ALWAYS - fault.left for fault in asked] == [1, 1]
