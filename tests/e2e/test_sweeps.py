"""A grid of runs by one command: it ends in one table, survives its keeper, and can be left, stopped and resumed."""

import json
import re
import signal

import pytest
from lab import kill

from outlast.errors import SpecError
from outlast.model.request import RunRequest

PLACES = ("--checkpoint", "ckpt", "--output", "out", "--sandbox", "off")


def members(lab, name):
    return {view.name: view for view in lab.client.sweeps.runs(name)}


def until_over(lab, name, timeout_s=200):
    lab.until(lambda: all(view.state.is_final for view in lab.client.sweeps.runs(name)), timeout_s, pause_s=0.1)
    return members(lab, name)


def test_a_sweep_ends_in_one_table_sorted_by_the_best(lab):
    train = lab.project("swept.py")
    done = lab.outlast("sweep", train, *PLACES, "-p", "lr=0.1,0.9", "-p", "batch=32,64", "--at-once", 2, "--json")
    body = json.loads(done.stdout)
    assert body["counts"] == {"succeeded": 4} and body["over"] and body["metric"] == "val_acc"
    assert [row["params"]["lr"] for row in body["members"]] == ["0.9", "0.9", "0.1", "0.1"]
    assert body["members"][0]["name"] == "train-lr0.9-batch64" and body["members"][0]["best_epoch"] == 4.0
    specs = [lab.client.runs.get(row["run"]).spec for row in body["members"]]
    assert len({spec["code"]["sha256"] for spec in specs}) == 1
    listed = json.loads(lab.outlast("ps", "--sweep", "train", "--json").stdout)
    assert {view["id"] for view in listed} == {row["run"] for row in body["members"]}
    table = lab.outlast("sweep", "show", "train").stdout
    assert "best val_acc: 0.8438 with lr=0.9 batch=64" in table and "4 succeeded" in table
    lab.outlast("sweep", "rm", "train")
    assert lab.client.runs.list() == [] and lab.outlast("sweep", "show", "train", check=False).returncode == 10


def test_wrong_requests_start_nothing(lab):
    train = lab.project("swept.py")
    for options, words in (
        ({"params": ("lrr=1,2",)}, "does not take --lrr; did you mean 'lr'?"),
        ({"params": ("lr=1",)}, "a sweep needs a parameter with several values"),
        ({"params": ("lr=1,2",), "name": "a b"}, "not a name"),
        ({"params": ("lr=1,2",), "data": ("nowhere",)}, "no such file or folder: nowhere"),
    ):
        with pytest.raises(SpecError, match=re.escape(words)):
            lab.client.sweeps.start(RunRequest(str(train), **options))
    for arguments, words in (
        ((train, *PLACES, "-p", f"lr={','.join(map(str, range(65)))}"), "asks before it goes on"),
        (("shwo", "x"), "no such script or folder: shwo"),
    ):
        done = lab.outlast("sweep", *arguments, check=False)
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)
    assert lab.client.runs.list() == [] and lab.client.sweeps.list() == []


def test_two_sweeps_at_once_survive_a_killed_keeper(lab):
    train = lab.project("swept.py")
    gate = lab.folder / "gate"
    for name in ("one", "two"):
        lab.outlast(
            "sweep", train, *PLACES, "-p", "lr=0.1,0.5,0.9", "-p", f"wait-for={gate}", "--at-once", 1, "--name", name,
            "--detach",
        )  # fmt: skip
    first = {"one-lr0.1", "two-lr0.1"}
    lab.until(lambda: {view.name for view in lab.client.runs.list() if view.epoch} == first, pause_s=0.1)
    (keeper,) = lab.keepers()
    assert kill(keeper)
    lab.until(lambda: not lab.keepers())
    lab.wake()
    gate.touch()
    for name in ("one", "two"):
        found = until_over(lab, name)
        assert {view.state for view in found.values()} == {"succeeded"}
        assert all(view.stints == 1 for view in found.values()), found
    taken = lab.outlast("sweep", train, *PLACES, "-p", "lr=1,2", "--name", "one", check=False)
    assert taken.returncode == 2 and "there is a sweep 'one' already" in taken.stderr


def test_hopeless_members_are_stopped_early_and_the_best_is_not(lab):
    train = lab.project("swept.py")
    done = lab.outlast(
        "sweep", train, *PLACES, "-p", "lr=0.9,0.8,0.7,0.001", "-p", "epochs=400", "-p", "pace=0.05", "--until",
        "epoch>=200", "--metric", "val_acc", "--early-stop", "--early-stop-after", "2", "--at-once", 4, "--detach",
    )  # fmt: skip
    name = done.stdout.strip()
    stopped = lab.until(lambda: [view for view in lab.client.sweeps.runs(name) if view.state == "stopped"], pause_s=0.1)
    assert stopped[0].message.startswith("stopped early: val_acc"), stopped[0].message
    lab.outlast("sweep", "stop", name)
    found = until_over(lab, name)
    assert not found["train-lr0.9"].message.startswith("stopped early")
    rows = {row.name: row for row in lab.client.sweeps.get(name).members}
    assert any(row.early for row in rows.values()) and not rows["train-lr0.9"].early


def test_ctrl_c_leaves_the_sweep_going_and_stop_and_resume_mean_all_of_it(lab):
    train = lab.project("swept.py")
    gate = lab.folder / "gate"
    process = lab.start(
        "sweep", train, *PLACES, "-p", "lr=0.1,0.9", "-p", f"wait-for={gate}", "--at-once", 1, "--name", "grid"
    )
    lab.until(lambda: "grid-lr0.1  running" in process.output.read_text(), pause_s=0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(150) == 0
    assert "the sweep goes on" in process.output.read_text()
    lab.outlast("sweep", "stop", "grid")
    assert {view.state for view in until_over(lab, "grid").values()} == {"stopped"}
    assert lab.client.sweeps.get("grid").counts == {"stopped": 2}
    gate.touch()
    assert "2 runs go on" in lab.outlast("sweep", "resume", "grid").stdout
    assert {view.state for view in until_over(lab, "grid").values()} == {"succeeded"}
    assert lab.outlast("sweep", "resume", "grid", check=False).returncode == 2
