"""Variables, exit codes and policies of OpenPAI: goldens, tables, and every history that a job can have."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpai_bench import role

from outlast.inside.contracts.base import Facts, render
from outlast.inside.contracts.openpai.contract import CODE, code_folder
from outlast.inside.contracts.openpai.exits import error_block, explain, reported
from outlast.inside.contracts.openpai.job import K8S, YARN, Job, folder_name
from outlast.inside.contracts.openpai.policy import FINISH, GO_ON, RETRY_JOB, RETRY_TASK, Course, Retries
from outlast.inside.contracts.openpai.runner import Plan
from outlast.inside.contracts.openpai.variables import Endpoint, variables

GOLDEN = Path(__file__).parent / "golden"


def cluster_job(generation):
    ports = {"http": 1, "ssh": 1, "rpc": 2}
    return Job(
        generation, "mnist", "ann",
        [
            role("ps_server", "ps", cpu=2, memory_mb=2000, shm_mb=64, ports=ports),
            role("worker", "train", instances=2, gpu=1, min_failed=2, min_succeeded=1),
        ],
        fs_uri="hdfs://m:9000" if generation == YARN else "", data_dir="/d", output_dir="/o", code_dir="/c",
        env={"MINE": "1"},
    )  # fmt: skip


def endpoints(job):
    found, port = {}, 5000
    for each in job.roles:
        for index in range(each.instances):
            ports = {}
            for label, count in each.ports.items():
                ports[label] = list(range(port, port + count))
                port += count
            found[each.name, index] = Endpoint("127.0.0.1", ports)
    return found


@pytest.mark.parametrize("generation", [YARN, K8S])
def test_variables_are_those_on_record(generation):
    job = cluster_job(generation)
    found = variables(job, job.roles[1], 1, endpoints(job), "/work")
    assert found == json.loads((GOLDEN / f"openpai-{generation}.json").read_text())


def test_kubernetes_converts_role_names_where_the_cluster_does():
    job = cluster_job(K8S)
    found = variables(job, job.roles[0], 0, endpoints(job), "/work")
    assert found["PAI_CURRENT_TASK_ROLE_NAME"] == "ps_server"
    assert found["PAI_HOST_IP_psserver_0"] == "127.0.0.1"
    assert "PAI_HOST_IP_ps_server_0" not in found
    assert found["NVIDIA_VISIBLE_DEVICES"] == "none"


@pytest.mark.parametrize(
    ("generation", "code", "log", "expected", "reaction"),
    [
        (YARN, 0, "", 0, "never"),
        (YARN, 1, "", 255, "to max"),
        (YARN, 220, "", 255, "to max"),
        (YARN, -9, "", 196, "never"),
        (YARN, 143, "", 196, "never"),
        (YARN, -11, "", 139, "never"),
        (YARN, 134, "", 134, "to max"),
        (YARN, 125, "", 193, "always"),
        (K8S, 1, "", 255, "to max"),
        (K8S, 255, "", 255, "to max"),
        (K8S, -9, "", 137, "always"),
        (K8S, 139, "", 139, "to max"),
        (K8S, 127, "bash: x: command not found", 220, "never"),
        (K8S, 127, "", 255, "to max"),
        (K8S, 1, "Traceback\nModuleNotFoundError: No module named 'x'\n", 232, "never"),
        (K8S, 1, "IndexError: list index out of range", 233, "never"),
        (K8S, 1, "CUDA error: uncorrectable ECC error encountered", 223, "always"),
    ],
)
def test_exit_codes_are_reported_and_reacted_to_as_on_the_cluster(generation, code, log, expected, reaction):
    assert reported(generation, code, log) == expected
    assert explain(generation, expected).reaction == reaction


@pytest.mark.parametrize(
    ("generation", "code", "reaction"),
    [(YARN, -7120, "always"), (YARN, -7112, "back off"), (YARN, -7121, "never"), (YARN, -7110, "always"),
     (YARN, -7351, "never"), (YARN, -1, "to max"), (YARN, 999, "to max"),
     (K8S, -101, "always"), (K8S, -1200, "never"), (K8S, 251, "back off"), (K8S, 254, "never"), (K8S, -5, "to max")],
)  # fmt: skip
def test_codes_that_only_a_platform_reports_are_known_too(generation, code, reaction):
    entry = explain(generation, code)
    assert (entry.code, entry.reaction) == (code, reaction)


def test_the_error_block_is_yaml_and_never_longer_than_the_cluster_allows():
    yaml = pytest.importorskip("yaml")
    lines = ["x: [" + "é" * 500] * 30
    block = error_block(K8S, 255, 3, lines)
    assert len(block.encode()) <= 4096
    first, *body, last = block.strip().split("\n")
    assert (first, last) == ("[PAI_RUNTIME_ERROR_START]", "[PAI_RUNTIME_ERROR_END]")
    document = yaml.safe_load("\n".join(body))
    assert (document["exitCode"], document["originUserExitCode"]) == (255, 3)
    assert len(error_block(YARN, 255, 3, ["y" * 9000]).encode()) <= 4096


roles = st.builds(
    lambda number, instances, failed, succeeded, retries: role(
        f"r{number}", "x", instances=instances, min_failed=failed, min_succeeded=succeeded, task_retries=retries
    ),
    st.just(0), st.integers(1, 3), st.none() | st.integers(1, 3), st.none() | st.integers(1, 3), st.integers(0, 2),
)  # fmt: skip
jobs = st.builds(
    lambda generation, some, retries, gang: Job(
        generation, "j", "u", [each._replace(name=f"r{number}") for number, each in enumerate(some)], retries, gang
    ),
    st.sampled_from([YARN, K8S]), st.lists(roles, min_size=1, max_size=3), st.integers(0, 2), st.booleans(),
)  # fmt: skip
codes = st.lists(st.sampled_from([0, 0, 255, 255, 139, 132, 196]), min_size=200, max_size=200)


@settings(deadline=None)
@given(jobs, codes, st.randoms(use_true_random=False))
def test_every_history_ends_and_follows_the_rules(job, sequence, random):
    course = Course(job)
    waiting = [(each.name, index) for each in job.roles for index in range(each.instances)]
    counts = {each.name: [0, 0] for each in job.roles}
    tries = 0
    for code in sequence:
        task = waiting.pop(random.randrange(len(waiting)))
        step = course.ended(*task, code)
        if step.what == RETRY_TASK:
            assert not job.gang and code
            waiting.append(task)
            continue
        counts[task[0]][1 if code else 0] += 1
        mine = next(each for each in job.roles if each.name == task[0])
        succeeded, failed = counts[task[0]]
        is_failed = bool(code) and mine.min_failed is not None and failed >= mine.min_failed
        is_done = not code and mine.min_succeeded is not None and succeeded >= mine.min_succeeded
        if step.what == GO_ON:
            assert not is_failed and not is_done and waiting
            continue
        assert is_failed or is_done or not waiting
        assert step.code == (code if is_failed else 0)
        if step.what == FINISH:
            assert tries <= job.retries or course.retries.platform
            if step.code and explain(job.generation, step.code).reaction == "to max":
                assert tries == job.retries
            return
        assert step.what == RETRY_JOB and step.code
        tries += 1
        assert course.retries == Retries(tries, 0, 0)
        waiting = [(each.name, index) for each in job.roles for index in range(each.instances)]
        counts = {each.name: [0, 0] for each in job.roles}
    raise AssertionError("the job never ended")


def test_retries_that_are_not_counted_wait_longer_each_time():
    course = Course(Job(K8S, "j", "u", [role("a", "x")], retries=0))
    pauses = [course.ended("a", 0, 137).pause_s for _ in range(8)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    assert course.retries == Retries(0, 8, 0)
    assert course.ended("a", 0, 251).pause_s == 60
    assert course.ended("a", 0, 255).what == FINISH


def test_one_machine_is_not_tried_for_ever():
    course = Course(Job(K8S, "j", "u", [role("a", "x")]))
    steps = [course.ended("a", 0, 137) for _ in range(11)]
    assert [step.what for step in steps] == [RETRY_JOB] * 10 + [FINISH]
    assert steps[-1].code == 137


@pytest.mark.parametrize(("retries", "code", "what"), [
    (-1, 255, RETRY_JOB), (-1, 0, FINISH), (-1, 196, FINISH), (-2, 0, RETRY_JOB), (-2, 196, RETRY_JOB),
])  # fmt: skip
def test_negative_counts(retries, code, what):
    assert Course(Job(YARN, "j", "u", [role("a", "x")], retries)).ended("a", 0, code).what == what


def test_in_v2_the_first_role_that_is_done_ends_the_job():
    course = Course(Job(K8S, "j", "u", [role("a", "x", min_succeeded=1), role("b", "x", min_succeeded=1)]))
    assert course.ended("b", 0, 0).what == FINISH


def test_a_plan_travels_and_names_what_survives_a_retry():
    job = cluster_job(YARN)
    spec = {
        "job": json.loads(json.dumps(job.to_json())), "checkpoint": "c/ckpt", "output": None, "env": {"E": "1"},
        "secrets": ["KEY"], "contract": "openpai",
        "inputs": [{"path": CODE}, {"path": "c/data"}, {"path": "/abs"}],
    }  # fmt: skip
    rendered = render(spec, Facts("r", 2, "/s/tree/code", "/s", "/bundle", "/usr/bin/python3"))
    assert (rendered.argv[0], rendered.argv[-1]) == ("/usr/bin/python3", "/s/desk/job/plan.json")
    plan = Plan.from_json(json.loads(rendered.files["/s/desk/job/plan.json"]))
    assert plan.job == job
    assert (plan.keep, plan.inputs, plan.passed, plan.masked) == (
        ["c/ckpt", "c/data"],
        ["c/data"],
        ["E", "KEY"],
        ["KEY"],
    )
    assert (plan.mounts.writable, plan.mounts.readonly) == (["/s/tree", "/s/desk"], ["/bundle"])
    assert plan.label == "outlast-r-0002"
    assert code_folder(spec, "/s/tree/code") == "/s/tree/code"
    assert code_folder({}, "/s/tree/code") == "/s/tree/.pai-code"
    assert (folder_name(job, "worker", 1), folder_name(job._replace(roles=job.roles[:1]), "ps_server", 0)) == (
        "worker-1", "",
    )  # fmt: skip
