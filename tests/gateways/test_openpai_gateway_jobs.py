"""Jobs through the OpenPAI door, from the editor's click to the log, with real runs behind them."""

import contextlib
import json
import socket
from urllib.parse import urlencode, urlsplit

import httpx
from pai_lab import PASSWORD, PATIENCE_S, serving_alone
from test_openpai_gateway_forms import _brackets

from outlast.server import security
from outlast.server.database import Database
from outlast.server.gateways.openpai.book import JobBook, JobFacts, JobRow, RoleFacts

TRAINING = b"""
import json, os, sys, urllib.request
print("hello", os.environ["PAI_JOB_NAME"], os.environ["PAI_CODE_DIR"], flush=True)
address = os.environ["PAI_CODE_DIR"].replace("hdfs://", "http://").replace("/ann/", "/webhdfs/v1/ann/")
address += "?op=LISTSTATUS&delegation=" + os.environ["WEBHDFS_TOKEN"]
print("code", [each["pathSuffix"] for each in json.load(urllib.request.urlopen(address))["FileStatuses"]["FileStatus"]])
print("token", os.environ["WEBHDFS_TOKEN"])
"""
YAML = """
protocolVersion: 2
name: {name}
type: job
prerequisites: [{{name: img, type: dockerimage, uri: "no/such:image"}}]
secrets: {{token: open-sesame-123}}
taskRoles:
  Work_er:
    instances: 2
    dockerImage: img
    resourcePerInstance: {{cpu: 1, memoryMB: 100, gpu: 0}}
    commands: ["{command}"]
"""


def _v1(name, command, **fields):
    role = {"name": "task", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 1000, "gpuNumber": 0, "command": command}
    return {"jobName": name, "image": "aiplatform/pai.build.base", "taskRoles": [role], **fields}


def test_submit_job_to_pai_cluster_as_the_editor_does_it(pai):
    with httpx.Client(base_url=pai.url, trust_env=False, timeout=PATIENCE_S) as editor:
        # Adding the cluster: is there a proxy, who signs in how, which protocol?
        assert editor.get("/healthz").status_code == 200
        assert editor.get("/rest-server/api/v2/info").json()["authnMethod"] == "basic"
        signed_in = {"username": "ann", "password": PASSWORD, "expiration": "4000"}
        token = editor.post("/rest-server/api/v1/token", data=signed_in).json()["token"]
        editor.headers["Authorization"] = f"Bearer {token}"
        probe = editor.get("/rest-server/api/v2/jobs/protocolversion/config")
        assert (probe.status_code, probe.json()["code"]) == (404, "NoJobError")
        # Submitting: the name is free, the code goes up, the job is sent as a form.
        jobs, name = "/rest-server/api/v1/user/ann/jobs", "mnist_1a2b3c4d"
        assert editor.get(f"{jobs}/{name}").json()["code"] == "NoJobError"
        hdfs = f"/as/{token}/webhdfs/api/v1"
        for folder in ("/ann", f"/ann/{name}"):
            made = editor.put(hdfs + folder, params={"op": "mkdirs", "user.name": "ann", "permission": "0755"})
            assert made.json() == {"boolean": True}
        step = editor.put(
            f"{hdfs}/ann/{name}/train.py", params={"op": "create", "user.name": "ann", "overwrite": "true"}
        )
        assert editor.put(step.headers["location"], content=iter([TRAINING])).status_code == 201
        job = _v1(name, f"cd {name} && python train.py", codeDir=f"$PAI_DEFAULT_FS_URI/ann/{name}", retryCount=0)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        sent = editor.post(jobs, content=urlencode(list(_brackets(job))), headers=form)
        assert sent.status_code == 201 and sent.headers["location"].endswith(f"{jobs}/{name}"), sent.text
        assert sent.json()["jobStatus"]["name"] == f"ann~{name}"
        # Looking: in the list, at the job, at its log.
        listed = {each["name"]: each["state"] for each in editor.get("/rest-server/api/v2/jobs").json()}
        assert listed[name] in ("WAITING", "RUNNING", "SUCCEEDED")
        pai.wait("ann", f"ann~{name}")
        found = editor.get(f"{jobs}/{name}").json()
        assert (found["jobStatus"]["state"], found["jobStatus"]["appExitCode"]) == ("SUCCEEDED", 0)
        (task,) = found["taskRoles"]["task"]["taskStatuses"]
        text = httpx.get(task["containerLog"] + "user.pai.stdout", trust_env=False).text
        assert f"hello ann~{name} hdfs://{pai.authority}/ann/{name}" in text
        assert "code ['train.py']" in text and "token ***" in text
        assert json.loads(editor.get(f"{jobs}/{name}/config").text)["jobName"] == name
        again = editor.post(jobs, json=job)
        assert (again.status_code, again.json()["code"]) == (409, "ConflictJobError")
        page = editor.get("/job-detail.html", params={"username": "ann", "jobName": name})
        assert page.headers["location"] == f"/runs/{found['jobStatus']['appId']}"
    entries = pai.call("root", "GET", "/api/v1/audit").json()["items"]
    assert ("ann", "run.submit", found["jobStatus"]["appId"]) in [
        (each["actor"], each["action"], each["target"]) for each in entries
    ]


def test_a_v2_job_of_two_tasks_whose_logs_are_told_apart_and_secrets_told_to_nobody(pai):
    text = YAML.format(name="two", command="echo token <% $secrets.token %> of $PAI_TASK_INDEX")
    sent = pai.pai("ann", "POST", "v2/jobs", content=text, headers={"Content-Type": "text/yaml"})
    assert (sent.status_code, sent.json()["status"]) == (202, 202), sent.text
    found = pai.wait("ann", "ann~two")
    assert found["jobStatus"]["state"] == "SUCCEEDED" and found["name"] == "two"
    tasks = found["taskRoles"]["worker"]["taskStatuses"]
    for index, task in enumerate(tasks):
        places = pai.call("ann", "GET", task["containerLog"], params={"tail-mode": "true"}).json()["locations"]
        for place in places:
            assert pai.call(None, "GET", place["uri"]).text.strip() == f"token *** of {index}"
    config = pai.pai("ann", "GET", "v2/jobs/ann~two/config")
    assert config.headers["content-type"].startswith("text/yaml") and "open-sesame" not in config.text
    history = pai.call("ann", "GET", tasks[0]["containerLog"].removesuffix("/0/logs")).json()
    assert history["attempts"][0]["taskState"] == "SUCCEEDED"
    # What NNI and others ask for.
    mine = pai.pai("ann", "GET", "v2/jobs", params={"username": "ann", "keyword": "two", "withTotalCount": "true"})
    assert mine.json()["totalCount"] == 1 and mine.json()["data"][0]["totalTaskNumber"] == 2
    assert pai.pai("ann", "PUT", "v2/jobs/ann~two/tag", json={"value": "good"}).status_code == 200
    assert [each["name"] for each in pai.pai("ann", "GET", "v2/jobs?tagsContain=good").json()] == ["two"]
    assert pai.pai("ann", "DELETE", "v2/jobs/ann~two/tag", json={"value": "bad"}).json()["code"] == "NoTagError"
    assert pai.pai("ann", "GET", "v2/jobs/ann~two/ssh").json()["code"] == "NoJobSshInfoError"
    # Removing it frees the name.
    gone = pai.pai("ann", "DELETE", "v1/user/ann/jobs/two")
    assert gone.status_code == 202 and pai.pai("ann", "GET", "v2/jobs/ann~two").status_code == 404


def test_a_job_is_stopped_and_does_not_start_again(pai):
    job = _v1("endless", "while true; do sleep 0.2; done")
    sent = pai.pai("ann", "PUT", "v1/user/ann/jobs/endless", json=job)
    assert sent.status_code == 201, sent.text
    pai.until(lambda: pai.pai("ann", "GET", "v2/jobs/ann~endless").json()["jobStatus"]["state"] == "RUNNING")
    wrong = pai.pai("ann", "PUT", "v2/jobs/ann~endless/executionType", json={"value": "PAUSE"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "InvalidParametersError")
    assert pai.pai("ann", "PUT", "v2/jobs/ann~endless/executionType", json={"value": "STOP"}).status_code == 202
    found = pai.wait("ann", "ann~endless")
    assert (found["jobStatus"]["state"], found["jobStatus"]["appExitCode"]) == ("STOPPED", -210)
    older = pai.pai("ann", "GET", "v1/user/ann/jobs/endless").json()["jobStatus"]
    assert (older["state"], older["appExitCode"], older["executionType"]) == ("STOPPED", -7351, "STOP")
    assert pai.pai("ann", "PUT", "v1/user/ann/jobs/endless/executionType", json={"value": "START"}).status_code == 400


def test_every_task_tells_its_own_end_and_its_ports(pai):
    role = {"taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0, "portList": [{"label": "tb"}]}
    roles = [role | {"name": "bad", "command": "exit 3"}, role | {"name": "good", "command": "sleep 600"}]
    sent = pai.pai("ann", "POST", "v1/user/ann/jobs", json={"jobName": "mixed", "image": "x", "taskRoles": roles})
    assert sent.status_code == 201, sent.text
    found = pai.wait("ann", "ann~mixed")
    assert found["jobStatus"]["state"] == "FAILED"
    trigger = [found["jobStatus"][f"appExitTriggerTask{name}"] for name in ("RoleName", "Index")]
    bad, good = (found["taskRoles"][name]["taskStatuses"][0] for name in ("bad", "good"))
    assert trigger == ["bad", 0]
    assert (bad["taskState"], bad["containerExitCode"]) == ("FAILED", 255)
    assert (good["taskState"], good["containerExitCode"]) == ("STOPPED", -220)
    assert set(good["containerPorts"]) == {"http", "ssh", "tb"}
    assert good["containerPorts"]["tb"].isdecimal() and good["containerPorts"] != bad["containerPorts"]
    older = pai.pai("ann", "GET", "v1/user/ann/jobs/mixed").json()["taskRoles"]["good"]["taskStatuses"][0]
    assert (older["taskState"], older["containerExitCode"]) == ("STOPPED", -7400)


def test_the_last_yarn_clusters_had_the_jobs_of_a_user_at_both_addresses(pai):
    for method, path in (("GET", "v1"), ("POST", "v2"), ("PUT", "v2/info")):
        assert pai.pai(None, method, path).json()["name"] == "PAI RESTful API"
    sent = pai.pai("ann", "POST", "v2/user/ann/jobs", json=_v1("at-both", "echo here"))
    assert sent.status_code == 201 and sent.headers["location"] == "/rest-server/api/v1/user/ann/jobs/at-both"
    pai.wait("ann", "ann~at-both")
    for version in ("v1", "v2"):
        assert "at-both" in [each["name"] for each in pai.pai("ann", "GET", f"{version}/user/ann/jobs").json()]
        found = pai.pai("ann", "GET", f"{version}/user/ann/jobs/at-both").json()
        assert (found["jobStatus"]["state"], found["jobStatus"]["subState"]) == ("SUCCEEDED", "FRAMEWORK_COMPLETED")
    assert pai.pai("ann", "GET", "v2/user/ann/jobs/at-both/config").json()["jobName"] == "at-both"
    assert pai.pai("ann", "DELETE", "v2/user/ann/jobs/at-both").status_code == 202


def test_what_is_wrong_with_a_job_is_said_at_once_and_leaves_no_job(pai):
    pai.put("ben", "/ben/secret/train.py", b"print(1)")
    cases = [
        (_v1("bad", "true", nonsense=1), 400, "InvalidParametersError"),
        (_v1("bad", "true", virtualCluster="none-such"), 404, "NoVirtualClusterError"),
        (_v1("bad", "true", codeDir="/ann/none"), 400, "InvalidParametersError"),
        (_v1("bad", "true", codeDir="/ben/secret"), 400, "InvalidParametersError"),
        (_v1("bad", "true", codeDir="file:///etc"), 400, "InvalidParametersError"),
        (_v1("bad", "true", extras={"outlast": {"store": "/tmp"}}), 400, "InvalidParametersError"),
        (_v1("bad", "true", extras={"outlast": {"limit": "soon"}}), 400, "InvalidParametersError"),
        ([], 400, "InvalidParametersError"),
    ]
    for body, status, code in cases:
        answer = pai.pai("ann", "POST", "v1/user/ann/jobs", json=body)
        assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
        assert sorted(answer.json()) == ["code", "message"]
    assert pai.pai("ann", "GET", "v1/user/ann/jobs/bad").json()["code"] == "NoJobError"
    yaml = pai.pai("ann", "POST", "v2/jobs", content="type: job", headers={"Content-Type": "text/plain"})
    assert yaml.json()["code"] == "InvalidProtocolError" and isinstance(json.loads(yaml.json()["message"]), list)
    tim = pai.pai("tim", "POST", "v1/user/tim/jobs", json=_v1("more", "true"))
    assert (tim.status_code, tim.json()["code"]) == (403, "NoEnoughQuotaError")
    assert pai.pai("tim", "GET", "v2/jobs").json() == []


def test_virtual_clusters_users_and_tokens(pai):
    clusters = pai.pai("ann", "GET", "v1/virtual-clusters").json()
    assert {"default", "fast"} <= set(clusters) and clusters["fast"]["capacity"] > clusters["default"]["capacity"]
    assert pai.pai("ann", "GET", "v2/virtual-clusters/none").json()["code"] == "NoVirtualClusterError"
    other = pai.pai("ben", "POST", "v1/user/ben/jobs", json=_v1("x", "true", virtualCluster="fast"))
    assert (other.status_code, other.json()["code"]) == (403, "ForbiddenUserError")
    assert pai.pai("ann", "GET", "v1/user/ann").json()["virtualCluster"] == ["default", "fast"]
    assert pai.pai("root", "GET", "v2/users/none").json()["code"] == "NoUserError"
    made = {"username": "new", "password": "at least eight"}
    assert pai.pai("root", "POST", "v2/users", json=made).status_code == 201
    assert pai.pai("root", "POST", "v2/users", json=made).json()["code"] == "ConflictUserError"
    wrong = pai.pai(None, "POST", "v2/authn/basic/login", json={"username": "new", "password": "not that one"})
    nobody = pai.pai(None, "POST", "v1/token", json={"username": "nobody-at-all", "password": "not that one"})
    assert wrong.status_code == nobody.status_code == 400 and wrong.json() == nobody.json()
    token = pai.pai(None, "POST", "v2/authn/basic/login", json=made).json()["token"]
    as_new = {"Authorization": f"Bearer {token}"}
    assert pai.pai(None, "GET", "v2/tokens/check", headers=as_new).json()["username"] == "new"
    for expiration in ("soon", "-60", "59", "604801", "1" * 5000):
        refused = pai.pai(None, "POST", "v1/token", json=made | {"expiration": expiration})
        assert (refused.status_code, refused.json()["code"]) == (400, "InvalidParametersError")
    application = pai.pai(None, "POST", "v1/token/application", headers=as_new).json()["token"]
    basic = httpx.BasicAuth("new", application)
    assert pai.pai(None, "GET", "v2/tokens/check", auth=basic).json()["username"] == "new"
    assert pai.pai(None, "DELETE", f"v2/tokens/{application}", headers=as_new).status_code == 200
    assert pai.pai(None, "DELETE", "v1/authn/basic/logout", headers=as_new).status_code == 200
    assert pai.pai(None, "GET", "v2/tokens/check", headers=as_new).json()["code"] == "UnauthorizedUserError"
    assert pai.pai("root", "DELETE", "v2/users/root").json()["code"] == "RemoveAdminError"
    assert pai.pai("root", "DELETE", "v2/users/new").status_code == 200


def test_without_accounts_any_name_signs_in_and_a_body_that_does_not_come_is_given_up(tmp_path, monkeypatch):
    with serving_alone(tmp_path / "home") as url:
        with httpx.Client(base_url=f"{url}/rest-server/api", trust_env=False, timeout=PATIENCE_S) as client:
            token = client.post("/v1/token", json={"username": "eve", "password": "anything"}).json()["token"]
            client.headers["Authorization"] = f"Bearer {token}"
            assert client.get("/v2/tokens/check").json()["username"] == "eve"
            assert client.get("/v1/user/eve").json()["admin"] is True and client.get("/v2/jobs").json() == []
            page = client.post("/v2/jobs", content="x", headers={"Origin": "http://elsewhere"})
            assert (page.status_code, page.json()["code"]) == (403, "ForbiddenUserError")
        monkeypatch.setattr(security, "BODY_LIMIT_S", 0.2)
        where = urlsplit(url)
        with contextlib.closing(socket.create_connection((where.hostname, where.port), timeout=PATIENCE_S)) as slow:
            slow.sendall(f"POST /rest-server/api/v1/token HTTP/1.1\r\nHost: {where.netloc}\r\n".encode())
            slow.sendall(b"Content-Length: 100\r\n\r\nsome")
            assert slow.recv(100).startswith(b"HTTP/1.1 408")


def test_a_name_is_taken_once_and_free_when_its_run_is_gone(tmp_path):
    now = [1000.0]
    facts = JobFacts("ann", "mnist", "yarn", "default", (RoleFacts("task", 1, 0),))
    with contextlib.closing(Database(f"sqlite:///{tmp_path / 'server.db'}")) as database:
        book = JobBook(database, lambda: now[0])
        book.prepare()
        book.prepare()
        row = JobRow(facts, "first", now[0], config={"jobName": "mnist"})
        assert book.claim(row, lambda run: False)
        assert not book.claim(row, lambda run: False), "somebody else is about to start it"
        now[0] += 3600
        assert not book.claim(row, lambda run: run == "first"), "it was killed after its run had begun"
        assert book.claim(JobRow(facts, "second", now[0]), lambda run: False), "it was killed before"
        book.settle("ann~mnist", "third")
        assert not book.claim(row, lambda run: run == "third")
        assert book.find("ann~mnist").run == "third" and [each.run for each in book.all(None)] == ["third"]
        assert book.all(["ben"]) == []
        assert book.claim(row, lambda run: False), "its run was removed"
