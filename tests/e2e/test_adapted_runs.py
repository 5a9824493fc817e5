"""A script that knew nothing of contracts or resuming, adapted and killed: it ends with the same numbers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys

import pytest
from lab import RELENTLESS, Lab

SCRIPT = """\
import os
import time

import numpy as np

rows = np.loadtxt("data/points.csv", delimiter=",")
rng = np.random.default_rng(3)
w = rng.normal(size=rows.shape[1] - 1)
for epoch in range(9):
    for at in rng.permutation(len(rows)):
        w -= 0.05 * rows[at, :-1] * (rows[at, :-1] @ w - rows[at, -1])
    print("epoch", epoch, "loss", float(np.mean((rows[:, :-1] @ w - rows[:, -1]) ** 2)), flush=True)
    while epoch == 5 and os.environ.get("OUTLAST_STINT") == os.environ.get("HOLD", "1"):
        time.sleep(0.05)
np.savetxt("results/w.txt", w)
"""
ROWS = "\n".join(f"{at % 7 / 7:.4f},{at % 5 / 5:.4f},{at % 3 / 3:.4f}" for at in range(30))

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture
def desk(tmp_path):
    lab = Lab(tmp_path, RELENTLESS)
    lab.write("project/train.py", SCRIPT)
    lab.write("project/data/points.csv", ROWS)
    (tmp_path / "project/results").mkdir()
    yield lab
    lab.close()


def by_hand(desk):
    """What the untouched script ends with, outside of any stint."""
    project = desk.folder / "project"
    command = [sys.executable, "train.py"]
    # A stint is started without these, and the last digits of a product depend on them.
    environ = {name: value for name, value in desk.environ.items() if not name.startswith(("OPENBLAS_", "MKL_"))}
    subprocess.run(command, cwd=project, check=True, capture_output=True, env=environ, timeout=150)
    weights = project / "results" / "w.txt"
    text = weights.read_text()
    weights.unlink()
    return text


def test_an_adapted_script_survives_a_kill_under_xihe(desk):
    project = desk.folder / "project"
    expected = by_hand(desk)
    offered = desk.outlast("explain", "train.py", "--contract", "xihe", "--data", "data_url=data", cwd=project)
    assert offered.returncode == 0
    assert "written: train.py" in desk.outlast("adapt", "train.py", "--contract", "xihe", "--write", cwd=project).stdout
    assert desk.outlast("adapt", "train.py", "--contract", "xihe", "--check", cwd=project).returncode == 0
    (project / "results").rmdir()
    words = ("--contract", "xihe", "--data", "data_url=data", "--output", "output_path=home")
    run = desk.outlast("run", "train.py", *words, "--detach", cwd=project).stdout.split()[0]
    desk.until(lambda: desk.client.runs.get(run).checkpoints and desk.runners(), pause_s=0.1)
    os.kill(desk.runners()[0], signal.SIGKILL)
    view = desk.wait(run)
    assert view.state == "succeeded", view.message
    assert [stint.reason for stint in view.stint_list] == ["lost", "finished"]
    logs = desk.outlast("logs", run).stdout
    assert logs.count("epoch 0 ") == 1, "the second stint must not begin anew"
    assert (project / "home" / "w.txt").read_text() == expected


def test_an_entry_script_carries_data_and_results_under_modelarts_v1(desk):
    project = desk.folder / "project"
    expected = by_hand(desk)
    desk.outlast("adapt", "train.py", "--contract", "modelarts-v1", "--entry", "--write", cwd=project)
    words = (
        "--contract",
        "modelarts-v1",
        "--data",
        "data_url=data",
        "--output",
        "train_url=home",
        "--env",
        "HOLD=never",
    )
    run = desk.outlast("run", "train_entry.py", *words, "--detach", cwd=project).stdout.split()[0]
    view = desk.wait(run)
    assert view.state == "succeeded", view.message
    assert "data_url: " in desk.outlast("logs", run).stdout
    assert (project / "home" / "w.txt").read_text() == expected


def test_run_offers_it_where_the_contract_would_end_the_script(desk):
    strict = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr')\nparser.parse_args()\n"
    desk.write("project/strict.py", strict)
    words = ("--contract", "xihe", "--data", "data_url=data", "--output", "output_path=home")
    done = desk.outlast("run", "strict.py", *words, cwd=desk.folder / "project", check=False)
    said = " ".join(done.stderr.split())
    assert done.returncode != 0 and "notice: strict.py does not accept --data_url, --output_path" in said, done.stderr
    assert "teach it to accept them: outlast adapt strict.py --contract xihe" in said and "notice:" not in done.stdout
