"""The measurement of adapt: a script that goes on is right, and one whose numbers a stop changes is not."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest
from bench.trials import Trial, _results_of, judge

SCRIPT = """
import numpy as np

rows = np.loadtxt("rows.csv")
weight = np.zeros(3)
for epoch in range(6):
    weight += {step} * rows.mean(axis=0)
    print(epoch, weight.sum())
np.savetxt("weight.txt", weight)
"""


@pytest.fixture
def trial(tmp_path):
    def write(step):
        folder = tmp_path / "trial"
        for name in ("code", "home", "in"):
            (folder / name).mkdir(parents=True)
        (folder / "code/train.py").write_text(SCRIPT.format(step=step))
        for name in ("home", "in"):
            (folder / name / "rows.csv").write_text("1 2 3\n4 5 6\n")
        asked = {
            "script": "train.py",
            "python": sys.executable,
            "home": "home",
            "options": {"data_url": "in"},
            "kills": 1,
        }
        (folder / "trial.json").write_text(json.dumps(asked))
        return Trial.read(folder)

    return write


def test_a_script_that_goes_on_is_right(trial, tmp_path):
    verdict = judge(trial("0.1"), tmp_path / "work", seed=1)
    assert verdict.faults == []
    assert not verdict.is_refused


def test_a_script_whose_numbers_a_stop_changes_is_wrong(trial, tmp_path):
    verdict = judge(trial("__import__('os').getpid()"), tmp_path / "work", seed=1)
    assert any("printed" in fault for fault in verdict.without_options)
    assert any("weight.txt is another" in fault for fault in verdict.killed)


def test_a_result_beside_an_input_is_wrong(trial, tmp_path):
    found = trial("0.1")
    (found.folder / "given").mkdir()
    (found.folder / "in").rename(found.folder / "given/in")
    (found.folder / "code/train.py").write_text(
        "import argparse, os\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--data_url')\nparser.add_argument('--train_url')\nargs = parser.parse_args()\n"
        "open((args.data_url or 'rows') + '.log', 'w').close()\n"
    )
    moved = dataclasses.replace(found, options={"data_url": "given/in"}, kills=0)
    verdict = judge(moved, tmp_path / "work", seed=1)
    assert any("in.log is written to the inputs" in fault for fault in verdict.with_options)


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("epoch 3: 75.00", "epoch 3: 75.00"),
        ("3:07 left", "… left"),
        ("eta 0: 03: 07", "eta …"),
        ("took 2.5s", "took …"),
    ],
)
def test_clocks_are_no_results_and_results_are_no_clocks(line, left):
    assert _results_of(line) == [left]
