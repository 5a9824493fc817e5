"""Probe and rehearse with real stints: a forecast that can be believed, and a difference that is found."""

import json
import os
import signal
from pathlib import Path

import pytest

from outlast.platforms.local.platform import LocalPlatform

#: Run folders of throw-away homes. The homes hold thousands of files that come and go: walking through all of them
#: takes longer than some of what is waited for lasts.
_RUNS = "outlast-trial-*/home/store/runs/*"


@pytest.fixture
def trials(lab):
    """Where throw-away homes are made."""
    folder = lab.folder / "trials"
    folder.mkdir()
    return folder


@pytest.mark.timeout(240)
def test_probe_forecasts_the_chain_and_leaves_nothing_behind(lab, trials):
    """Its stint is told to leave once it has saved, so that it measures something on a machine of any speed."""
    train = lab.project("answering.py")
    process = lab.start(
        "probe", train, "--limit", "1h", "--time", "1h", "--", "--epochs", 9_000_000, "--work", 100000,
        TMPDIR=str(trials),
    )  # fmt: skip
    lab.until(lambda: len(list(trials.glob(f"{_RUNS}/checkpoints/0001-*.json"))) >= 2)
    (job,) = trials.glob("outlast-trial-*/home/local/jobs/*")
    assert LocalPlatform(job.parents[2]).interrupt(job.name)
    assert process.wait(150) == 0, process.output.read_text()
    said = process.output.read_text()
    assert "stints" in said
    assert "% lost" in said
    assert lab.client.runs.list() == []
    assert list(trials.iterdir()) == []


@pytest.mark.timeout(180)
def test_probe_says_that_a_script_never_saves(lab):
    train = lab.project("counted.py")
    done = lab.outlast(
        "probe", train, "--limit", "10s", "--time", "3s", "--", "--epochs", 100000, "--never-save", check=False
    )
    assert done.returncode == 1
    assert "checkpoint" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.timeout(240)
@pytest.mark.parametrize("script", ["counted.py", "answering.py"])
def test_rehearse_agrees_when_the_script_resumes_rightly(lab, script):
    train = lab.project(script)
    done = lab.outlast(
        "rehearse",
        train,
        "--checkpoint",
        "ckpt",
        "--output",
        "out",
        "--cuts",
        3,
        "--",
        "--epochs",
        20,
        "--work",
        100000,
    )
    assert "both trainings agree" in done.stdout


@pytest.mark.timeout(240)
def test_rehearse_names_what_a_forgetful_script_loses(lab):
    train = lab.project("answering.py")
    # Saves only a part of its state: eight digits of the weights, repeated.
    train.write_text(train.read_text().replace("weights.hex()}, file)", "weights.hex()[:8] * 8}, file)"))
    done = lab.outlast(
        "rehearse",
        train,
        "--output",
        "out",
        "--cuts",
        2,
        "--seed",
        5,
        "--",
        "--epochs",
        20,
        "--pace",
        0.25,
        check=False,
    )
    assert done.returncode == 1
    assert "straight" in done.stdout
    assert "interrupted" in done.stdout
    assert "likely cause" in done.stdout


@pytest.mark.timeout(240)
@pytest.mark.parametrize("verb", ["probe", "rehearse"])
def test_ctrl_c_again_and_again_still_leaves_nothing_behind(lab, trials, verb):
    """The script takes its whole grace to end, and the second Ctrl-C comes while that is waited for."""
    train = lab.project("stubborn.py")
    process = lab.start(verb, train, TMPDIR=str(trials), OUTLAST_GRACE_S="3s")
    lab.until(lambda: _beats(trials, "running"))
    process.send_signal(signal.SIGINT)
    lab.until(lambda: [wish for wish in _records(trials, "control") if wish["want"] == "stop"])
    process.send_signal(signal.SIGINT)
    lab.until(lambda: "still tidying up" in process.output.read_text())
    process.send_signal(signal.SIGINT)
    assert process.wait(150) == 130
    assert "Traceback" not in process.output.read_text()
    assert list(trials.iterdir()) == []
    assert _processes_that_mention(trials) == []


def _beats(trials, phase):
    return [beat for beat in _records(trials, "beat") if beat["phase"] == phase]


def _records(trials, name):
    """What lies in the run folders of throw-away homes; they may vanish while they are read."""
    found = []
    for path in (*trials.glob(f"{_RUNS}/{name}.json"), *trials.glob(f"{_RUNS}/stints/*/{name}.json")):
        try:
            found.append(json.loads(path.read_text()))
        except OSError:
            continue
    return found


def _processes_that_mention(folder):
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            command = (Path("/proc") / name / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in command:
            found.append(command.replace(b"\0", b" "))
    return found
