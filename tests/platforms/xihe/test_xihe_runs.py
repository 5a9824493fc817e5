"""A user with an account on Xihe, at the command line: signed in, trained through several instances, brought home."""

import os
import subprocess
import sys

import pytest
from xihe_lab import SCRIPT, straight_weights

from outlast.keeper.home import Home
from outlast.keeper.wake import end_keeper
from outlast.platforms.accounts import Accounts
from outlast.platforms.xihe import wire

#: The second stint dies with its runner, as when the machine fails: the instance fails, and its output is lost.
MORTAL = """
import json, os, signal
epoch = json.load(open("ckpt/state.json"))["epoch"] if os.path.exists("ckpt/state.json") else 0
if epoch and os.environ["OUTLAST_STINT"] == "2":
    print("a card fell off the bus", flush=True)
    import time
    time.sleep(1)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)
"""


class Desk:
    """A home of its own, a project folder, and the real command line."""

    def __init__(self, lab, folder):
        self.home, self.folder = folder / "home", folder / "project"
        self.folder.mkdir()
        (self.folder / "train.py").write_text(MORTAL + SCRIPT)
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
        # A stint of which nothing is heard for a second would be lost anywhere else.
        self.environ.update(OUTLAST_HOME=str(self.home), OUTLAST_LAUNCH_SILENCE_S="1", NO_COLOR="1", COLUMNS="200")
        self._sign_in = ("login", "xihe", "--profile", "lab", "--endpoint", lab.url, "--set", "user=ann", "--in-file")

    def outlast(self, *words, code=0, **options):
        command = [sys.executable, "-m", "outlast.cli.entry", *words]
        done = subprocess.run(
            command, env=self.environ, cwd=self.folder, capture_output=True, text=True, timeout=800, check=False,
            **options,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def sign_in(self, token, code=0):
        return self.outlast(*self._sign_in, "--secret-stdin", input=f"{token}\n", code=code)


@pytest.fixture
def desk(hub_lab, tmp_path):
    desk = Desk(hub_lab, tmp_path)
    yield desk
    end_keeper(Home(desk.home))


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_instances_carry_one_training_to_the_weights_of_a_straight_run_though_one_fails(desk, bench):
    said = desk.sign_in("wrong-token-123", code=11)
    assert "does not accept the token" in said and "wrong-token-123" not in said
    assert not Accounts(desk.home).all()
    assert "signed in as ann" in desk.sign_in(bench.lab.tokens["ann"])
    said = desk.outlast("run", "train.py", "--on", "lab", "--checkpoint", "ckpt", "--output", "out", "--name", "chain")
    assert "finished after" in said and "continues after epoch 4" in said
    log = desk.outlast("logs", "chain")
    assert "a card fell off the bus" in log and "the instance ended as Failed" in log
    assert [log.count(f"epoch {epoch}/6") for epoch in range(1, 7)] == [1] * 6, "no work was done twice"
    desk.outlast("fetch", "chain")
    assert (desk.folder / "chain-outputs" / "weights.txt").read_text() == straight_weights()
    run = next(word for word in said.split() if word.count("-") == 3)
    names = [("project", wire.project_name(run)), ("model", wire.state_name(run))]
    assert all(bench.platform._rest.repository_id(kind, "ann", name) for kind, name in names)
    desk.outlast("rm", "chain")
    assert not any(bench.platform._rest.repository_id(kind, "ann", name) for kind, name in names)
