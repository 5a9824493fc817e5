"""A training past the limit of the free flavor, with the real command line, a real keeper, and trouble on the way."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys

import pytest
from cloud_lab import CPU, ENGINE, FREE, Cloud, says, wait_for

from outlast.client import Client
from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.settings import write_setting
from servers.faults import drop, drop_after

#: Any epoch that is lost, repeated or trained on other numbers changes the weights. After so many epochs it leaves
#: with the code that means "saved, come back": that takes a stint to its end on a machine of any speed.
SCRIPT = """
import hashlib, json, os, sys, time
epochs, pace_s, at_once = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
state = {"epoch": 0, "weights": "0"}
os.makedirs("ckpt", exist_ok=True)
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file:
        state = json.load(file)
began = state["epoch"]
while state["epoch"] < epochs:
    if state["epoch"] == began + at_once:
        sys.exit(85)
    time.sleep(pace_s)
    state["epoch"] += 1
    state["weights"] = hashlib.sha256((state["weights"] + str(state["epoch"])).encode()).hexdigest()
    with open("ckpt/state.tmp", "w") as file:
        json.dump(state, file)
    os.replace("ckpt/state.tmp", "ckpt/state.json")
    print("epoch %d/%d loss %.4f" % (state["epoch"], epochs, 1 / state["epoch"]), os.environ.get("TOKEN"), flush=True)
os.makedirs("out", exist_ok=True)
with open("out/weights.json", "w") as file:
    json.dump(state, file)
"""
NEVER = 1000


class User:
    """Somebody with a home of their own who trains in the cloud."""

    def __init__(self, cloud, folder):
        self.cloud = cloud
        self.home = cloud.make_home(f"user-{folder.name}")
        for name, value in {"backoff_s": "0", "refusal_wait_s": "0.2", "no_progress_limit": "1000"}.items():
            write_setting(self.home, name, value)
        self.folder = folder
        (folder / "train.py").write_text(SCRIPT)

    def outlast(self, *words, told="", **environment):
        environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        environ |= {"OUTLAST_HOME": str(self.home), "NO_COLOR": "1", **environment}
        done = subprocess.run(
            [sys.executable, "-m", "outlast.cli.entry", *map(str, words)], env=environ, cwd=self.folder, input=told,
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.story()}"
        return done.stdout

    def sign_in(self, name="free", **values):
        usual = {"endpoint": self.cloud.proxy.url, "store": f"obs://{self.cloud.bucket}/mirror", "flavor": FREE,
                 "engine": ENGINE, "key": self.cloud.key}  # fmt: skip
        words = [word for pair in {**usual, **values}.items() for word in ("--set", "=".join(pair))]
        options = ("login", "modelarts", "--profile", name, *words, "--secret-stdin", "--in-file")
        return self.outlast(*options, told=self.cloud.secret)

    def train(self, *words, options=()):
        options = ("--on", "free", "--checkpoint", "ckpt", "--output", "out", "--secret", "TOKEN", *options)
        return self.outlast("run", "--detach", "train.py", *options, "--", *words, TOKEN="hunter-two").split()[0]

    def wait(self, run, limit_s=250):
        client = Client(home=self.home)
        return wait_for(lambda: view if (view := client.runs.get(run)).state.is_final else None, limit_s)

    def weights(self, run):
        self.outlast("fetch", run, "--to", self.folder / "got")
        return json.loads(next((self.folder / "got").rglob("weights.json")).read_text())

    def straight(self, epochs):
        """What the uninterrupted training has in the end."""
        (self.folder / "straight").mkdir()
        command = [sys.executable, str(self.folder / "train.py"), str(epochs), "0", str(NEVER)]
        subprocess.run(command, cwd=self.folder / "straight", check=True, capture_output=True, timeout=150)
        return json.loads((self.folder / "straight" / "out" / "weights.json").read_text())

    def story(self, view=None):
        log = self.home / "keeper.log"
        told = json.dumps(view.to_json(detail=True), indent=1, default=str)[:6000] if view is not None else ""
        return told + (log.read_text()[-3000:] if log.exists() else "") + self.cloud.log.read_text()[-2000:]

    def close(self):
        end_keeper(Home(self.home))


@pytest.fixture
def user(cloud, tmp_path):
    user = User(cloud, tmp_path)
    yield user
    user.close()


@pytest.mark.slow
def test_a_training_goes_through_several_jobs(cloud, user):
    """The folder of the run is at home; the stints work on a mirror of it in the account's bucket."""
    assert "modelarts.p3.large.public.free: 1 NVIDIA-V100" in user.sign_in()
    run = user.train(8, 0.1, 3)
    view = user.wait(run)
    assert view.state == "succeeded", user.story(view)
    assert view.stints >= 3 and user.weights(run) == user.straight(8)
    log = user.outlast("logs", run)
    assert "epoch 8/8" in log and "hunter-two" not in log
    wait_for(lambda: not cloud.keys(f"boot/jobs/{run}", "mirror"))
    assert 3 <= len(cloud.jobs(run)) <= view.stints
    user.outlast("rm", run)
    assert cloud.jobs(run) == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_four_stints_past_the_limit_with_trouble_on_the_way_end_with_the_same_weights(
    tmp_path_factory, seaweed, tmp_path
):
    """Requests lost before and after they took effect, throttling, trouble, and a job that somebody stops by hand."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    cloud = Cloud(tmp_path_factory.mktemp("rough"), seaweed, free_limit_s=40)
    with contextlib.closing(cloud), contextlib.closing(User(cloud, tmp_path)) as user:
        user.sign_in(limit="15s")
        user.sign_in("paid", flavor=CPU, limit="15s")
        run = user.train(40, 1.0, NEVER, options=("--on", "paid"))
        for _ in range(40):
            cloud.proxy.add(_trouble(dice))
        somebody = cloud.platform("somebody", endpoint=cloud.url)
        second = wait_for(lambda: _running(somebody, run), 600)
        somebody.cancel(second)  # by hand in the console
        view = user.wait(run, 900)
        assert view.state == "succeeded", user.story(view)
        assert view.stints >= 4 and user.weights(run) == user.straight(40)


def _running(platform, run):
    """A job of the run that runs, and is not its first."""
    jobs = platform.poll([f"{run}.{stint:04d}" for stint in range(2, 40)])
    return next((name for name, job in jobs.items() if job.state == "running"), None)


def _trouble(dice):
    make, words = dice.choice([
        (drop, {}), (drop_after, {}), (says, {"status": 429, "code": "ModelArts.2799"}), (says, {"status": 500}),
        (says, {"status": 502, "raw": "<html>"}),
    ])  # fmt: skip
    return make(**words, path="/v2/", skip=dice.randrange(12))
