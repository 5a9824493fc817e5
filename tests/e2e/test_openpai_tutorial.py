"""The OpenPAI tutorial, unchanged: fetch the data from HDFS, train, put the results back, with the `hdfs` package."""

import json
import sys

import pytest
from lab import RELENTLESS, Lab, kill

from outlast.inside import sandbox
from outlast.webhdfs.running import keep_only, running
from servers.ports import free_ports

#: In the tutorial's style: an address, a user, three steps. Its checkpoint lies beside it; it knows nothing of stints.
TRAIN = """
import argparse, json, os, time
from hdfs import InsecureClient

parser = argparse.ArgumentParser()
parser.add_argument("--hdfs", default="http://namenode:50070")
parser.add_argument("--root", default="/demo")
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--pace", type=float, default=0.25)
args = parser.parse_args()

client = InsecureClient(args.hdfs, user=os.environ["PAI_USER_NAME"])
client.download(args.root + "/data", ".", overwrite=True)
numbers = [float(line) for line in open("data/numbers.txt")]
print("fetched", len(numbers), "numbers", flush=True)

state = {"epoch": 0, "weight": 0.0}
if os.path.exists("ckpt/last.json"):
    with open("ckpt/last.json") as file:
        state = json.load(file)
os.makedirs("ckpt", exist_ok=True)
print("from epoch", state["epoch"], flush=True)
while state["epoch"] < args.epochs:
    time.sleep(args.pace)
    for number in numbers:
        state["weight"] += 0.01 * (number - state["weight"])
    state["epoch"] += 1
    print("epoch %d/%d loss=%.4f" % (state["epoch"], args.epochs, abs(2 - state["weight"])), flush=True)
    with open("ckpt/aside", "w") as file:
        json.dump(state, file)
    os.rename("ckpt/aside", "ckpt/last.json")

os.makedirs("output", exist_ok=True)
with open("output/model.json", "w") as file:
    json.dump(state, file)
client.upload("%s/output/%s" % (args.root, os.environ["PAI_JOB_NAME"]), "./output/", overwrite=True)
print("uploaded", client.list(args.root + "/output/" + os.environ["PAI_JOB_NAME"]), flush=True)
"""
#: The interpreter that has the `hdfs` package.
PYTHON = ("--python", sys.executable)
NEEDS_SANDBOX = pytest.mark.skipif(not sandbox.usable(sandbox.find_bwrap())[0], reason="host names need the sandbox")


def expected(epochs):
    """What an uninterrupted training gives."""
    weight = 0.0
    for _ in range(epochs):
        for number in (1.0, 2.0, 3.0):
            weight += 0.01 * (number - weight)
    return {"epoch": epochs, "weight": weight}


def job_v1(**fields):
    return json.dumps({
        "jobName": "mnist", "image": "aiplatform/pai.build.base",
        "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME", **fields,
    })  # fmt: skip


@pytest.fixture
def workshop(tmp_path):
    """A workspace, an HDFS with the data in it, and the name node that it plays."""
    lab = Lab(tmp_path, settings=RELENTLESS)
    lab.port = free_ports(1)[0]
    lab.hdfs = tmp_path / "hdfs"
    lab.write("ws/train.py", TRAIN)
    lab.write("hdfs/demo/data/numbers.txt", "1\n2\n3\n")
    yield lab
    lab.close()
    keep_only(lab.home, ())


@NEEDS_SANDBOX
def test_the_tutorial_goes_through_stints_and_kills_with_a_host_name(workshop):
    lab = workshop
    lab.client.stores.map(f"hdfs://namenode:{lab.port}", lab.hdfs)
    lab.write("ws/.vscode/settings.json", json.dumps({
        "pai.job.upload.enabled": True, "pai.job.upload.include": ["**/*.py"], "pai.job.upload.exclude": [],
    }))  # fmt: skip
    command = f"cd $PAI_JOB_NAME && python train.py --hdfs http://namenode:{lab.port} --epochs 114"
    job = lab.write("ws/new_job.pai.json", job_v1(taskRoles=[{"name": "task", "memoryMB": 1000, "command": command}]))
    plan = " ".join(lab.outlast("run", job, *PYTHON, "--dry-run").stdout.split())
    assert f"plays hdfs://namenode:{lab.port}: scripts reach it at http://namenode:{lab.port}" in plan
    assert "cannot be led" not in plan
    # Two stints can do 112 epochs at most, so that there are three, whenever the kill comes.
    times = ("--limit", "14s", "--grace", "1s")
    run = lab.submit(job, *PYTHON, "--user", "ann", "--checkpoint", "$PAI_JOB_NAME/ckpt", *times)
    lab.until(lambda: (view := lab.client.runs.get(run)).checkpoints or view.state.is_final)
    (server,) = running(lab.home)
    kill(lab.until(lab.runners)[0])
    for keeper in lab.keepers():
        kill(keeper)
    lab.wake()
    view = lab.wait(run)
    log = lab.outlast("logs", run).stdout
    assert view.state == "succeeded", lab.story() + log
    assert len(view.stint_list) >= 3
    starts = [int(line.split()[-1]) for line in log.splitlines() if "from epoch" in line]
    assert starts[0] == 0 and starts == sorted(starts) and starts[-1] > 0
    assert log.count("fetched 3 numbers") == len(starts)
    assert "uploaded ['model.json']" in log
    result = lab.hdfs / "demo" / "output" / "ann~mnist" / "model.json"
    assert json.loads(result.read_text()) == expected(114)
    lab.until(lambda: not running(lab.home))
    assert not server.is_alive()


def test_code_that_lies_in_the_mapped_hdfs_is_fetched_from_there(workshop):
    lab = workshop
    lab.client.stores.map(f"hdfs://127.0.0.1:{lab.port}", lab.hdfs)
    lab.write("hdfs/ann/mnist/train.py", TRAIN)
    (lab.folder / "ws/train.py").unlink()
    lab.write("ws/.vscode/settings.json", json.dumps({"pai.job.upload.enabled": False}))
    command = "cd $PAI_JOB_NAME && python train.py --hdfs ${PAI_DEFAULT_FS_URI/hdfs:/http:} --epochs 2 --pace 0"
    job = lab.write("ws/new_job.pai.json", job_v1(taskRoles=[{"name": "task", "command": command}]))
    done = lab.outlast("run", job, *PYTHON, "--user", "ann", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = lab.hdfs / "demo" / "output" / "ann~mnist" / "model.json"
    assert json.loads(result.read_text()) == expected(2)


V2 = """
protocolVersion: 2
name: tutorial_v2
type: job
prerequisites:
  - {name: img, type: dockerimage, uri: "no/such:image"}
  - {name: numbers, type: data, uri: ["/demo/data/numbers.txt"]}
  - {name: results, type: output, uri: "/demo/v2"}
  - {name: sources, type: script, uri: "shared.py"}
parameters: {epochs: 3, who: bob}
secrets: {webhdfs: {user: s3cret-user}}
taskRoles:
  server:
    dockerImage: img
    data: numbers
    script: sources
    completion: {minFailedInstances: 1, minSucceededInstances: -1}
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0, ports: {sums: 1}}
    commands: ["python <% $script.uri %> serve <% $data.uri[0] %>"]
  worker:
    dockerImage: img
    script: sources
    output: results
    completion: {minFailedInstances: 1, minSucceededInstances: 1}
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands:
      - "export WEBHDFS_USER=<% $secrets.webhdfs.user %>"
      - "python <% $script.uri %> train <% $output.uri %> <% $parameters.epochs %>"
      - "echo hello <% $parameters.who %>, $WEBHDFS_USER"
"""
SHARED = """
import os, socket, sys, time
from hdfs import InsecureClient
client = InsecureClient(os.environ["WEBHDFS"], user=os.environ.get("WEBHDFS_USER", "nobody"))
place = os.environ["PAI_HOST_IP_server_0"], int(os.environ["PAI_PORT_LIST_server_0_sums"])
if sys.argv[1] == "serve":
    listener = socket.create_server(place)
    with client.read(sys.argv[2]) as reader:
        total = sum(float(line) for line in reader.read().splitlines())
    while True:
        peer, _ = listener.accept()
        peer.sendall(str(total).encode())
        peer.close()
for _ in range(400):
    try:
        peer = socket.create_connection(place)
        break
    except OSError:
        time.sleep(0.05)
total = float(peer.recv(100))
client.write(sys.argv[2] + "/sum.txt", data="%s" % (total * int(sys.argv[3])), encoding="utf-8", overwrite=True)
"""


def test_two_roles_of_a_v2_job_share_the_mapped_hdfs(workshop):
    lab = workshop
    lab.client.stores.map(f"hdfs://127.0.0.1:{lab.port}", lab.hdfs)
    lab.write("ws/shared.py", SHARED)
    job = lab.write("ws/job.yaml", V2)
    done = lab.outlast("run", job, *PYTHON, "--env", f"WEBHDFS=http://localhost:{lab.port}", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (lab.hdfs / "demo/v2/sum.txt").read_text() == "18.0"
    assert "[worker/0] hello bob, ***" in done.stdout and "s3cret-user" not in done.stdout
    lab.until(lambda: not running(lab.home))


def test_a_plain_script_finds_the_server_that_its_arguments_name(workshop):
    lab = workshop
    lab.client.stores.map(f"hdfs://127.0.0.1:{lab.port}", lab.hdfs)
    lab.write("ws/ls.py", "import hdfs, sys\nprint(hdfs.InsecureClient(sys.argv[1]).list('/demo'))\n")
    done = lab.outlast("run", lab.folder / "ws/ls.py", *PYTHON, "--", f"http://127.0.0.1:{lab.port}", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "['data']" in done.stdout
    assert not running(lab.home)  # it ended before anybody heard that the run is over


def test_what_keeps_the_server_from_starting_is_said_before_anything_starts(workshop):
    lab = workshop
    job = lab.write("ws/job.json", job_v1(taskRoles=[{"name": "t", "command": "true"}]))
    lab.client.stores.map(f"hdfs://127.0.0.1:{lab.port}", lab.hdfs)
    lab.client.stores.map(f"hdfs://10.0.0.1:{lab.port}", lab.folder / "other")
    done = lab.outlast("run", job, *PYTHON, check=False)
    assert done.returncode == 2 and "share a port" in done.stderr
    lab.client.stores.unmap(f"hdfs://127.0.0.1:{lab.port}")
    plan = " ".join(lab.outlast("run", job, *PYTHON, "--dry-run").stdout.split())
    assert "10.0.0.1 is a number, which no hosts file can lead to this machine" in plan
    lab.client.stores.map(f"hdfs://namenode:{lab.port}", lab.folder / "other")
    plan = " ".join(lab.outlast("run", job, *PYTHON, "--dry-run", "--sandbox", "off").stdout.split())
    assert "add the line '127.0.0.1 namenode' to /etc/hosts" in plan
    (lab.folder / "other").rmdir()
    done = lab.outlast("run", job, *PYTHON, check=False)
    assert done.returncode == 2 and "outlast store unmap" in done.stderr
