"""How each instance of a job stands: told truly by the job, and read so that a script's own words mean nothing."""

import json
import os

import pytest
from openpai_bench import JobBench, ask_to_leave, role, wait_for

from outlast.inside.contracts.openpai.job import K8S, Job, Role
from outlast.inside.contracts.openpai.standing import read_standing

JOB = Job(K8S, "mnist", "ann", [Role("a", "true", instances=2)])


def standing(bench):
    return read_standing(str(bench.root.parent / "scratch"), bench.job)


def states(bench):
    return {name: (task["state"], task.get("code")) for name, task in standing(bench).items()}


def test_the_task_that_fails_decides_and_the_others_are_stopped(tmp_path):
    bench = JobBench(tmp_path, role("bad", "exit 3"), role("good", "sleep 600", instances=2))
    bench.play()
    assert states(bench) == {
        "bad/0": ("failed", 255), "good/0": ("stopped", None), "good/1": ("stopped", None),
    }  # fmt: skip
    found = standing(bench)
    assert [name for name, task in found.items() if task.get("decisive")] == ["bad/0"]
    assert (
        set(found["bad/0"]["ports"]) == {"http", "ssh"} and found["bad/0"]["ended_at"] >= found["bad/0"]["started_at"]
    )
    ports = [port for task in found.values() for each in task["ports"].values() for port in each]
    assert len(set(ports)) == len(ports) == 6


def test_a_role_that_may_fail_and_one_that_ends_the_job(tmp_path):
    bench = JobBench(
        tmp_path, role("flaky", "exit 1", min_failed=None), role("chief", "sleep 1", min_succeeded=1),
        role("ps", "sleep 600"),
    )  # fmt: skip
    assert bench.play()[0] == 0
    found = states(bench)
    assert found["chief/0"] == ("succeeded", 0) and found["ps/0"] == ("stopped", None)
    assert found["flaky/0"] == ("failed", 255)


def test_a_task_that_was_tried_again_tells_its_last_try(tmp_path):
    command = f"echo x >> {tmp_path}/tries; test $(wc -l < {tmp_path}/tries) = 3"
    bench = JobBench(tmp_path, role("a", command, task_retries=2), role("b", "true"), v2=True, gang=False)
    assert bench.play()[0] == 0
    found = standing(bench)
    assert (found["a/0"]["state"], found["a/0"]["code"], found["a/0"]["tries"]) == ("succeeded", 0, 3)
    assert found["b/0"]["tries"] == 1


def test_while_it_runs_and_when_it_is_asked_to_leave(tmp_path):
    bench = JobBench(tmp_path, role("a", "touch ready; sleep 600"))
    process = bench.start()
    wait_for(bench.root / "ready", process)
    wait_for(bench.root.parent / "scratch" / "tasks.json", process)
    assert states(bench) == {"a/0": ("running", None)}
    ask_to_leave(process)
    assert states(bench) == {"a/0": ("stopped", None)}


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", '"x"', '{"a/0": 5, "other/0": {"state": "failed"}}', "\\u0000", "[" * 100_000, " " * (1 << 21),
    ],
)  # fmt: skip
def test_what_is_no_standing_is_none(tmp_path, text):
    (tmp_path / "tasks.json").write_text(text)
    assert read_standing(str(tmp_path), JOB) == {}


def test_nothing_but_the_known_words_is_taken(tmp_path):
    (tmp_path / "keys.json").write_text(json.dumps({"a/0": {"state": "failed", "code": 1}}))
    (tmp_path / "tasks.json").symlink_to("keys.json")
    assert read_standing(str(tmp_path), JOB) == {}
    (tmp_path / "tasks.json").unlink()
    os.mkfifo(tmp_path / "tasks.json")
    assert read_standing(str(tmp_path), JOB) == {}
    (tmp_path / "tasks.json").unlink()
    strange = {
        "state": ["hush"], "code": True, "tries": 1 << 40, "started_at": "hush", "ended_at": {"a": "hush"},
        "decisive": "hush", "secret": "hush", "ports": {"http": [80, "hush", 70_000, True], "ssh": "hush"},
    }  # fmt: skip
    (tmp_path / "tasks.json").write_text(json.dumps({"a/0": strange, "a/7": strange}))
    assert read_standing(str(tmp_path), JOB) == {"a/0": {"state": "waiting", "ports": {"http": [80]}}}
