"""Real jobs at the ModelArts door, from the official client and from requests of the first generation."""

from __future__ import annotations

import concurrent.futures
import json
import time

import pytest
from modelarts_lab import ENGINE, FINAL, PATIENCE_S, first_body, job_body

from outlast.server.gateways.modelarts.book import JobBook, NewJob


@pytest.mark.slow
def test_the_official_client_trains_follows_reads_and_deletes(door):
    """One long story, because importing the client takes longer than all of it."""
    from huaweicloudsdkcore.exceptions.exceptions import ClientRequestException
    from huaweicloudsdkmodelarts import v1 as sdk

    client = door.sdk("ann")  # finds out the project by itself
    flavors = client.show_training_job_flavors(sdk.ShowTrainingJobFlavorsRequest(flavor_type="CPU")).flavors
    engines = client.show_training_job_engines(sdk.ShowTrainingJobEnginesRequest()).items
    assert flavors[0].flavor_info.cpu.core_num == 2 and ENGINE in [each.engine_id for each in engines]
    wanted = sdk.Job(
        kind="job",
        metadata=sdk.JobMetadata(name="by-sdk", description="with the official client"),
        algorithm=sdk.JobAlgorithm(
            code_dir="/lab/code/", boot_file="/lab/code/sub/train.py", engine=sdk.JobEngine(engine_id=ENGINE),
            parameters=[sdk.Parameters(name="epochs", value="7")], environments={"HF_TOKEN": "hunter-two"},
            inputs=[_channel(sdk.Input, sdk.InputDataInfo(obs=sdk.InputDataInfoObs(obs_url="/lab/data/")), "data_url")],
            outputs=[_channel(sdk.Output, sdk.Remote(obs=sdk.RemoteObs(obs_url="/lab/out/by-sdk/")), "train_url")],
        ),
        spec=sdk.Spec(
            resource=sdk.SpecResource(flavor_id=flavors[0].flavor_id, node_count=1),
            log_export_path=sdk.LogExportPath(obs_url="/lab/logs/sdk/"),
        ),
    )  # fmt: skip
    made = client.create_training_job(sdk.CreateTrainingJobRequest(body=wanted))
    job = made.metadata.id
    assert (made.status.phase, made.status.start_time, made.metadata.user_name) == ("Creating", 0, "ann")
    assert made.algorithm.inputs[0].local_dir == "/home/ma-user/modelarts/inputs/data_url_0"

    ask = sdk.ShowTrainingJobDetailsRequest(training_job_id=job)
    phases, cursor, followed, deadline = [], None, "", time.monotonic() + PATIENCE_S
    while not phases or phases[-1] not in FINAL:
        assert time.monotonic() < deadline
        phases.append(client.show_training_job_details(ask).status.phase)
        page = client.show_training_job_logs_from_aom(sdk.ShowTrainingJobLogsFromAomRequest(
            training_job_id=job, task_id="worker-0", base_line=cursor or "0", lines=3, order="asc"
        ))  # fmt: skip
        cursor, followed = page.end_line, followed + page.content
    assert phases[-1] == "Completed" and set(phases) <= {"Creating", "Pending", "Running", "Completed"}
    while (page := client.show_training_job_logs_from_aom(sdk.ShowTrainingJobLogsFromAomRequest(
            training_job_id=job, task_id="worker-0", base_line=cursor, lines=3, order="asc"))).lines:  # fmt: skip
        cursor, followed = page.end_line, followed + page.content
    where = {"training_job_id": job, "task_id": "worker-0"}
    whole = client.show_training_job_logs_preview(sdk.ShowTrainingJobLogsPreviewRequest(**where))
    assert whole.content == followed and whole.full_size == whole.current_size == len(followed.encode())
    assert "data ['a.txt']" in followed and "epoch 6 loss 0.143" in followed and "hunter-two" not in followed
    assert (door.bucket / "out/by-sdk/model.txt").read_text() == "weights of 7"
    brought = door.bucket / f"logs/sdk/modelarts-job-{job}-worker-0.log"
    door.wait(lambda: brought.is_file() and brought.read_text() == followed)

    ended = client.show_training_job_details(ask)
    assert ended.status.task_statuses[0].exit_code == 0 and ended.status.duration > 0
    assert {"HF_TOKEN": "******"} in ended.algorithm.environments
    metrics = client.show_training_job_metrics(sdk.ShowTrainingJobMetricsRequest(**where)).metrics
    assert [each.metric for each in metrics] == [
        "cpuUsage", "memUsage", "gpuUtil", "gpuMemUsage", "npuUtil", "npuMemUsage"
    ]  # fmt: skip
    minutes = -(-ended.status.duration // 60_000)
    assert {len(each.value) for each in metrics} == {minutes} and metrics[2].value == [-1] * minutes
    told = client.list_training_job_events(sdk.ListTrainingJobEventsRequest(training_job_id=job, order="asc", limit=50))
    messages = [event.message for event in told.events]
    assert messages[0] == "Training job created." and messages[-1] == "Training job succeeded."
    assert "[worker-0] Training finished with exit code 0." in messages
    stages = client.list_training_job_stages(sdk.ListTrainingJobStagesRequest(training_job_id=job)).running_records
    assert [stage.name for stage in stages[0].stages] == ["scheduling", "preparing", "running", "end"]
    assert (
        client.list_training_job_tasks(sdk.ListTrainingJobTasksRequest(training_job_id=job)).body[0].task == "worker-0"
    )
    like = sdk.Filter(key="name", operator="like", value=["by-s"])
    found = client.list_training_jobs(sdk.ListTrainingJobsRequest(body=sdk.JobSearches(limit=5, filters=[like])))
    assert [each.metadata.id for each in found.items] == [job] and found.count == 1

    with pytest.raises(ClientRequestException) as refused:
        client.stop_training_job(sdk.StopTrainingJobRequest(
            training_job_id=job, body=sdk.JobActionType(action_type="terminate")
        ))  # fmt: skip
    assert (refused.value.status_code, refused.value.error_code) == (409, "ModelArts.2796")
    client.delete_training_job(sdk.DeleteTrainingJobRequest(training_job_id=job))
    with pytest.raises(ClientRequestException) as gone:
        client.show_training_job_details(ask)
    assert (gone.value.status_code, gone.value.error_code) == (400, "ModelArts.2775")
    assert gone.value.request_id


def _channel(kind, remote, name):
    return kind(name=name, remote=remote)


def test_a_running_job_is_stopped_once(door):
    job = door.create("ben", "to-be-stopped", wait=True)
    door.wait(lambda: "token" in door.call("ben", "GET", f"/training-jobs/{job}/tasks/worker-0/logs/preview").text)
    assert door.call("ben", "GET", f"/training-jobs/{job}").json()["status"]["phase"] == "Running"
    door.wait(lambda: _is_measured(door.call("ben", "GET", f"/training-jobs/{job}/metrics/worker-0").json()))
    wrong = door.call("ben", "POST", f"/training-jobs/{job}/actions", {"action_type": "restart"})
    assert wrong.json()["error_code"] == "ModelArts.2812"
    stopped = door.call("ben", "POST", f"/training-jobs/{job}/actions", {"action_type": "terminate"})
    assert stopped.status_code == 202 and stopped.json()["status"]["phase"] in ("Terminating", "Terminated")
    assert door.follow("ben", job)["status"]["phase"] == "Terminated"
    events = door.call("ben", "GET", f"/training-jobs/{job}/events", headers={"X-Language": "zh-cn"}).json()["events"]
    assert events[0]["message"] == "训练作业被手动停止。" and events[0]["level"] == "Warning"
    audit = [(entry.actor, entry.action) for entry in door.state.accounts.audit.list()]
    assert ("ben", "run.submit") in audit and ("ben", "run.stop") in audit


def _is_measured(body):
    last = {each["metric"]: each["value"][-1] for each in body["metrics"]}
    return last["cpuUsage"] >= 0 and 0 < last["memUsage"] < 100 and last["gpuUtil"] == -1


def test_a_free_job_ends_after_its_hour_and_there_is_one_at_a_time(door):
    job = door.create("ben", "for-free", flavor="modelarts.p3.large.public.free", wait=True)
    second = door.call("ben", "POST", "/training-jobs", job_body("more", flavor="modelarts.vm.gpu.free"))
    assert (second.status_code, second.json()["error_code"]) == (400, "ModelArts.2833")
    ended = door.follow("ben", job)
    assert ended["status"]["phase"] == ended["status"]["secondary_phase"] == "Terminated"
    messages = [event["message"] for event in door.call("ben", "GET", f"/training-jobs/{job}/events").json()["events"]]
    assert messages[0].startswith("Training job stopped: it ran for 3.0 s"), messages
    again = door.create("ben", "for-free-again", flavor="modelarts.vm.gpu.free")
    assert door.call("ben", "DELETE", f"/training-jobs/{again}").status_code == 202


def test_a_script_that_fails_tells_its_exit_code(door):
    (door.bucket / "code/fails.py").write_text("import sys\nprint('going down', flush=True)\nsys.exit(3)\n")
    job = door.create("ben", "fails", boot_file="fails.py")
    status = door.follow("ben", job)["status"]
    assert status["phase"] == "Failed" and status["task_statuses"][0]["exit_code"] == 3
    assert "going down" in status["task_statuses"][0]["message"]


def test_a_name_is_used_once_even_by_those_who_hurry(door):
    def create(_):
        return door.call("ann", "POST", "/training-jobs", job_body("in-a-hurry"))

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(create, range(4)))
    codes = sorted(each.json().get("error_code", "") for each in answers)
    assert codes == ["", *["ModelArts.2751"] * 3]
    taken = {"job_name": "in-a-hurry"}.items()
    assert door.call("ann", "GET", "/training-job-names", query=list(taken)).json() == {"is_duplicate": True}
    job = next(each.json()["metadata"]["id"] for each in answers if each.status_code == 201)
    jobs = {"jobs": [{"kind": "job", "metadata": {"id": job}}, {"kind": "job", "metadata": {"id": "none"}}]}
    assert door.call("ann", "POST", "/training-jobs/batch-delete", jobs).json()["error_code"] == "ModelArts.2775"
    jobs["jobs"].pop()
    assert door.call("ann", "POST", "/training-jobs/batch-delete", jobs).status_code == 202
    assert door.call("ann", "GET", f"/training-jobs/{job}").json()["error_code"] == "ModelArts.2775"


def test_quotas_of_the_group_hold_here_too(door):
    response = door.call("tim", "POST", "/training-jobs", job_body("too-much"))
    assert (response.status_code, response.json()["error_code"]) == (400, "ModelArts.2815")
    assert door.call("tim", "POST", "/training-job-searches", {}).json()["total"] == 0


@pytest.mark.parametrize(
    ("algorithm", "code"),
    [
        ({"code_dir": "/lab/nothing/", "boot_file": "/lab/nothing/a.py"}, "2757"),
        ({"code_dir": "obs://other/code/", "boot_file": "/other/code/a.py"}, "2757"),
        ({"boot_file": "/lab/code/none.py"}, "2758"), ({"boot_file": "/lab/data/a.py"}, "2758"),
        ({"boot_file": "../a.py"}, "2758"), ({"code_dir": "/etc"}, "2758"), ({"code_dir": "file:///etc"}, "2757"),
        ({"inputs": [{"name": "d", "remote": {"obs": {"obs_url": "/lab/nowhere/"}}}]}, "2791"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_before_a_run_exists(door, algorithm, code):
    before = door.call("root", "POST", "/training-job-searches", {}).json()["total"]
    response = door.call("ann", "POST", "/training-jobs", job_body("not-there", **algorithm))
    assert (response.status_code, response.json()["error_code"]) == (400, f"ModelArts.{code}"), response.text
    assert door.call("root", "POST", "/training-job-searches", {}).json()["total"] == before


def test_a_link_in_a_bucket_does_not_lead_to_files_of_the_server(door):
    (door.bucket / "links").mkdir()
    (door.bucket / "links/train.py").write_text("print(open('key', 'rb').read())\n")
    (door.bucket / "links/key").symlink_to(door.home / "gateway.key")
    words = {"code_dir": "/lab/links/", "boot_file": "/lab/links/train.py"}
    response = door.call("ann", "POST", "/training-jobs", job_body("curious", **words))
    assert (response.status_code, response.json()["error_code"]) == (400, "ModelArts.2757"), response.text
    assert "leads out of" in response.json()["error_msg"]


def test_a_description_can_be_changed(door, done):
    changed = door.call("ann", "PUT", f"/training-jobs/{done}", {"description": "better words"})
    assert changed.json()["metadata"]["description"] == "better words"
    for wrong in (None, 7, "x" * 257):
        refused = door.call("ann", "PUT", f"/training-jobs/{done}", {"description": wrong})
        assert refused.json()["error_code"] == "ModelArts.2788"


def test_the_first_generation_trains_version_after_version(door):
    made = door.call("ben", "POST", "/v1/training-jobs", first_body("old_Job")).json()
    assert made["is_success"] and made["version_name"] == "V0001" and made["status"] in (1, 7, 8)
    base = f"/v1/training-jobs/{made['job_id']}/versions"
    version = _until_over(door, f"{base}/{made['version_id']}")
    assert version["status"] == 10 and version["engine_name"] == "Ascend-Powered-Engine"
    assert (version["spec_code"], version["core"], version["train_url"]) == (
        "modelarts.vm.cpu.2u",
        "2",
        "/lab/out/old_Job/",
    )
    assert (door.bucket / "out/old_Job/done.txt").read_text() == "weights"
    names = door.call("ben", "GET", f"{base}/{made['version_id']}/log/file-names").json()
    assert names == {"is_success": True, "log_file_list": ["job-old-job.0"]}
    query = [("log_file", "job-old-job.0"), ("lines", "2")]
    page = door.call("ben", "GET", f"{base}/{made['version_id']}/aom-log", query=query).json()
    assert "copied 1" in page["content"] or page["lines"] == 2
    before = [*query, ("base_line", page["start_line"]), ("order", "asc")]
    older = door.call("ben", "GET", f"{base}/{made['version_id']}/aom-log", query=before).json()
    assert older["end_line"] == page["start_line"]

    wrong = door.call("ben", "POST", base, first_body("old_Job", pre_version_id=999)).json()
    assert wrong["is_success"] is False and wrong["error_code"] == "ModelArts.0105"
    config = first_body("old_Job", pre_version_id=made["version_id"])["config"]
    second = door.call("ben", "POST", base, {"config": config}).json()
    assert (second["job_id"], second["version_name"]) == (made["job_id"], "V0002")
    assert _until_over(door, f"{base}/{second['version_id']}")["status"] == 10
    listed = door.call("ben", "GET", base).json()
    assert [each["version_name"] for each in listed["versions"]] == ["V0002", "V0001"]
    assert json.loads(listed["versions"][0]["system_metric_list"]).keys() == {"cpuUsage", "memUsage", "gpuUtil"}
    jobs = door.call("ben", "GET", "/v1/training-jobs", query=[("search_content", "OLD"), ("status", "10")]).json()
    assert [(each["job_id"], each["version_count"]) for each in jobs["jobs"]] == [(made["job_id"], 2)]
    assert door.call("ben", "POST", f"{base}/{second['version_id']}/stop").json()["error_code"] == "ModelArts.2796"
    assert door.call("ben", "DELETE", f"{base}/{second['version_id']}").json() == {"is_success": True}
    assert door.call("ben", "DELETE", f"/v1/training-jobs/{made['job_id']}").json() == {"is_success": True}
    gone = door.call("ben", "GET", base).json()
    assert gone["error_code"] == "ModelArts.2775" and gone["error_message"] == gone["error_msg"]


def _until_over(door, path):
    def look():
        body = door.call("ben", "GET", path).json()
        return body if body["status"] > 9 else None

    return door.wait(look)


@pytest.mark.parametrize(
    ("config", "code"),
    [({"engine_id": 77}, "2780"), ({"spec_id": 99}, "2781"), ({"worker_server_num": 9}, "2793"),
     ({"pool_id": "pool1"}, "2890"), ({"boot_file_url": "/lab/code/first.sh"}, "2758")],
)  # fmt: skip
def test_the_first_generation_refuses_in_its_own_shape(door, config, code):
    body = door.call("ben", "POST", "/v1/training-jobs", first_body("refused", **config)).json()
    assert body["is_success"] is False and body["error_code"] == f"ModelArts.{code}", body
    assert body["error_message"] == body["error_msg"]


def test_the_lists_of_the_first_generation_fit_its_requests(door):
    specs = door.call("ann", "GET", "/v1/job/resource-specs", query=[("job_type", "train")]).json()["specs"]
    engines = door.call("ann", "GET", "/v1/job/ai-engines", query=[("job_type", "train")]).json()["engines"]
    assert {"TF-1.15-python3.7-aarch64": 130}.items() <= {
        each["engine_version"]: each["engine_id"] for each in engines
    }.items()
    assert len({each["engine_id"] for each in engines}) == len(engines)
    assert [each["spec_id"] for each in specs] == list(range(1, len(specs) + 1))
    assert "modelarts.vm.gpu.free" in [each["spec_code"] for each in specs]


def test_a_job_whose_run_is_gone_is_lost_and_can_be_deleted(door):
    """Removed by another door, or the server was killed before the run was there."""
    long_ago = JobBook(door.state.database, clock=lambda: time.time() - 3600)
    row = long_ago.add(NewJob("v2", "lost", "ann", "1101-lost-otter-x1", False, "", {}), lambda _: False)
    body = door.call("ann", "GET", f"/training-jobs/{row.id}").json()
    assert (body["status"]["phase"], body["status"]["secondary_phase"]) == ("Abnormal", "Lost")
    assert door.call("ann", "GET", f"/training-jobs/{row.id}/logs/worker-0").json()["content"] == ""
    assert door.call("ann", "GET", f"/training-jobs/{row.id}/metrics/worker-0").json() == {"metrics": []}
    link = door.call("ann", "GET", f"/training-jobs/{row.id}/tasks/worker-0/logs/url").json()
    assert link["error_code"] == "ModelArts.2818"
    stop = door.call("ann", "POST", f"/training-jobs/{row.id}/actions", {"action_type": "terminate"})
    assert (stop.status_code, stop.json()["error_code"]) == (409, "ModelArts.2796")
    assert door.call("ann", "DELETE", f"/training-jobs/{row.id}").status_code == 202


def test_runs_of_this_door_are_runs_like_all_others(door, done):
    headers = {"Authorization": f"Bearer {door.state.accounts.keys.create('token', _id_of(door, 'ann'))[0]}"}
    runs = door.http.get("/api/v1/runs", params={"name": "private-words"}, headers=headers).json()["runs"]
    assert [(run["user"], run["state"]) for run in runs] == [("ann", "succeeded")]
    shown = door.http.get(f"/api/v1/runs/{runs[0]['id']}", headers=headers).json()
    assert shown["spec"]["contract"] == "modelarts" and shown["spec"]["script"] == "sub/train.py"
    assert "token None" in door.http.get(f"/api/v1/runs/{runs[0]['id']}/logs", headers=headers).text


def _id_of(door, name):
    return door.state.accounts.users.get(name).id
