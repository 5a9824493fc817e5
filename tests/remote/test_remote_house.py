"""The rest of a server from a terminal: its accounts, its machine, its space; and the routes behind it."""

import json

import pytest
from terminal import Terminal

from outlast import RunRequest
from outlast.remote.server import server_of
from outlast.remote.submitting import send_request


@pytest.fixture(scope="session")
def root(served, tmp_path_factory):
    """The server's admin at a terminal."""
    home = tmp_path_factory.mktemp("root") / "home"
    url = f"http://127.0.0.1:{served.port}"
    return Terminal(home, OUTLAST_SERVER=url, OUTLAST_TOKEN=served.tokens["root"], OUTLAST_USER="me")


def test_queues_groups_and_users_are_changed_from_afar(root, there):
    assert root.type("queue set night --weight 2").out == "queue night has weight 2\n"
    assert "night" in there.type("queue").out
    assert root.type("group set owls --stints 4 --stored 5G --queue night").code == 0
    assert root.type("group join owls ben").code == 0
    listed = json.loads(root.type("group --json").out)
    assert next(each for each in listed if each["name"] == "owls")["members"] == ["ben"]
    assert root.type("group leave owls ben").code == root.type("group remove owls").code == 0
    assert root.type("queue remove night").code == 0 and root.type("queue remove night").code == 10
    assert "kim" in root.type("user add kim --role viewer").out
    assert root.type("user list").code == 0
    assert root.type("user remove kim").code == 0
    refused = there.type("queue set mine")
    assert refused.code == 11 and "role admin" in refused.err


def test_tokens_are_made_and_revoked_from_afar(root, there):
    made = there.type("token create --name laptop")
    assert made.code == 0 and made.out.startswith("outlast_"), made
    assert there.type("ps", OUTLAST_TOKEN=made.out.strip()).code == 0
    token = next(each for each in json.loads(there.type("token list --json").out) if each["name"] == "laptop")
    assert token["user"] == "ann" and there.type(f"token revoke {token['id']}").code == 0
    assert there.type("ps", OUTLAST_TOKEN=made.out.strip()).code == 11
    robot = root.type("token create --user ben --name robot --json")
    assert json.loads(robot.out)["user"] == "ben"


def test_an_admin_keeps_house_and_a_member_does_not(root, there):
    assert root.type("doctor --json").code in (0, 1)
    assert root.type("gc --dry-run").code == 0
    assert json.loads(root.type("gc --dry-run --json").out)["dry_run"] is True
    assert root.type("reindex").code == 0
    for line in ("doctor", "gc --dry-run", "reindex"):
        assert there.type(line).code == 11


def test_environments_are_the_servers_and_changed_there(there):
    assert there.type("environments").code == 0
    refused = there.type("environments add mine --image x")
    assert refused.code == 2 and "at its own terminal" in refused.err


def test_local_verbs_stay_local(there, tmp_path):
    (tmp_path / "train.py").write_text("import torch\nx = torch.zeros(1).cuda()\n")
    assert there.type("init", tmp_path).code == 0 and (tmp_path / "outlast.toml").exists()
    assert there.type("ls .", tmp_path).code == 0
    assert there.type("config").code == 0


@pytest.fixture(scope="session")
def measured(served):
    """Two runs of ann that have measured something, without having been trained."""
    runs = []
    for lr in (0.1, 0.2):
        run = served.add_run("ann", name=f"judged-{lr}", params={"lr": str(lr)})
        served.order(run, 1)
        points = [{"at_s": 1.0 * step, "epoch": step, "values": {"loss": lr / step}} for step in range(1, 9)]
        served.store.put(f"runs/{run}/stints/0001/metrics/000001", _lines(points))
        served.end(run, 1)
        runs.append(run)
    return runs


def _lines(points):
    return b"".join(json.dumps(point).encode() + b"\n" for point in points)


def test_runs_are_compared_charted_judged_and_reported_over_http(served, measured):
    query = {"run": measured}
    compared = served.call("ann", "GET", "/compare", params={**query, "sort": "loss"})
    assert compared.status_code == 200, compared.text
    assert [each["run"] for each in compared.json()["runs"]] == measured
    assert compared.json()["differing"] == ["lr"]
    chart = served.call("ann", "GET", "/chart", params=query).json()
    assert [panel["metric"] for panel in chart["panels"]] == ["loss"]
    assert len(chart["panels"][0]["curves"]) == 2
    picture = served.call("ann", "GET", "/chart.svg", params={**query, "theme": "dark"})
    assert picture.headers["content-type"].startswith("image/svg+xml") and "<svg" in picture.text
    judged = served.call("ann", "GET", f"/runs/{measured[0]}/evaluation").json()
    assert judged["metrics"]["loss"]["last"]["value"] == pytest.approx(0.1 / 8), judged
    page = served.call("ann", "GET", f"/runs/{measured[0]}/report", params={"lang": "zh"})
    assert page.status_code == 200 and "judged-0.1" in page.text
    assert served.call("ann", "GET", "/chart", params={**query, "metric": "nothing"}).status_code == 400
    assert served.call("ann", "GET", "/compare").status_code == 422


def test_the_overview_leaves_out_what_others_own_and_counts_the_rest(served, measured):
    whole = served.call("ann", "GET", "/overview").json()
    few = served.call("ann", "GET", "/overview", params={"limit": 1}).json()
    assert len(few["runs"]) == 1 and few["left_out"] == len(whole["runs"]) - 1
    none = served.call("ann", "GET", "/overview", params={"recent": 0, "name": "judged-*"}).json()
    assert {run["id"] for run in none["runs"]} <= set(measured)
    assert not {run["user"] for run in whole["runs"]} & {"ben", "tim"}
    everybody = served.call("root", "GET", "/overview").json()
    assert len(everybody["runs"]) >= len(whole["runs"])


def test_job_files_become_an_outlast_toml_over_http(served, there, project):
    settings = there.client().settings
    request = RunRequest("train.py", cwd=project)
    code = send_request(server_of(settings), request, settings, lambda words: None).body["code"]

    def bring(kind, name, text, **words):
        body = {"kind": kind, "name": name, "text": text if isinstance(text, str) else json.dumps(text), **words}
        return served.call("ann", "POST", "/imports", json=body)

    config = {
        "app_url": "/etc/", "boot_file_url": "/etc/train.py", "parameter": [{"label": "lr", "value": "0.1"}],
    }  # fmt: skip
    made = bring("modelarts", "job.json", {"job_name": "x", "config": config})
    assert made.status_code == 200, made.text
    assert "lr" in made.json()["toml"] and str(served.folder) not in made.text
    role = {"name": "main", "taskNumber": 2, "cpuNumber": 1, "command": "python train.py"}
    job = {"jobName": "digits", "image": "x", "codeDir": "/etc", "taskRoles": [role]}
    without = bring("openpai", "a.json", job)
    assert without.status_code == 400 and str(served.folder) not in without.text
    made = bring("openpai", "a.json", job, code=code)
    assert made.status_code == 200, made.text
    assert "2 instances" in made.json()["notes"][0] and str(served.folder) not in made.text
    assert bring("openpai", "../a.json", "{}").status_code == 422
    assert bring("modelarts", "a.json", "no job").status_code == 400
