"""Trainings of projects end to end: real runs behind Xihe's routes, followed over WebSocket, their results by link."""

import contextlib
import io
import json
import tarfile

import pytest
from hub_lab import PATIENCE_S
from training_lab import SCRIPT, Trainer
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from outlast.hub.pointers import Pointer, write_pointer
from outlast.operations.runs import show_run
from outlast.server.hub.trainings.book import TrainingBook
from outlast.server.hub.trainings.judging import make_report
from outlast.server.hub.trainings.progress import see


@pytest.fixture
def ann(hub_lab):
    return Trainer(hub_lab)


@pytest.fixture(scope="session")
def trained(hub_lab):
    """A training with everything that a form has, followed over WebSocket to its end."""
    ann = Trainer(hub_lab)
    project = ann.project(
        {"src/train.py": SCRIPT, "src/outlast.toml": "[run]\nname = 'not me'\n", "README.md": "hello"}
    )
    model = ann.repository("model", {"deep/a.ckpt": "pretrained"})
    dataset = Trainer(hub_lab, "cas").repository("dataset", {"x/1.bin": "1", "2.bin": "2"}, visibility="public")
    training = ann.create(
        project, code_dir="src/", enable_aim=True, desc="the first one",
        hyperparameter=[{"key": "rates", "value": "0.1,0.01"}],
        env=[{"key": "SEED", "value": "7"}, {"key": "PORT", "value": str(hub_lab.port)}],
        models=[{"key": "pretrain_url", "owner": "ann", "name": model.name, "File": "deep/a.ckpt"}],
        datasets=[{"key": "data_url", "owner": "cas", "name": dataset.name, "File": ""}],
    )  # fmt: skip
    told = _follow(hub_lab, ann.at(project, "training", training))
    return project, training, told


def _socket(lab, path, token=None, **words):
    return connect(f"ws://127.0.0.1:{lab.port}{path}", subprotocols=[token or lab.tokens["ann"]], proxy=None,
                   open_timeout=PATIENCE_S, max_size=None, **words)  # fmt: skip


def _follow(lab, path):
    """Everything that a socket says until it is closed."""
    with _socket(lab, path) as socket:
        return [json.loads(message) for message in socket]


def test_a_training_is_followed_to_its_end(trained):
    _, training, told = trained
    assert {message["code"] for message in told} == {""}
    seen = [message["data"] for message in told]
    assert {each["id"] for each in seen} == {training} and [each["is_done"] for each in seen][:-1].count(True) == 0
    last = seen[-1]
    assert last["status"] == "Completed" and last["error"] == "", last
    assert {"scheduling", "Running", "Completed"} >= {each["status"] for each in seen}


def test_the_script_got_what_the_form_said(trained):
    log = trained[2][-1]["data"]["log"]
    assert "seed 7 ['2.bin', 'x'] pretrained" in log
    assert "epoch: 4 step: 10, loss is 0.00250" in log


def test_the_script_has_no_network_where_there_is_a_sandbox(ann, trained):
    seen = ann.get(trained[0], trained[1])
    if "nothing keeps it from using this machine's" in seen["log"]:
        pytest.skip("bubblewrap does not work on this machine")
    assert "no network" in seen["log"] and "reached the network" not in seen["log"]


def test_details_and_lists_have_the_fields_of_the_wire(ann, trained):
    project, training, _ = trained
    (listed,) = ann.call("GET", ann.at(project, "training")).json()["data"]
    assert set(listed) == {"id", "name", "desc", "error", "status", "created_at", "is_done", "duration"}
    assert (listed["name"], listed["desc"], len(listed["created_at"])) == ("first_try", "the first one", 10)
    detail = ann.get(project, training)
    assert listed.items() <= detail.items() and detail["compute"]["type"] == "Ascend-Powered-Engine"
    assert (detail["enable_aim"], detail["aim_path"]) == (True, "aim")
    assert detail["commit"] == ann.lab.hub.bare(project).commit()
    (followed,) = _follow(ann.lab, ann.at(project, "training", "ws"))
    assert followed["data"] == [listed]


def test_the_run_behind_records_pinned_revisions(ann, trained):
    project, training, _ = trained
    seen = ann.get(project, training)
    spec = show_run(ann.lab.settings, seen["run"]).spec
    assert spec["contract"] == "xihe" and spec["user"] == "ann" and spec["network"] is False
    assert spec["name"] == f"{project.name}-first_try", "an outlast.toml of the project has no say"
    assert spec["limit_s"] == 24 * 3600 and spec["max_stints"] == 1
    assets = sorted(each["asset"] for each in spec["inputs"])
    assert all("@" in each and len(each.rpartition("@")[2]) == 40 for each in assets) and len(assets) == 2
    assert spec["code"]["asset"] == f"project:{project.path}@{seen['commit']}"


def _link(ann, project, training, kind):
    answer = ann.call("GET", ann.at(project, "training", training, "result", kind))
    return answer.json()["data"]["log_url"] if answer.status_code == 200 else answer.json()


def test_results_are_had_by_links_that_need_nothing_else(ann, trained):
    project, training, _ = trained
    log = ann.lab._http.get(_link(ann, project, training, "log"))
    assert log.status_code == 200 and b"loss is 0.00250" in log.content and "train.log" in str(log.headers)
    for kind, name, content in (("output", "output/deep/weights.txt", b"trained"), ("aim", "aim/VERSION", b"1")):
        packed = ann.lab._http.get(_link(ann, project, training, kind))
        assert packed.status_code == 200 and f"{kind}.tar.gz" in packed.headers["content-disposition"]
        with tarfile.open(fileobj=io.BytesIO(packed.content), mode="r:gz") as archive:
            assert archive.getnames() == [name] and archive.extractfile(name).read() == content
    link = _link(ann, project, training, "log")
    for spoilt in (link.replace("/log?", "/output?"), link[:-1] + ("0" if link[-1] != "0" else "1"),
                   link.replace("expires=", "expires=1"), link.partition("&seal")[0]):  # fmt: skip
        answer = ann.lab._http.get(spoilt)
        assert answer.status_code in (400, 401) and answer.json()["code"] in ("invalid_token", "bad_request_param")
    assert _link(ann, project, training, "secrets")["code"] == "bad_request_param"


def test_the_last_config_can_be_sent_again_as_it_is(ann, trained):
    project = trained[0]
    config = ann.call("GET", ann.at(project, "config")).json()["data"]
    assert config["name"] == "first_try" and config["models"][0]["File"] == "deep/a.ckpt"
    assert ann.refused(project, **config)[1] == "duplicate_training_name"
    assert ann.call("GET", ann.at(ann.project(), "config")).json()["code"] == "train_not_found"


def test_a_completed_training_is_evaluated_run_by_run_of_its_grid(ann, trained):
    project, training, _ = trained
    at = f"/v1/evaluate/project/{project.id}/training/{training}/evaluate"
    scopes = {"learning_rate_scope": ["0.1", "0.01"], "momentum_scope": [0.9], "batch_size_scope": ["32"]}
    done = ann.call("POST", at, json={"type": "standard", **scopes})
    assert done.status_code == 201, done.text
    data = done.json()["data"]
    assert data["error"] == "" and data["access_url"].endswith(f"/hub/{project.path}/trainings/{training}/evaluation")
    (told,) = _follow(ann.lab, f"{at}/{data['evaluate_id']}")
    assert told["data"] == data
    assert ann.call("POST", at, json={"type": "custom"}).status_code == 201
    for body, said in (
        ({"type": "other"}, "neither standard nor custom"), ({"type": "standard"}, "batch_size_scope"),
        ({"type": "standard", **scopes, "batch_size_scope": ["__import__('os')"]}, "is no batch size"),
        ({"type": "standard", **scopes, "momentum_scope": ["1"] * 21}, "1 to 20 values"), ([], "one JSON object"),
    ):  # fmt: skip
        answer = ann.call("POST", at, json=body)
        assert answer.status_code == 400 and said in answer.json()["msg"], answer.text


def test_the_report_names_each_run_by_its_values(ann, trained):
    project, training, _ = trained
    book = TrainingBook(ann.lab.hub.folder(project))
    asked = {"type": "standard", "batch_size_scope": ["32"], "learning_rate_scope": ["0.1", "0.01"],
             "momentum_scope": ["0.9"]}  # fmt: skip
    found = book.change(book.find(training), evaluation=asked)
    report = make_report(ann.lab.settings, see(ann.lab.settings, found))
    assert [part.label["learning rate"] for part in report.parts] == ["0.1", "0.01"] and report.notices == []
    assert [round(part.evaluation.metrics["loss"].best.value, 5) for part in report.parts] == [0.025, 0.0025]
    short = book.change(found, evaluation={**asked, "learning_rate_scope": ["0.1"]})
    report = make_report(ann.lab.settings, see(ann.lab.settings, short))
    assert [part.label for part in report.parts][
        1
    ] == {} and "holds 2 trainings and the lists make 1" in report.notices[0]


def test_a_training_goes_on_one_at_a_time_is_terminated_and_made_again(ann):
    project = ann.project()
    waits = [{"key": "mode", "value": "wait"}]
    training = ann.create(project, hyperparameter=waits)
    ann.until(project, training, lambda seen: "waiting" in seen["log"])
    status, code, said = ann.refused(project, name="second")
    assert (status, code) == (400, "exceed_max_num") and "'first_try' goes on" in said
    assert ann.call("GET", ann.at(project, "training", training, "result", "log")).json()["code"] == "train_no_log"
    with _socket(ann.lab, ann.at(project, "training", training)) as socket:
        assert json.loads(socket.recv(PATIENCE_S))["data"]["status"] == "Running"
        assert ann.call("PUT", ann.at(project, "training", training)).status_code == 202
        last = [json.loads(message)["data"] for message in socket][-1]
    assert (last["status"], last["is_done"]) == ("Terminated", True)
    assert ann.call("PUT", ann.at(project, "training", training)).status_code == 202, "nothing happens"
    assert _link(ann, project, training, "output")["code"] == "train_no_output"
    assert _link(ann, project, training, "log").startswith("http")

    ann.commit(project, {"train.py": "print('newer code')"})
    made = ann.call("POST", ann.at(project, "training", training))
    assert made.status_code == 201, made.text
    again = ann.done(project, made.json()["data"]["id"])
    assert again["status"] == "Completed" and again["name"].startswith("first_try-") and "newer code" in again["log"]
    run = again["run"]
    assert ann.call("DELETE", ann.at(project, "training", again["id"])).status_code == 204
    assert ann.call("GET", ann.at(project, "training", again["id"])).json()["code"] == "train_not_found"
    assert ann.call("GET", f"/api/v1/runs/{run}").status_code == 404, "its run is gone too"


def test_a_failed_training_says_why_and_keeps_its_log(ann):
    project = ann.project()
    seen = ann.done(project, ann.create(project, hyperparameter=[{"key": "mode", "value": "fail"}]))
    assert seen["status"] == "Failed" and seen["error"].count("RuntimeError: the loss is not a number") == 1, seen[
        "error"
    ]
    assert ann.lab._http.get(_link(ann, project, seen["id"], "log")).content.count(b"RuntimeError") >= 1
    assert _link(ann, project, seen["id"], "output")["code"] == "train_no_output"
    at = f"/v1/evaluate/project/{project.id}/training/{seen['id']}/evaluate"
    assert "this one is Failed" in ann.call("POST", at, json={"type": "custom"}).json()["msg"]


def test_a_project_with_lfs_files_is_recorded_as_not_scheduled(ann):
    pointer = write_pointer(Pointer("a" * 64, 5)).decode()
    project = ann.project({"train.py": SCRIPT, "data/big.bin": pointer})
    seen = ann.get(project, ann.create(project))
    assert (seen["status"], seen["is_done"], seen["run"], seen["log"]) == ("schedule_failed", True, "", "")
    assert "data/big.bin in LFS" in seen["error"]
    assert _link(ann, project, seen["id"], "log")["code"] == "train_no_log"
    assert ann.call("DELETE", ann.at(project, "training", seen["id"])).status_code == 204


def test_what_is_not_there_is_refused_before_anything_is_recorded(ann):
    project, private = ann.project(), Trainer(ann.lab, "cas").repository("dataset", {"a": "1"})
    empty = ann.repository("model", {})
    model = ann.repository("model", {"a.ckpt": "1"})
    for words, said in (
        ({"boot_file": "missing.py"}, "no file 'missing.py'"), ({"code_dir": "src"}, "no file 'src/train.py'"),
        ({"datasets": [{"key": "d", "owner": "cas", "name": private.name}]}, "that you may use"),
        ({"datasets": [{"key": "d", "owner": "ann", "name": model.name}]}, "no dataset"),
        ({"models": [{"key": "d", "owner": "ann", "name": project.name}]}, "no model"),
        ({"models": [{"key": "d", "owner": "../x", "name": "%00"}]}, "no model"),
        ({"models": [{"key": "d", "owner": "ann", "name": empty.name}]}, "is empty"),
        ({"models": [{"key": "d", "owner": "ann", "name": model.name, "File": "b.ckpt"}]}, "there is no 'b.ckpt'"),
    ):  # fmt: skip
        status, code, message = ann.refused(project, **words)
        assert (status, code) == (400, "bad_request_param") and said in message, message
    assert "is empty" in ann.refused(ann.repository("project", {}))[2]
    assert ann.call("GET", ann.at(project, "training")).json()["data"] == []
    gone = ann.refused(project, datasets=[{"key": "d", "owner": "cas", "name": "never-made"}])[2]
    hidden = ann.refused(project, datasets=[{"key": "d", "owner": "cas", "name": private.name}])[2]
    assert gone.replace("never-made", private.name) == hidden, "a private repository is as good as none"


def test_sockets_are_refused_before_they_open(ann, trained):
    project, training, _ = trained
    path = ann.at(project, "training", training)
    for token, status in (("outlast_wrong", 401), (ann.lab.tokens["cas"], 404), (ann.lab.tokens["late"], 401)):
        with pytest.raises(InvalidStatus) as caught, contextlib.closing(_socket(ann.lab, path, token)):
            pass
        assert caught.value.response.status_code == status
    headers = {"PRIVATE-TOKEN": ann.lab.tokens["ann"]}
    with connect(f"ws://127.0.0.1:{ann.lab.port}{path}", additional_headers=headers, proxy=None) as socket:
        assert json.loads(socket.recv(PATIENCE_S))["data"]["id"] == training
