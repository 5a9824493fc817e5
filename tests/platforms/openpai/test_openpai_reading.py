"""What clusters say of jobs and of themselves, in our words: every state of both generations, and ones nobody knows."""

import json
from pathlib import Path

import pytest

from outlast.platforms.base import JobState
from outlast.platforms.openpai.reading import allowed_clusters, read_clusters, read_job, was_restarted

GOLDEN = Path(__file__).parents[2] / "golden" / "openpai"


def status(**changes):
    return {"state": "RUNNING", "subState": "AttemptRunning", "retries": 0, "virtualCluster": "vision",
            "retryDetails": {"user": 0, "platform": 0, "resource": 0}, "completedTime": None, **changes}  # fmt: skip


@pytest.mark.parametrize("shape", ["yarn", "k8s"])
@pytest.mark.parametrize(
    ("told", "state"),
    [
        ("waiting", JobState.QUEUED),
        ("running", JobState.RUNNING),
        ("succeeded", JobState.ENDED),
        ("failed", JobState.ENDED),
        ("stopped", JobState.ENDED),
    ],
)
def test_jobs_as_a_server_shows_them_are_understood(shape, told, state):
    document = json.loads((GOLDEN / f"{told}-{shape}.json").read_text())
    document = document.get("detail", document)
    job = read_job({**document["jobStatus"], "retryDetails": {}, "retries": 0})
    assert job.state is state
    assert not job.preempted


def test_a_yarn_job_that_is_about_to_end_does_not_wait_again():
    for word in ("APPLICATION_RETRIEVING_DIAGNOSTICS", "APPLICATION_COMPLETED"):
        assert read_job(status(state="WAITING", subState=word)).state is JobState.RUNNING
    assert read_job(status(state="WAITING", subState="FRAMEWORK_WAITING")).state is JobState.QUEUED


def test_waiting_and_running_say_where():
    assert read_job(status(state="WAITING")).detail == "waits in virtual cluster vision"
    assert read_job(status()).detail == "runs in virtual cluster vision"
    assert read_job(status(state="STOPPING")).detail == "is being stopped"


@pytest.mark.parametrize(
    ("known", "state"),
    [
        ({}, JobState.QUEUED),
        ({"launchedTime": 17}, JobState.RUNNING),
        ({"appLaunchedTime": 17}, JobState.RUNNING),
        ({"launchedTime": 17, "completedTime": 18}, JobState.ENDED),
    ],
)
def test_an_unknown_state_is_named_and_judged_by_what_else_is_known(known, state):
    job = read_job(status(state="HIBERNATING", **known))
    assert job.state is state
    if state is not JobState.ENDED:
        assert "'HIBERNATING'" in job.detail
    assert read_job({}).state is JobState.QUEUED


@pytest.mark.parametrize("code", [-101, -1000, -1001, -1003, -7100, -7120])
def test_machines_that_were_taken_are_recognised(code):
    job = read_job(status(state="FAILED", appExitCode=code, completedTime=1))
    assert job.preempted and job.exit_code is None
    assert str(code) in job.detail


@pytest.mark.parametrize("code", [-200, -210, -1004, -1200, -7121, -7351, -8000])
def test_other_codes_of_the_cluster_are_no_exit_codes_and_no_preemption(code):
    job = read_job(status(state="FAILED", appExitCode=code, completedTime=1))
    assert not job.preempted and job.exit_code is None and str(code) in job.detail


def test_the_script_s_own_exit_code_is_found_behind_255():
    runtime = {"runtime": "exitcode: 255\noriginalUserExitCode: 17\n"}
    assert read_job(status(state="FAILED", appExitCode=255, appExitMessages=runtime)).exit_code == 17
    told = {"runtime": {"originUserExitCode": 3}}
    assert read_job(status(state="FAILED", appExitCode=255, appExitMessages=told)).exit_code == 3
    assert read_job(status(state="FAILED", appExitCode=255)).exit_code == 255
    assert read_job(status(state="SUCCEEDED", appExitCode=0)).exit_code == 0


def test_the_cluster_s_words_on_an_exit_are_kept_short():
    spec = {"phrase": "ContainerImageNotFound", "reason": "the image\nis not there " * 60}
    job = read_job(status(state="FAILED", appExitCode=254, appExitSpec=spec))
    assert job.detail.startswith("openpai exit code 254: ContainerImageNotFound: the image is not there")
    assert len(job.detail) <= 300 and "\n" not in job.detail


def test_a_job_that_the_cluster_began_anew_has_ended_for_us():
    again = {"retryDetails": {"user": 0, "platform": 1, "resource": 0}}
    for state in ("RUNNING", "WAITING"):
        job = read_job(status(state=state, launchedTime=5, **again))
        assert job.state is JobState.ENDED and job.preempted
    assert was_restarted({"retries": 2}) and not was_restarted({"retries": 0})


def test_tries_that_never_got_a_machine_are_waiting():
    assert read_job(status(state="WAITING", retryDetails={"user": 0, "platform": 0, "resource": 4})).state == "queued"
    assert read_job(status(state="WAITING", launchedTime=None, retryDetails={"platform": 4})).state == "queued"


def test_virtual_clusters_of_both_generations_are_read():
    yarn = {"resourcesTotal": {"vCores": 24, "memory": 1, "GPUs": 4}, "resourcesUsed": {"vCores": 4, "GPUs": 4},
            "numPendingJobs": 3, "status": "RUNNING"}  # fmt: skip
    k8s = {"resourcesTotal": {"cpu": 8, "gpu": 0}, "resourcesUsed": {"cpu": 2.5, "gpu": 0}}
    found = read_clusters({"vision": yarn, "default": k8s, "off": {"status": "STOPPED"}, "bad": None})
    assert found["vision"].is_full and found["vision"].words == "0 of 4 GPUs free, 20 of 24 cpus free"
    assert found["vision"].waiting == 3
    assert not found["default"].is_full and found["default"].words == "6 of 8 cpus free"
    assert found["default"].waiting is None
    assert found["off"].is_full and found["off"].words == "stopped"
    assert "bad" not in found


def test_rights_are_a_list_or_a_text_or_everything():
    assert allowed_clusters({"virtualCluster": ["a", "b"]}) == ("a", "b")
    assert allowed_clusters({"virtualCluster": "a, b"}) == ("a", "b")
    assert allowed_clusters({"virtualCluster": ["a"], "admin": True}) is None
    assert allowed_clusters({}) is None
