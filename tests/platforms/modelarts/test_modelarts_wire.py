"""What is sent to ModelArts, byte for byte, and what its answers mean for a stint."""

from __future__ import annotations

import ast
import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.model.ids import new_run_id
from outlast.modelarts.reading import read_job as read_document
from outlast.platforms.base import JobState, job_name
from outlast.platforms.modelarts import wire, wirev1

GOLDEN = Path(__file__).parent / "golden"
WISH = wire.Wish(
    name="outlast-1116-quiet-otter-abc_0003", description="stint 3 of run 1116-quiet-otter-abc by ann (outlast)",
    folder="/lab/outlast/boot/jobs/1116-quiet-otter-abc_0003-ff/",
    boot="/lab/outlast/boot/jobs/1116-quiet-otter-abc_0003-ff/outlast_start.py",
    engine="pytorch_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64", flavor="modelarts.p3.large.public",
    variables={"OUTLAST_BOOT": '{"run": "1116-quiet-otter-abc"}'}, limit_s=3 * 3600 + 130.0,
)  # fmt: skip
BODIES = {
    "job-v2": wire.job_body(WISH),
    "job-v2-free": wire.job_body(WISH._replace(flavor="modelarts.p3.large.public.free")),
    "job-v2-image": wire.job_body(WISH._replace(engine="swr.cn-north-4.myhuaweicloud.com/lab/torch:2", pool="pool-1")),
    "job-v1": wirev1.job_body(WISH, 130),
    "job-v1-pool": wirev1.job_body(WISH._replace(pool="pool-1"), 130),
    "search": wire.search_body("outlast-1116-", 2, ("Creating", "Pending")),
}


def test_nodes_are_asked_for_in_the_words_of_each_generation():
    assert wire.job_body(WISH._replace(nodes=2))["spec"]["resource"]["node_count"] == 2
    assert wirev1.job_body(WISH._replace(nodes=2), 130)["config"]["worker_server_num"] == 2


@pytest.mark.parametrize("name", BODIES)
def test_requests_are_what_they_were(name):
    """A change here changes what the service is sent: write the file anew only on purpose."""
    kept = GOLDEN / f"{name}.json"
    assert json.dumps(BODIES[name], indent=1, sort_keys=True) + "\n" == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in BODIES if name.startswith("job")])
def test_our_own_reader_of_such_documents_understands_them(name):
    read = read_document(json.dumps(BODIES[name]))
    assert (read.kind, read.name, read.nodes) == ("v1" if "v1" in name else "v2", WISH.name, 1)
    assert read.code == "obs:/" + WISH.folder.rstrip("/") and read.boot == "outlast_start.py"
    assert read.unknown == () and read.inputs == () and read.outputs == ()


def test_the_official_models_have_every_field_that_is_sent():
    for body in (BODIES["job-v2"], BODIES["job-v2-image"]):
        assert body.keys() <= _official("job")
        assert body["metadata"].keys() <= _official("job_metadata")
        assert body["algorithm"].keys() <= _official("job_algorithm")
        assert body["algorithm"]["engine"].keys() <= _official("job_engine")
        assert body["spec"].keys() <= _official("spec")
        assert body["spec"]["resource"].keys() <= _official("spec_resource")
    assert BODIES["search"].keys() <= _official("job_searches")
    assert BODIES["search"]["filters"][0].keys() <= _official("filter")


def _official(model):
    """Field names of a model of the official client, read from its source: importing it loads thousands of others."""
    package = importlib.util.find_spec("huaweicloudsdkmodelarts").submodule_search_locations[0]
    tree = ast.parse(Path(package, "v1", "model", f"{model}.py").read_text(encoding="utf-8"))
    maps = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "attribute_map"
    ]
    return set(ast.literal_eval(maps[0]).values())


@given(st.integers(1, 99_999), st.data())
def test_a_name_fits_the_rules_and_leads_back(stint, data):
    run = new_run_id()
    name = wire.name_of(job_name(run, stint))
    assert len(name) <= 64 and name.replace("-", "").replace("_", "").isalnum() and name.isascii()
    assert wire.stint_of(name) == job_name(run, stint)
    other = data.draw(st.sampled_from(["mnist", "outlast-", "outlast-x", "outlast-x_y", "x" + name]))
    assert wire.stint_of(other) == ""


@pytest.mark.parametrize(
    ("status", "state", "words"),
    [
        ({"phase": "Creating", "secondary_phase": "Creating"}, JobState.QUEUED, "is being created"),
        ({"phase": "Pending", "secondary_phase": "Queuing"}, JobState.QUEUED, "waits in the queue"),
        ({"phase": "Running", "secondary_phase": "Running", "start_time": 1}, JobState.RUNNING, ""),
        ({"phase": "Terminating"}, JobState.RUNNING, "is being stopped"),
        ({"phase": "Completed"}, JobState.ENDED, ""),
        ({"phase": "Failed", "task_statuses": [{"exit_code": 137}]}, JobState.ENDED, "exit code 137"),
        ({"phase": "Failed", "task_statuses": [{"task": "worker-0", "exit_code": "3", "message": "a\n b"}]},
         JobState.ENDED, "a b"),
        ({"phase": "Terminated", "duration": 90_000}, JobState.ENDED, "stopped after 1 min 30 s"),
        ({"phase": "Terminated", "duration": 3_590_000}, JobState.ENDED,
         "stopped at the limit of the free flavor, 1 h"),
        ({"phase": "Terminated"}, JobState.ENDED, "stopped before it ran"),
        ({"phase": "Abnormal", "secondary_phase": "CreateFailed"}, JobState.ENDED, "could not be created"),
        ({"phase": "Abnormal", "secondary_phase": "Lost"}, JobState.ENDED, "was lost by the platform"),
        ({"phase": "Abnormal", "secondary_phase": "Odd"}, JobState.ENDED, "is abnormal (Odd)"),
        ({"phase": "Hibernating", "start_time": 5}, JobState.RUNNING, "is in the phase 'Hibernating', unknown here"),
        ({"phase": "Dreaming", "start_time": 0}, JobState.QUEUED, "is in the phase 'Dreaming', unknown here"),
        ({}, JobState.QUEUED, "is in the phase 'none', unknown here"),
    ],
)  # fmt: skip
def test_every_phase_has_a_meaning(status, state, words):
    job = wire.read_status(status, "modelarts.p3.large.public.free")
    assert (job.state, job.detail) == (state, words)
    assert job.preempted is (status.get("phase") in ("Terminated", "Abnormal"))


def test_exit_codes_are_those_of_the_task_that_ran_the_stint():
    tasks = [{"task": "ps-0", "exit_code": 9}, {"task": "worker-0", "exit_code": 4}]
    assert wire.read_status({"phase": "Failed", "task_statuses": tasks}).exit_code == 4
    assert wire.read_status({"phase": "Failed", "task_statuses": []}).exit_code is None
    assert wire.read_status({"phase": "Failed", "task_statuses": [{"exit_code": "x"}]}).exit_code is None
    assert wire.read_status({"phase": "Completed"}).exit_code == 0


@pytest.mark.parametrize("status", range(24))
def test_every_number_of_the_first_generation_has_a_meaning(status):
    job = wirev1.read_status(status, 0.0)
    queued, running = {1, 2, 4, 7, 18, 19, 20, 23}, {8, 9, 15}
    wanted = JobState.QUEUED if status in queued else JobState.RUNNING if status in running else JobState.ENDED
    assert job.state is wanted
    assert ("unknown" in job.detail) is (status in (0, 23))
    assert wirev1.read_status(23, 5.0).state is JobState.RUNNING


def test_what_the_first_generation_lists_is_read_with_numbers_as_texts():
    found = wirev1.read_job({"job_id": "7", "version_id": 9, "job_name": "outlast-r_0001", "status": "8"})
    assert (found.id, found.name, found.job.state) == ("7/9", "outlast-r_0001", JobState.RUNNING)
    engines = {"engines": [{"engine_id": 130, "engine_version": "TF-1.15-python3.7-aarch64"}]}
    assert wirev1.find_engine(engines, "tf-1.15-python3.7-AARCH64") == 130
    assert wirev1.find_engine(engines, "none") is None and wirev1.find_engine(engines, "77") == 77


def test_flavors_are_told_in_words_and_the_free_ones_are_marked():
    info = {"cpu": {"core_num": 24}, "memory": {"size": 96, "unit": "GB"},
            "npu": {"unit_num": "1", "product_name": "Ascend 910"}}  # fmt: skip
    offer = wire.read_flavor({"flavor_id": "modelarts.kat1.xlarge", "flavor_info": info})
    assert offer == ("modelarts.kat1.xlarge", "1 Ascend 910, 24 cpus, 96 GB", None, False)
    assert wire.read_flavor({"flavor_id": "a.FREE"}) == ("a.FREE", "", 3600.0, True)
    row = {"spec_code": "modelarts.vm.gpu.free", "core": "8", "cpu": "64", "gpu_num": 1, "gpu_type": "nvidia-v100",
           "no_resource": True}  # fmt: skip
    assert wirev1.read_spec(row) == ("modelarts.vm.gpu.free", "1 nvidia-v100, 8 cpus, 64 GB, sold out", 3600.0, True)


@given(st.floats(0, 1e6))
def test_the_platform_ends_a_job_after_the_stint_and_within_its_rules(limit_s):
    hours = wire.whole_hours(limit_s)
    assert 1 <= hours <= 72 and (hours * 3600 > limit_s or hours == 72)
