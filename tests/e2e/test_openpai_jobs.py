"""OpenPAI job files run unchanged: through several stints, with peers, with secrets, and in their image."""

import json
import sys
from pathlib import Path

import pytest
from lab import RELENTLESS, Lab, kill

sys.path.insert(0, str(Path(__file__).parents[1] / "inside" / "contracts"))

import small_image

#: As in a tutorial: reads the variables, saves into a folder beside itself, knows nothing of stints.
TRAINING = """
import json, os, pathlib, time
place = pathlib.Path("ckpt")
place.mkdir(exist_ok=True)
last = place / "last.json"
epoch = json.loads(last.read_text())["epoch"] if last.exists() else 0
print(os.environ["PAI_JOB_NAME"], "in", os.path.basename(os.getcwd()), "from epoch", epoch, flush=True)
while epoch < 60:
    time.sleep(0.4)
    epoch += 1
    print("epoch %d/60 loss=%.3f" % (epoch, 1 / epoch), flush=True)
    aside = place / "aside"
    aside.write_text(json.dumps({"epoch": epoch}))
    aside.rename(last)
"""


def test_a_v1_job_goes_through_stints_and_a_kill(tmp_path):
    lab = Lab(tmp_path, settings=RELENTLESS)
    try:
        lab.write("ws/train.py", TRAINING)
        lab.write("ws/notes.md", "not code")
        job = lab.write("ws/new_job.pai.jsonc", json.dumps({
            "jobName": "mnist", "image": "aiplatform/pai.build.base",
            "codeDir": "$PAI_DEFAULT_FS_URI/$PAI_USER_NAME/$PAI_JOB_NAME",
            "taskRoles": [{"name": "task", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 1000, "gpuNumber": 0,
                           "command": "cd $PAI_JOB_NAME && python train.py"}],
        }) + "\n// written by hand\n")  # fmt: skip
        run = lab.submit(job, "--user", "ann", "--checkpoint", "$PAI_JOB_NAME/ckpt", "--limit", "12s", "--grace", "1s")
        lab.until(lambda: lab.client.runs.get(run).checkpoints)
        killed = lab.until(lambda: lab.runners())
        kill(killed[0])
        view = lab.wait(run)
        assert view.state == "succeeded", lab.story()
        assert len(view.stint_list) >= 3
        log = lab.outlast("logs", run).stdout
        assert "ann~mnist in mnist from epoch 0" in log
        starts = [int(line.split()[-1]) for line in log.splitlines() if "from epoch" in line]
        assert starts == sorted(starts) and starts[-1] > 0
        assert "epoch 60/60" in log
        assert view.epoch == 60
        target = lab.folder / "home-again"
        lab.outlast("fetch", run, "--what", "checkpoint", "--to", target)
        (last,) = target.rglob("last.json")
        assert json.loads(last.read_text()) == {"epoch": 60}
    finally:
        lab.close()


PEERS = """
protocolVersion: 2
name: two_roles
type: job
prerequisites: [{name: img, type: dockerimage, uri: "no/such:image"}]
parameters: {word: gradient}
secrets: {token: open-sesame-123}
taskRoles:
  ps:
    dockerImage: img
    completion: {minFailedInstances: 1, minSucceededInstances: -1}
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0, ports: {rpc: 1}}
    commands: ["python peers.py serve"]
  worker:
    instances: 2
    completion: {minFailedInstances: 1, minSucceededInstances: 2}
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands:
      - "echo token <% $secrets.token %>"
      - "cat data/shared.txt"
      - "python peers.py ask <% $parameters.word %>"
"""
PEERS_PY = """
import os, socket, sys, time
host, port = os.environ["PAI_HOST_IP_ps_0"], int(os.environ["PAI_PORT_LIST_ps_0_rpc"])
if sys.argv[1] == "serve":
    server = socket.create_server((host, port))
    while True:
        client, _ = server.accept()
        client.sendall(client.recv(100).upper())
        client.close()
for _ in range(400):
    try:
        client = socket.create_connection((host, port))
        break
    except OSError:
        time.sleep(0.05)
client.sendall((sys.argv[2] + os.environ["PAI_TASK_INDEX"]).encode())
print("answer", client.recv(100).decode())
"""


def test_a_v2_job_of_two_roles_whose_peers_find_each_other(lab):
    lab.write("ws/peers.py", PEERS_PY)
    lab.write("data/shared.txt", "shared by all\n")
    job = lab.write("ws/job.yaml", PEERS)
    done = lab.outlast("run", job, "--data", f"data={lab.folder / 'data'}", "--output", "pai-log", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[worker/0] answer GRADIENT0" in done.stdout
    assert "[worker/1] answer GRADIENT1" in done.stdout
    assert done.stdout.count("shared by all") == 2
    assert "open-sesame-123" not in done.stdout  # masked, though the command printed it
    for path in (lab.home / "store").rglob("*"):
        assert not path.is_file() or b"open-sesame-123" not in path.read_bytes(), path
    specs = list((lab.home / "store").rglob("spec.json"))
    assert specs and b"PAI_SECRET_0" in specs[0].read_bytes()


def test_a_failing_job_names_its_own_code(lab):
    lab.write("ws/train.py", "raise SystemExit(3)")
    job = lab.write("ws/job.json", json.dumps({
        "jobName": "bad", "image": "x", "codeDir": "/ann/bad", "retryCount": 1,
        "taskRoles": [{"name": "t", "command": "python bad/train.py"}],
    }))  # fmt: skip
    done = lab.outlast("run", job, check=False)
    assert done.returncode == 1
    assert "trying the job again, for the first time" in done.stdout
    assert "originalUserExitCode: 3" in done.stdout
    assert "exit code 255" in done.stdout


PODMAN = small_image.engine()


@pytest.mark.skipif(PODMAN is None, reason="podman does not work here")
def test_a_job_runs_in_its_image_when_the_image_is_here(lab, tmp_path):
    small_image.build(PODMAN, tmp_path)
    lab.write("ws/note.txt", "of the code\n")
    job = lab.write("ws/job.yaml", PEERS.partition("taskRoles:")[0].replace("no/such:image", small_image.NAME) + """
taskRoles:
  main:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 100, gpu: 0}
    commands: ["cat note.txt", "ls /", "echo run $OUTLAST_RUN"]
""")  # fmt: skip
    plan = lab.outlast("run", job, "--dry-run").stdout
    assert f"role main runs in the image {small_image.NAME} (podman)" in " ".join(plan.split())
    done = lab.outlast("run", job, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of the code" in done.stdout
    assert "\nhome\n" not in done.stdout
