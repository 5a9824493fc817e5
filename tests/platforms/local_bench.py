"""The local platform with a stand-in for the runner, and words for what a stint saw."""

from __future__ import annotations

import json
import sys
import time

import pytest

from outlast.inside.records import Order
from outlast.model.spec import CodePack, Resources, RunSpec
from outlast.platforms.base import Launch
from outlast.platforms.local.machine import Machine
from outlast.platforms.local.platform import LocalPlatform

# A runner that writes down what it was given, then behaves as its stint's number says.
STAND_IN = """
import json, os, signal, subprocess, sys, time
place = json.load(open(sys.argv[1]))
secrets = {name: value for name, value in os.environ.items() if name.startswith("OUTLAST_SECRET_")}
seen = {"pid": os.getpid(), "cwd": os.getcwd(), "secrets": secrets, "environ": sorted(os.environ), "place": place}
with open(os.path.join(place["shared"], "starts"), "a") as file:
    file.write(str(place["stint"]) + chr(10))
if place["stint"] >= 90:
    environ = {**os.environ, "OUTLAST_RUN": place["run"], "OUTLAST_STINT": str(place["stint"])}
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(sleeper, env=environ, start_new_session=True)
    seen["child"] = child.pid
path = os.path.join(place["work"], "seen.json")
with open(path + ".tmp", "w") as file:
    json.dump(seen, file)
os.rename(path + ".tmp", path)
print("said by the runner", flush=True)
if place["stint"] == 7:
    sys.exit(3)
while not os.path.exists(os.path.join(place["work"], "leave")):
    time.sleep(0.005)
"""


@pytest.fixture
def make(tmp_path):
    runner = tmp_path / "runner.py"
    runner.write_text(STAND_IN)
    made = []

    def platform(**more):
        arguments = {"machine": Machine((0, 1), 8 << 30, ("0", "1"), ("4",)), **more}
        made.append(LocalPlatform(tmp_path / "home", runner=[sys.executable, str(runner)], **arguments))
        return made[-1]

    yield platform
    for job in (tmp_path / "home" / "local" / "jobs").glob("*"):
        made[0].cancel(job.name)
    for each in made:
        each.close()


def a_launch(stint=1, run="run", user="ann", secrets=None, sandbox="off", network=True, **resources):
    spec = RunSpec(
        id=run, name="n", user=user, created_at="", script="train.py", python="python3", sandbox=sandbox,
        network=network, code=CodePack(sha256="0" * 64, size_bytes=1, files=1), store="file:///s",
        resources=Resources(**resources),
    )  # fmt: skip
    order = Order(run=run, stint=stint, token="tok", platform="local")
    return Launch(spec, order, secrets or {})


def wait_for(condition, limit_s=150.0):
    deadline = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
    return found


def state(platform, name="run.0001"):
    return platform.poll([name])[name].state


def seen(home, stint=1, run="run"):
    path = home / "work" / run / f"{stint:04d}" / "seen.json"
    wait_for(path.exists)
    return json.loads(path.read_text())


def leave(home, stint=1, run="run"):
    (home / "work" / run / f"{stint:04d}" / "leave").touch()


def starts(home, run="run"):
    path = home / "work" / run / "shared" / "starts"
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"
