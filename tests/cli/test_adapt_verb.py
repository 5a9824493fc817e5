"""`outlast adapt` as a user meets it: shown, checked, written, refused, and offered where a contract would fail."""

from __future__ import annotations

import json

import pytest

from outlast.cli.entry import main

SCRIPT = """import argparse
import numpy as np

p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
args = p.parse_args()
w = np.load("d/x.npy")
for epoch in range(3):
    w = w * args.lr
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    (work / "d").mkdir(parents=True)
    (work / "d" / "x.npy").write_bytes(b"")
    (work / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(work)
    return work


def test_the_change_is_shown_checked_and_written(folder, capsys):
    assert main(["adapt", "train.py", "--contract", "xihe"]) == 0
    shown = capsys.readouterr().out
    assert '+p.add_argument("--output_path"' in shown and "write it with: --write" in shown
    assert main(["adapt", "train.py", "--contract", "xihe", "--check"]) == 1
    assert (folder / "train.py").read_text() == SCRIPT
    assert main(["adapt", "train.py", "--contract", "xihe", "--write"]) == 0
    shown = capsys.readouterr().out
    assert "the old file is kept: train.py.orig" in shown
    assert "run it with: outlast run train.py --contract xihe --data data_url=DATA --output output_path=./out" in shown
    assert main(["adapt", "train.py", "--contract", "xihe", "--check"]) == 0
    assert "is fit for xihe" in capsys.readouterr().out


def test_the_next_command_names_only_what_the_script_uses(folder, capsys):
    text = SCRIPT.replace('np.load("d/x.npy")', "np.ones(3)")
    for contract, expected in (
        ("plain", "outlast run train.py\n"),
        ("modelarts", "outlast run train.py --contract modelarts --output train_url=./out\n"),
        ("modelarts-v1", ""),
    ):
        (folder / "train.py").write_text(text)
        assert main(["adapt", "train.py", "--contract", contract, "--write", "--force"]) == 0
        assert capsys.readouterr().out.partition("run it with: ")[2] == expected
    assert main(["adapt", "train.py", "--contract", "modelarts-v1", "--entry", "--write", "--force"]) == 0
    assert "run it with: outlast run train_entry.py --contract modelarts-v1 --output" in capsys.readouterr().out


def test_a_script_that_python_cannot_read_is_not_to_be_run(folder, capsys):
    (folder / "train.py").write_text("print 'old'\n")
    assert main(["adapt", "train.py"]) == 0
    shown = capsys.readouterr().out
    assert "train.py:1  left alone: not valid Python 3" in shown and "run it with" not in shown


def test_json_says_what_the_script_lacked(folder, capsys):
    assert main(["adapt", "train.py", "--contract", "modelarts-v1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lacks"] == ["data_url", "train_url", "num_gpus"] and found["setup"] == "argparse"
    assert {finding["rule"] for finding in found["findings"]} >= {"arguments", "paths", "resume", "entry"}


def test_mistakes_are_usage_errors(folder, capsys):
    assert main(["adapt", "train.py", "--write", "--check"]) == 2
    assert main(["adapt", "train.py", "--contract", "xhie"]) == 2
    assert main(["adapt", "none.py"]) == 10
    assert "Traceback" not in capsys.readouterr().err


def test_explain_offers_it_where_the_contract_would_end_the_script(folder, capsys):
    assert main(["explain", "train.py", "--contract", "xihe", "--data", "data_url=d"]) == 0
    assert "outlast adapt train.py --contract xihe" in " ".join(capsys.readouterr().out.split())
