"""Names, bodies and statuses: what Xihe must be able to take, and what its words mean here."""

import random
import re

import pytest

from outlast.model.ids import new_run_id
from outlast.platforms.base import JobState, job_name
from outlast.platforms.xihe import wire

NAME = re.compile(r"[A-Za-z0-9_-]{5,35}")


def test_names_obey_the_rules_of_xihe_for_any_run():
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    runs = [new_run_id() for _ in range(200)]
    runs += ["".join(chance.choices("ab-_.9Z", k=chance.randint(1, 63))) for _ in range(500)]
    names = {}
    for run in dict.fromkeys(runs):
        for name in (wire.project_name(run), wire.state_name(run)):
            assert NAME.fullmatch(name) and "--" not in name and "__" not in name, (run, name)
            assert names.setdefault(name, run) == run, "two runs share a repository"
        instance = wire.instance_name(job_name(run, 9999))
        assert re.fullmatch(r"[A-Za-z0-9_-]{5,50}", instance), (run, instance)


def test_our_own_run_ids_can_be_read_in_every_name():
    run = "1116-candid-starling-7kq"
    assert wire.project_name(run) == f"outlast-{run}"
    assert wire.state_name(run) == f"state-{run}"
    assert wire.instance_name(f"{run}.0012") == f"{run}-0012"
    assert (wire.run_of(f"{run}.0012"), wire.stint_of(f"{run}.0012")) == (run, 12)


@pytest.mark.parametrize(
    ("status", "state", "code", "preempted"),
    [
        ("", JobState.QUEUED, None, False),
        ("scheduling", JobState.QUEUED, None, False),
        ("Pending", JobState.QUEUED, None, False),
        ("Creating", JobState.QUEUED, None, False),
        ("Running", JobState.RUNNING, None, False),
        ("Terminating", JobState.RUNNING, None, False),
        ("Reticulating", JobState.RUNNING, None, False),
        ("Completed", JobState.ENDED, 0, False),
        ("Failed", JobState.ENDED, 1, False),
        ("Abnormal", JobState.ENDED, 1, False),
        ("schedule_failed", JobState.ENDED, None, False),
        ("Terminated", JobState.ENDED, None, True),
        ("Timeout", JobState.ENDED, None, True),
    ],
)
def test_every_status_of_the_wire_is_understood(status, state, code, preempted):
    job = wire.job_of(wire.Instance("1", "name", status, error="disk is full" if state is JobState.ENDED else ""))
    assert (job.state, job.exit_code, job.preempted) == (state, code, preempted)
    assert job.is_silent is (state is JobState.RUNNING)
    assert ("disk is full" in job.detail) is (state is JobState.ENDED and code != 0)


def test_an_unknown_status_of_a_finished_record_is_an_end():
    job = wire.job_of(wire.Instance("1", "name", "Vanished", is_done=True))
    assert (job.state, job.exit_code) == (JobState.ENDED, 1)
    assert "Vanished" in job.detail


def test_lists_are_read_in_every_shape_that_versions_of_the_service_gave_them():
    row = {"id": "a", "name": "x-0001", "status": "Running", "is_done": False, "error": None}
    wanted = [wire.Instance("a", "x-0001", "Running")]
    assert wire.read_instances([row]) == wire.read_instances({"trainings": [row]}) == wanted
    assert wire.read_instances(None) == wire.read_instances({}) == wire.read_instances([]) == []


def test_only_the_oldest_finished_records_make_room_for_a_new_one():
    def record(stint, status):
        return wire.Instance(str(stint), f"run-{stint:04d}", status)

    four = [record(number, "Completed") for number in (4, 3, 2, 1)]
    assert wire.outdated(four, "run-0005") == []
    assert [each.id for each in wire.outdated([record(5, "Failed"), *four], "run-0006")] == ["1"]
    assert wire.outdated([record(number, "Running") for number in range(1, 6)], "run-0006") == []


def test_a_version_that_is_known_brings_its_machine():
    assert wire.find_compute("mindspore_1.3.0-cuda_10.1-py_3.7-ubuntu_1804-x86_64").type == "MPI"
    assert wire.find_compute("own", "own.flavor", "Own") == wire.Compute("Own", "own.flavor", "own")
    assert wire.find_compute("") == wire.COMPUTES[0]


def test_the_body_of_an_instance_names_inputs_by_kind_and_asks_for_output():
    inputs = [wire.Wanted("run_url", "model", "ann", "state-x"), wire.Wanted("data", "dataset", "ben", "mnist", "a.gz")]
    body = wire.training_body("x-0001", "boot.py", wire.COMPUTES[0], inputs, "words")
    assert body["models"] == [{"key": "run_url", "owner": "ann", "name": "state-x", "File": ""}]
    assert body["datasets"] == [{"key": "data", "owner": "ben", "name": "mnist", "File": "a.gz"}]
    assert (body["enable_output"], body["enable_aim"], body["code_dir"]) == (True, False, "")
    assert set(body["compute"]) == {"type", "flavor", "version"}
