"""Probe and rehearse with real stints: a forecast that can be believed, and a difference that is found."""

import pytest


@pytest.mark.timeout(180)
def test_probe_forecasts_the_chain_and_leaves_nothing_behind(lab):
    train = lab.project("answering.py")
    done = lab.outlast("probe", train, "--limit", "1m", "--time", "4s", "--", "--epochs", 3000, "--work", 100000)
    assert "stints" in done.stdout
    assert "% lost" in done.stdout
    assert lab.client.runs.list() == []


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
