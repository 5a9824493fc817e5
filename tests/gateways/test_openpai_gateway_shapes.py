"""Jobs as OpenPAI shows them: golden documents of both generations."""

import json
from pathlib import Path

import pytest

from outlast.model.states import RunState
from outlast.server.gateways.openpai.book import JobFacts, JobRow, RoleFacts
from outlast.server.gateways.openpai.showing import K8S, YARN, Job, Progress, detail, list_entry

GOLDEN = Path(__file__).parents[1] / "golden" / "openpai"
FACTS = JobFacts("ann", "mnist", "k8s", "default", (RoleFacts("Ps_1", 1, 0), RoleFacts("worker", 2, 2)))
STATES = {
    "waiting": Progress(RunState.QUEUED, 1000),
    "running": Progress(RunState.RUNNING, 1000, 2000, stints=2),
    "succeeded": Progress(RunState.SUCCEEDED, 1000, 2000, 9000, 0, "finished after 2 stints", 2),
    "failed": Progress(RunState.FAILED, 1000, 2000, 9000, 3, "exit code 3", 1),
    "stopped": Progress(RunState.STOPPED, 1000, 2000, 9000, None, "stopped", 1),
    "told": Progress(
        RunState.FAILED,
        1000,
        2000,
        9000,
        137,
        "exit code 137",
        1,
        {
            "Ps_1/0": {
                "state": "stopped",
                "ports": {"http": [1], "ssh": [2, 3]},
                "tries": 1,
                "started_at": "1970-01-01T00:00:02.500Z",
                "ended_at": "1970-01-01T00:00:08.000Z",
            },
            "worker/0": {"state": "succeeded", "code": 0, "ports": {}, "tries": 1},
            "worker/1": {"state": "failed", "code": 137, "ports": {}, "tries": 3, "decisive": True},
        },
    ),
}


@pytest.mark.parametrize("shape", [YARN, K8S])
@pytest.mark.parametrize("state", STATES)
def test_a_job_looks_as_it_always_did(state, shape):
    """To take over a change on purpose, remove the file and run this twice."""
    row = JobRow(FACTS, "1116-quiet-otter", 1.0, is_asked_to_stop=state == "stopped", tags=("x",))
    job = Job(row, STATES[state], shape)
    found = {"entry": list_entry(job), "detail": detail(job, "BASE")}
    path = GOLDEN / f"{state}-{shape}.json"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, indent=1) + "\n")
        pytest.fail(f"{path} was missing and is written now")
    assert found == json.loads(path.read_text())


def test_a_job_that_is_asked_to_stop_is_stopping_only_in_the_newer_generation():
    row = JobRow(FACTS, "r", 1.0, is_asked_to_stop=True)
    states = {shape: Job(row, STATES["running"], shape).state for shape in (YARN, K8S)}
    assert states == {YARN: "RUNNING", K8S: "STOPPING"}


def test_while_a_job_runs_its_tasks_stand_where_they_are_and_a_queued_one_knows_nothing():
    told = {"worker/0": {"state": "waiting"}, "worker/1": {"state": "succeeded", "code": 0}}
    row = JobRow(FACTS, "r", 1.0)
    for state, expected in ((RunState.RUNNING, ["WAITING", "SUCCEEDED"]), (RunState.STOPPED, ["STOPPED", "SUCCEEDED"])):
        job = Job(row, Progress(state, 1000, 2000, stints=1, tasks=told), K8S)
        tasks = detail(job, "BASE")["taskRoles"]["worker"]["taskStatuses"]
        assert [task["taskState"] for task in tasks] == expected
        assert detail(job, "BASE")["jobStatus"]["appExitTriggerTaskIndex"] is None
