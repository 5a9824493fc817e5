"""`outlast explain`: what a script will see, and not a byte written."""

import json
import socket

import pytest

from outlast.errors import SpecError
from outlast.inside import sandbox
from outlast.model.request import RunRequest
from outlast.operations.explain import explain
from outlast.operations.explained import MASKED
from outlast.settings import Settings
from outlast.store.maps import save_map
from servers.ports import free_ports

STRICT = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--data_url")
parser.add_argument("--lr", type=float)
args = parser.parse_args()
"""
JOB = """
protocolVersion: 2
name: two_roles
type: job
prerequisites: [{name: img, type: dockerimage, uri: "no/such:image"}]
parameters: {word: gradient}
secrets: {token: open-sesame-123, db: {password: hunter-two}}
taskRoles:
  ps_server:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0, ports: {rpc: 2}}
    commands: ["python serve.py <% $secrets.db.password %>"]
  worker:
    instances: 2
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["echo <% $secrets.token %>", "python ask.py <% $parameters.word %>"]
"""


class Desk:
    def __init__(self, folder):
        self.folder = folder / "project"
        self.folder.mkdir()
        self.settings = Settings.load({}, home=folder / "home")
        self.write("train.py", STRICT)
        self.write("mnist/a.txt", "data")

    def write(self, name, text):
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def explain(self, target="train.py", **words):
        return explain(RunRequest(target, cwd=self.folder, **words), self.settings)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def values(explanation, part=0):
    return {each.name: each.value for each in explanation.parts[part].variables}


def tree(folder):
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [folder, *folder.rglob("*")]}


def test_nothing_is_written_with_or_without_a_home(desk, tmp_path):
    desk.write("job.yaml", JOB)
    before = tree(tmp_path)
    desk.explain(data=("mnist",), limit="1h")
    desk.explain("job.yaml")
    assert tree(tmp_path) == before
    from outlast.keeper.home import Home

    Home(desk.settings.home)
    before = tree(tmp_path)
    desk.explain(contract="modelarts", data=("data_url=mnist",))
    desk.explain("job.yaml")
    assert tree(tmp_path) == before


def test_a_plain_script_gets_its_own_arguments_and_its_data_where_it_looks(desk):
    found = desk.explain(data=("mnist",), args=("--lr", "0.1"), env=("COLOUR=deep red",), python="python3")
    (part,) = found.parts
    assert part.command.endswith(" train.py --lr 0.1") and part.folder.endswith("/work/RUN/0001/tree/code")
    assert values(found)["COLOUR"] == "deep red"
    assert values(found)["OUTLAST_STINT"] == "1"
    places = {place.path.removeprefix(part.folder): place.what for place in found.places}
    assert places["/mnist"] == f"mnist: {(desk.folder / 'mnist').as_uri()}, read-only"
    assert places[""].startswith("the code: 1 file, ")
    assert found.refused == () and found.contract == "plain"


def test_secrets_are_masked_wherever_they_come_from(desk, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "do-not-show-1")
    found = desk.explain(secrets=("HF_TOKEN",), env=("MY_API_KEY=do-not-show-2", "OPEN=yes"))
    assert values(found)["HF_TOKEN"] == values(found)["MY_API_KEY"] == MASKED
    assert values(found)["OPEN"] == "yes"
    assert "do-not-show" not in repr(found)


def test_options_that_the_script_would_die_of_are_named_with_the_way_out(desk):
    words = {"contract": "modelarts", "data": ("data_url=mnist",), "output": ("train_url=out",), "params": ("lr=0.1",)}
    found = desk.explain(**words)
    assert found.refused == ("train_url",)
    assert "--train_url=" in found.parts[0].command
    assert any("--train_url" in notice and "--drop-unknown" in notice for notice in found.notices)
    found = desk.explain(**words, drop_unknown=True)
    assert found.refused == ()
    assert "--train_url=" not in found.parts[0].command and "--lr=0.1" in found.parts[0].command


def test_modelarts_brings_moxing_and_its_buckets(desk, tmp_path):
    save_map(_home(desk), "obs://bucket", tmp_path / "bucket")
    found = desk.explain(contract="modelarts-v1", data=("data_url=obs://bucket/mnist",))
    helpers = {helper.name: helper.what for helper in found.helpers}
    assert "import moxing" in helpers and helpers["obs://bucket"].endswith("/bucket")
    assert "--data_url=s3://bucket/mnist/" in found.parts[0].command
    assert "mox" in values(found)["PYTHONPATH"].split(":")[0]
    assert "import moxing" not in {helper.name for helper in desk.explain().helpers}


@pytest.mark.skipif(not sandbox.usable(sandbox.find_bwrap())[0], reason="only the sandbox forbids the network")
def test_the_network_is_explained(desk):
    assert desk.explain().network == "allowed"
    assert "xihe" in desk.explain(contract="xihe", data=("data_url=mnist",)).network
    assert "--no-network" in desk.explain(network=False).network
    assert "allowed" in desk.explain(network=False, sandbox="off").network


def test_a_job_has_one_part_for_each_role(desk):
    desk.write("job.yaml", JOB)
    found = desk.explain("job.yaml", user="ann")
    server, worker = found.parts
    assert server.command == f"python serve.py {MASKED}"
    assert worker.command.splitlines() == [f"echo {MASKED}", "python ask.py gradient"]
    assert server.folder.endswith("/code/ps_server-0") and worker.folder.endswith("/code/worker-0")
    assert any("2 instances" in fact for fact in worker.facts)
    assert values(found, 1)["PAI_JOB_NAME"] == "ann~two_roles"
    assert values(found, 1)["PAI_PORT_LIST_psserver_0_rpc"] == "(free port),(free port)"
    assert not any(name.startswith("PAI_SECRET") for name in values(found))
    assert "open-sesame" not in repr(found) and "hunter" not in repr(found)


def test_ports_that_a_job_names_are_shown(desk):
    role = {"name": "t", "taskNumber": 2, "command": "true", "portList": [{"label": "rpc", "beginAt": 9300}]}
    desk.write("job.json", json.dumps({"jobName": "j", "image": "x", "codeDir": "/a/j", "taskRoles": [role]}))
    found = desk.explain("job.json")
    assert values(found)["PAI_PORT_LIST_t_1_rpc"] == "9301"


def _home(desk):
    from outlast.keeper.home import Home

    return Home(desk.settings.home).path


def test_the_web_hdfs_of_a_run_is_a_helper(desk, tmp_path):
    (tmp_path / "hdfs").mkdir()
    port = free_ports(1)[0]
    save_map(_home(desk), f"hdfs://namenode:{port}", tmp_path / "hdfs")
    words = {"env": (f"FS=http://namenode:{port}",)}
    found = desk.explain(**words)
    assert f"http://namenode:{port}" in {helper.name for helper in found.helpers}
    assert any("/etc/hosts" in notice for notice in desk.explain(**words, sandbox="off").notices)
    assert not any(str(port) in helper.name for helper in desk.explain().helpers)


def test_a_port_that_is_taken_is_a_notice_not_a_refusal(desk, tmp_path):
    (tmp_path / "hdfs").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        save_map(_home(desk), f"hdfs://127.0.0.1:{port}", tmp_path / "hdfs")
        found = desk.explain(args=(f"http://localhost:{port}",))
    assert any("address already in use" in notice for notice in found.notices)


@pytest.mark.parametrize("words", [{"target": "nothing.py"}, {"contract": "modelart"}, {"limit": "soon"}])
def test_a_wrong_request_is_refused_as_run_refuses_it(desk, words):
    with pytest.raises(SpecError):
        desk.explain(**words)
