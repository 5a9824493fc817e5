"""Projects that are trained: repositories written straight into the hub, trainings over Xihe's own routes."""

import time
import uuid

from hub_lab import PATIENCE_S

from outlast.model.visitor import Visitor

ENGINE = "mindspore_1.7.0-cann_5.1.0-py_3.7-euler_2.8.3-aarch64"
COMPUTE = {"type": "Ascend-Powered-Engine", "flavor": "modelarts.kat1.xlarge.public", "version": ENGINE}

#: Trains twice, one learning rate after the other; what it may do wrong is an option.
SCRIPT = """
import argparse, os, socket, sys, time

parser = argparse.ArgumentParser()
for name in ("data_url", "pretrain_url", "output_path", "aim_repo"):
    parser.add_argument("--" + name)
parser.add_argument("--rates", default="0.1,0.01")
parser.add_argument("--mode", default="")
args = parser.parse_args()
if args.mode == "wait":
    print("waiting", flush=True)
    time.sleep(600)
if args.mode == "fail":
    raise RuntimeError("the loss is not a number")
if args.data_url:
    with open(args.pretrain_url) as file:
        print("seed", os.environ["SEED"], sorted(os.listdir(args.data_url)), file.read(), flush=True)
    assert os.path.isdir(args.output_path) and os.path.isabs(args.output_path)
try:
    socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "9"))), timeout=5).close()
    print("reached the network", flush=True)
except OSError:
    print("no network", flush=True)
for rate in args.rates.split(","):
    for epoch in range(1, 5):
        print("epoch: %d step: 10, loss is %.5f" % (epoch, float(rate) / epoch), flush=True)
if args.output_path:
    os.makedirs(os.path.join(args.output_path, "deep"), exist_ok=True)
    with open(os.path.join(args.output_path, "deep", "weights.txt"), "w") as file:
        file.write("trained")
if args.aim_repo:
    with open(os.path.join(args.aim_repo, "VERSION"), "w") as file:
        file.write("1")
"""


class Trainer:
    """One user at the trainings of the lab."""

    def __init__(self, lab, user="ann"):
        self.lab, self.user = lab, user

    def repository(self, kind, files, owner=None, **words):
        """A new repository with these files; what the hub knows of it."""
        owner = owner or self.user
        made = self.lab.hub.create(
            Visitor(owner, sees_all=True), f"{owner}/{kind}-{uuid.uuid4().hex[:8]}", kind, **words
        )  # fmt: skip
        if files:
            self.commit(made, files)
        return made

    def project(self, files=None, **words):
        return self.repository("project", files or {"train.py": SCRIPT}, **words)

    def commit(self, repository, files):
        kept = {path: (data if isinstance(data, bytes) else data.encode(), 0o644) for path, data in files.items()}
        return self.lab.hub.bare(repository).write_commit(kept, "a step", self.user)

    def call(self, method, path, user="", **options):
        return self.lab.call(self.user if user == "" else user, method, path, **options)

    def body(self, name="first_try", **words):
        return {
            "name": name, "desc": "", "code_dir": "", "boot_file": "train.py", "compute": COMPUTE,
            "hyperparameter": [], "env": [], "models": [], "datasets": [], "enable_output": True, "enable_aim": False,
            **words,
        }  # fmt: skip

    def at(self, project, *parts):
        return "/".join([f"/v1/train/project/{project.id}", *parts])

    def create(self, project, name="first_try", **words):
        """Start a training; its id."""
        made = self.call("POST", self.at(project, "training"), json=self.body(name, **words))
        assert made.status_code == 201 and made.json()["code"] == "", made.text
        return made.json()["data"]["id"]

    def get(self, project, training):
        return self.call("GET", self.at(project, "training", training)).json()["data"]

    def until(self, project, training, holds):
        """The training once `holds` says yes of it."""
        deadline = time.monotonic() + PATIENCE_S
        while not holds(seen := self.get(project, training)):
            assert time.monotonic() < deadline, seen
            time.sleep(0.05)
        return seen

    def done(self, project, training):
        return self.until(project, training, lambda seen: seen["is_done"])

    def refused(self, project, user="", **words):
        """(status, code, message) of a training that cannot be."""
        answer = self.call("POST", self.at(project, "training"), user=user, json=self.body(**words))
        body = answer.json()
        assert body["data"] is None
        return answer.status_code, body["code"], body["msg"]
