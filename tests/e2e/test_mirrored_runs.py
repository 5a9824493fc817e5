"""Whole runs on a platform that sees another store than the run's own: the boot file, mirrors, a real keeper."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import time

import pytest

from outlast.errors import PlatformError, StoreError, Unavailable
from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.records import End, Manifest, Order
from outlast.inside.stores import open_store
from outlast.keeper import mirror_doors, mirrors
from outlast.keeper.keeper import Keeper
from outlast.model.spec import CodePack, Input
from outlast.platforms.base import Job, JobState, Plan, Platform
from outlast.platforms.boot import boot_environment, boot_file
from outlast.testing.runs import fake_settings, write_run

STEPS = 9
#: Three steps in each stint; 85 says "saved, come back".
TRAINING = """
import json, os, sys
state = {"step": 0, "weight": 0.5}
if os.path.exists("ckpt/state.json"):
    with open("ckpt/state.json") as file: state = json.load(file)
with open("data/rate.txt") as file: rate = float(file.read())
for _ in range(3):
    state = {"step": state["step"] + 1, "weight": state["weight"] * (1 - rate) + 0.1 * state["step"]}
    print("step: %(step)d loss: %(weight).6f" % state, flush=True)
os.makedirs("ckpt", exist_ok=True)
with open("ckpt/part", "w") as file: json.dump(state, file)
os.replace("ckpt/part", "ckpt/state.json")
if state["step"] < 9: sys.exit(85)
os.makedirs("out", exist_ok=True)
with open("out/weight.txt", "w") as file: file.write(repr(state["weight"]))
"""


def gated(gate):
    """The same in one stint, once a gate has been opened."""
    waiting = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)\n"
    return waiting + TRAINING.replace("< 9", "< 3")


def straight_weight(rate, steps=STEPS):
    weight = 0.5
    for step in range(steps):
        weight = weight * (1 - rate) + 0.1 * step
    return weight


class FarPlatform(Platform):
    """Starts boot files as processes of this machine, in a world where only its own store can be reached."""

    name = "far"

    def __init__(self, folder, store, boot):
        self.folder, self.store, self.boot = folder, store, boot
        self.jobs, self.launches = {}, []
        self.refuses = False

    def sees(self, address):
        return address.startswith(self.store)

    def check(self, spec):
        return

    def plan(self, launch):
        return Plan(("python", "boot"))

    def submit(self, launch):
        if self.refuses:
            raise Unavailable("no machine is free", why="full")
        if launch.job_name in self.jobs:
            return
        self.launches.append(launch)
        told = boot_environment(launch)
        env = {"PATH": os.environ["PATH"], "OUTLAST_WORK": str(self.folder), **told.open, **told.secret}
        with (self.folder / f"{launch.job_name}.log").open("wb") as log:
            self.jobs[launch.job_name] = subprocess.Popen(
                [sys.executable, str(self.boot), "--num_gpus=0"], env=env, cwd="/", stdout=log, stderr=log
            )

    def poll(self, names):
        return {name: self._job(name) for name in names}

    def _job(self, name):
        if name not in self.jobs:
            return Job(JobState.ABSENT)
        code = self.jobs[name].poll()
        return Job(JobState.RUNNING) if code is None else Job(JobState.ENDED, exit_code=code)

    def logs(self, name):
        return (self.folder / f"{name}.log").read_text()

    def cancel(self, name):
        if name in self.jobs:
            self.jobs[name].kill()

    def end_all(self):
        for job in self.jobs.values():
            job.kill()
            job.wait(60)


class Lab:
    """One home with one run, and keepers that come and go in this process."""

    def __init__(self, folder, far, script=TRAINING):
        self.settings = fake_settings(folder / "home", OUTLAST_REFUSAL_WAIT_S="0.1")
        self.store = open_store(self.settings.store)
        self.far = far
        self.is_signed_out = False
        data = folder / "data"
        data.mkdir()
        (data / "rate.txt").write_text("0.25")
        pack = io.BytesIO()
        with tarfile.open(fileobj=pack, mode="w") as tar:
            entry = tarfile.TarInfo("train.py")
            entry.size = len(script)
            tar.addfile(entry, io.BytesIO(script.encode()))
        code = CodePack(sha256=Blobs(self.store).put_bytes(pack.getvalue()), size_bytes=len(pack.getvalue()), files=1)
        given = Input(name="data", source=data.as_uri(), path="data")
        self.run = write_run(
            self.store, self.settings, code=code, inputs=(given,), platforms=("far",), limit_s=None,
        ).id  # fmt: skip

    def keeper(self):
        keeper = Keeper(self.settings, create_platform=self._create)
        keeper.take_over_leases()
        return keeper

    def _create(self, name):
        if self.is_signed_out:
            raise PlatformError("nobody is signed in to far here")
        return self.far

    def play(self, *, lives=1, until=lambda: False):
        """Look after the run until it is over; each keeper but the last one is dropped after some turns."""
        deadline = time.monotonic() + 200
        while True:
            lives -= 1
            keeper, turns = self.keeper(), 0
            try:
                while lives <= 0 or turns < 15:
                    turns += 1
                    pause_s = keeper.turn()
                    if until() or not keeper.has_work():
                        return
                    assert time.monotonic() < deadline, self.story()
                    time.sleep(min(pause_s, 0.1))
            finally:
                keeper.close()

    def ends(self, store=None):
        found = []
        for stint in range(1, 50):
            key = layout.end_key(self.run, stint)
            if (store or self.store).head(key) is None:
                return found
            found.append(End.from_bytes((store or self.store).get(key)))
        return found

    def output(self, name):
        entry = Manifest.from_bytes(self.store.get(layout.outputs_key(self.run))).files[name]
        return Blobs(self.store).get_bytes(entry["sha256"])

    def story(self):
        logs = [path.read_text() for path in sorted(self.far.folder.glob("*.log"))]
        return json.dumps([[end.reason, end.message] for end in self.ends()]) + "\n".join(logs)


@pytest.fixture(scope="session")
def boot(tmp_path_factory):
    return boot_file(tmp_path_factory.mktemp("boot"))


@pytest.fixture
def play(tmp_path, boot):
    """Make a lab, and end what it started."""
    labs = []
    far_folder = tmp_path / "far"
    far_folder.mkdir()

    def make(address, **options):
        labs.append(Lab(tmp_path, FarPlatform(far_folder, address, boot), **options))
        return labs[-1]

    yield make
    for lab in labs:
        lab.far.end_all()


def check_finished(lab, mirror):
    assert [end.reason for end in lab.ends()] == ["hand-over", "hand-over", "finished"], lab.story()
    assert float(lab.output("out/weight.txt")) == straight_weight(0.25)
    assert [end.to_bytes() for end in lab.ends(mirror)] == [end.to_bytes() for end in lab.ends()]
    for stint in (1, 2, 3):
        order = Order.from_bytes(lab.store.get(layout.order_key(lab.run, stint)))
        assert order.store == lab.far.store
        for prefix in (layout.log_prefix(lab.run, stint), layout.metrics_prefix(lab.run, stint)):
            assert [lab.store.get(entry.key) for entry in lab.store.list(prefix)] == [
                mirror.get(entry.key) for entry in mirror.list(prefix)
            ]


def test_run_through_a_mirror_ends_with_the_weights_of_the_straight_run(play, tmp_path):
    mirror = open_store((tmp_path / "away").as_uri())
    lab = play(mirror.url)
    lab.play(lives=4)
    check_finished(lab, mirror)
    (given,) = json.loads(mirror.get(layout.spec_key(lab.run)))["inputs"]
    assert given["source"].startswith(f"{mirror.url}/inputs/")
    assert json.loads(lab.store.get(layout.spec_key(lab.run)))["inputs"][0]["source"] == (tmp_path / "data").as_uri()
    assert list((lab.settings.home / "cache" / "mirrors").iterdir()) == []


def test_run_through_a_bucket_gives_its_stints_no_keys_but_that_buckets(play, tmp_path, seaweed, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", seaweed.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", seaweed.secret)
    monkeypatch.setenv("AWS_ENDPOINT_URL", seaweed.access.endpoint)
    address = f"s3://{seaweed.bucket()}/mirror"
    lab = play(address)
    lab.play()
    check_finished(lab, open_store(address, seaweed.access))
    (root,) = json.loads(boot_environment(lab.far.launches[0]).secret["OUTLAST_SECRET_OUTLAST_ACCESSES"])
    assert address.startswith(root + "/")


def test_runner_that_was_killed_is_fenced_in_its_mirror_and_the_run_goes_on(play, tmp_path):
    mirror, gate = open_store((tmp_path / "away").as_uri()), tmp_path / "gate"
    lab = play(mirror.url, script=gated(gate))
    lab.play(until=lambda: mirror.head(layout.claim_key(lab.run, 1)) is not None)
    lab.far.end_all()
    gate.touch()
    lab.play()
    ends = lab.ends()
    assert [end.to_bytes() for end in lab.ends(mirror)] == [end.to_bytes() for end in ends]
    assert ends[0].reason == "lost" and ends[0].by == "keeper" and ends[-1].reason == "finished", lab.story()
    assert float(lab.output("out/weight.txt")) == straight_weight(0.25, 3)


def test_mirror_that_cannot_be_made_refuses_the_stint_and_says_why(play, tmp_path):
    (tmp_path / "away").write_text("a file where a folder should be")
    lab = play((tmp_path / "away").as_uri())
    lab.play(until=lab.ends)
    (end, *_) = lab.ends()
    assert end.reason == "refused" and "cannot be prepared" in end.message, lab.story()
    assert lab.far.launches == []


def test_run_outlives_a_mirror_that_went_away_with_its_stint(play, tmp_path, monkeypatch):
    mirror, gate = open_store((tmp_path / "away").as_uri()), tmp_path / "gate"
    lab = play(mirror.url, script=gated(gate))
    lab.play(until=lambda: mirror.head(layout.claim_key(lab.run, 1)) is not None)
    lab.far.end_all()

    def refuse(self, order):
        raise StoreError("the bucket is gone")

    with monkeypatch.context() as broken:
        broken.setattr(mirrors, "GIVE_UP_S", 0.2)
        broken.setattr(mirror_doors.Doors, "open_store", refuse)
        lab.play(until=lab.ends)
    assert lab.ends()[0].reason == "lost" and lab.ends(mirror) == []
    gate.touch()
    lab.play()
    assert lab.ends()[-1].reason == "finished", lab.story()
    assert float(lab.output("out/weight.txt")) == straight_weight(0.25, 3)


def test_what_a_stint_did_comes_home_though_its_user_has_signed_out(play, tmp_path):
    mirror, gate = open_store((tmp_path / "away").as_uri()), tmp_path / "gate"
    lab = play(mirror.url, script=gated(gate))
    lab.play(until=lambda: mirror.head(layout.claim_key(lab.run, 1)) is not None)
    lab.is_signed_out = True
    gate.touch()
    lab.play(until=lab.ends)
    assert [end.reason for end in lab.ends()] == ["finished"], lab.story()
    assert float(lab.output("out/weight.txt")) == straight_weight(0.25, 3)
