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
