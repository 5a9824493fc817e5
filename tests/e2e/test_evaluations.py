"""Runs judged: by their curves, by a script of the user's, and in Aim's own page."""

import json
import os
import re
import shutil
import signal
import urllib.request
from pathlib import Path

import pytest
from lab import SCRIPTS, kill

from outlast.errors import NotFoundError, UsageError

PLACES = ("--checkpoint", "ckpt", "--output", "out", "--sandbox", "off")
EVALUATE = """
import argparse, json, os
parser = argparse.ArgumentParser()
parser.add_argument("--of", required=True)
parser.add_argument("--scale", type=float, default=1.0)
options = parser.parse_args()
assert options.of == os.environ["OUTLAST_OF"] == "of"
with open("of/outputs/model.json") as file:
    lr = json.load(file)["lr"]
with open("of/checkpoint/state.json") as file:
    epoch = json.load(file)["epoch"]
try:
    open("of/outputs/model.json", "w")
    print("written")
except OSError as error:
    print("kept:", type(error).__name__)
print("test_acc=%.3f epochs_seen=%d" % (lr * options.scale, epoch))
"""
XIHE = """
import argparse, os
parser = argparse.ArgumentParser()
parser.add_argument("--pretrain_url", required=True)
parser.add_argument("--aim_repo", required=True)
options = parser.parse_args()
os.makedirs(os.path.join(options.aim_repo, ".aim"), exist_ok=True)
with open(os.path.join(options.aim_repo, ".aim", "VERSION"), "w") as file:
    file.write("3")
print("test_acc=0.5 found %s" % sorted(os.listdir(options.pretrain_url)))
"""


@pytest.fixture
def trained(lab):
    """A run that has succeeded."""
    run = lab.submit(lab.project("swept.py"), *PLACES, "--", "--lr", "0.4")
    assert lab.wait(run).state == "succeeded"
    return run


def test_curves_and_a_script_of_ones_own_stand_side_by_side(lab, trained):
    script = lab.write("judge/eval.py", EVALUATE)
    done = lab.outlast("evaluate", "--of", trained[:9], script, "--sandbox", "auto", "--", "--scale", "2")
    assert "test_acc=0.800" in done.stdout and f"evaluates {trained}" in done.stdout
    assert "written" not in done.stdout or os.geteuid() == 0
    (judged,) = [view for view in lab.client.runs.list() if view.of]
    assert judged.of == trained and lab.client.runs.get(judged.id).spec["of"] == trained
    body = json.loads(lab.outlast("evaluate", trained, "--json").stdout)
    assert body["main"] == "val_acc" and body["metrics"]["val_acc"]["best"]["epoch"] == 4.0
    assert [one["metrics"]["test_acc"] for one in body["evaluations"]] == [0.8]
    for verb in ("show", "evaluate"):
        assert "test_acc 0.8" in lab.outlast(verb, trained).stdout
    several = lab.outlast("evaluate", trained, judged.id).stdout
    assert trained in several and judged.id in several
    assert json.loads(lab.outlast("evaluate", trained, judged.id, "--json").stdout)[0]["run"] == trained


def test_a_script_of_xihe_gets_the_model_and_its_aim_repository_by_option(lab, trained):
    script = lab.write("judge/eval.py", XIHE)
    done = lab.outlast("evaluate", "--of", trained, script, "--contract", "xihe", "--aim", "--sandbox", "off")
    assert "found ['model.json']" in done.stdout
    (judged,) = [view.id for view in lab.client.runs.list() if view.of]
    lab.outlast("aim", judged, "--to", lab.folder / "repository")
    assert (lab.folder / "repository" / ".aim" / "VERSION").read_text() == "3"


def test_what_cannot_be_evaluated_is_refused_in_words(lab, trained):
    script = lab.write("judge/eval.py", "print('hello')")
    empty = lab.submit(script, "--sandbox", "off")
    lab.wait(empty)
    runs = lab.client.runs
    for call, error, words in (
        (lambda: runs.evaluate("nothing"), NotFoundError, "no run 'nothing'"),
        (lambda: runs.evaluate(trained, metrics=["val_ac"]), UsageError, "did you mean 'val_acc'?"),
        (lambda: runs.evaluate(empty), NotFoundError, "no losses or accuracies"),
        (lambda: runs.submit(str(script), of=empty), NotFoundError, "neither outputs nor a checkpoint"),
        (lambda: runs.submit(str(script), of="nothing"), NotFoundError, "no run 'nothing'"),
        (lambda: runs.aim(trained), UsageError, "keeps no Aim repository"),
    ):
        with pytest.raises(error, match=re.escape(words)):
            call()
    for arguments, words in (
        (("evaluate", script), "is a script, not a run"),
        (("evaluate", trained, "--limit", "1h"), "--limit belongs to an evaluation by a script"),
    ):
        done = lab.outlast(*arguments, check=False)
        assert done.returncode == 2 and words in done.stderr, (arguments, done.stderr)


def test_an_aim_repository_is_handed_over_from_stint_to_stint(lab):
    train = lab.project("aiming.py")
    gate = lab.folder / "gate"
    run = lab.submit(
        train, "--checkpoint", "ckpt", "--aim", "--sandbox", "off", "--", "--epochs", 6, "--wait-for", gate
    )  # fmt: skip
    lab.until(lambda: lab.client.runs.get(run).last_checkpoint, pause_s=0.1)
    (runner,) = lab.runners()
    assert kill(runner)
    gate.touch()
    view = lab.wait(run)
    assert view.state == "succeeded" and view.stints == 2, view
    path = lab.client.runs.aim(run)
    epochs = [int(line) for line in (path / ".aim" / "notes").read_text().split()]
    assert sorted(set(epochs)) == list(range(1, 7))
    assert "resumed with" in lab.outlast("logs", run).stdout
    assert path == lab.client.runs.aim(run)  # again over what was there


@pytest.mark.slow
def test_aim_itself_opens_the_repository(lab):
    """With the real Aim: OUTLAST_TEST_AIM names a Python that has it."""
    python = os.environ.get("OUTLAST_TEST_AIM") or (shutil.which("aim") and shutil.which("python3"))
    if not python:
        pytest.skip("Aim is not installed; name a Python that has it in OUTLAST_TEST_AIM")
    path = f"{Path(python).parent}:{os.environ['PATH']}"
    script = lab.write("aimed/train.py", (SCRIPTS / "aiming.py").read_text())
    run = lab.submit(script, "--aim", "--python", python, "--sandbox", "off", "--", "--real")
    assert lab.wait(run).state == "succeeded"
    process = lab.start("aim", run, PATH=path)
    try:
        text = lab.until(lambda: process.poll() is not None or "http://" in process.output.read_text(), pause_s=0.2)
        text = process.output.read_text()
        address = next(word for word in text.replace(";", " ").split() if word.startswith("http://127.0.0.1"))
        with urllib.request.urlopen(f"{address}/api/projects/", timeout=150) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(150) == 0
