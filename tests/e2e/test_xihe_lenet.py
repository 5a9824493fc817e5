"""The MindSpore example: killed in the middle it comes to the same weights; without MindSpore it says what to do."""

from __future__ import annotations

import importlib.util
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from lab import kill

EXAMPLE = Path(__file__).parents[2] / "examples" / "xihe-lenet"
#: An interpreter that has MindSpore: the one named by a variable, else this one.
NAMED = os.environ.get("OUTLAST_TEST_MINDSPORE", "")
PYTHON = NAMED or sys.executable
HAS_MINDSPORE = bool(NAMED) or importlib.util.find_spec("mindspore") is not None
needs_mindspore = pytest.mark.skipif(
    not HAS_MINDSPORE, reason="MindSpore is not installed; name an interpreter that has it: OUTLAST_TEST_MINDSPORE"
)


@pytest.fixture
def example(tmp_path):
    """A copy of the example with a small set of images."""
    folder = tmp_path / "xihe-lenet"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("mnist", "out", "__pycache__"))
    done = subprocess.run(
        [sys.executable, folder / "make_mnist.py", "--train", "640", "--test", "100"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return folder


def test_the_generated_files_have_the_format_of_mnist(example):
    for kind, count in (("train", 640), ("t10k", 100)):
        images = (example / "mnist" / f"{kind}-images-idx3-ubyte").read_bytes()
        labels = (example / "mnist" / f"{kind}-labels-idx1-ubyte").read_bytes()
        assert struct.unpack(">IIII", images[:16]) == (2051, count, 28, 28) and len(images) == 16 + count * 28 * 28
        assert struct.unpack(">II", labels[:8]) == (2049, count) and set(labels[8:]) == set(range(10))


@pytest.mark.skipif(HAS_MINDSPORE, reason="MindSpore is installed")
def test_without_mindspore_the_example_says_what_to_install(example):
    done = subprocess.run([sys.executable, "train.py"], cwd=example, capture_output=True, text=True)
    assert done.returncode == 1 and "pip install -r pip-requirements.txt" in done.stderr
    assert "Traceback" not in done.stderr


@needs_mindspore
@pytest.mark.slow
def test_a_killed_training_comes_to_the_weights_of_a_straight_one(example, lab):
    straight = example.parent / "straight"
    request = (example, "--python", PYTHON, "--param", "epochs=4")
    lab.outlast("run", *request, "--output", f"output_path={straight}", timeout=240)
    run = lab.submit(*request)
    lab.until(lambda: len(lab.client.runs.get(run).checkpoints) >= 1, timeout_s=240)
    lab.until(lambda: [pid for pid in lab.scripts() if kill(pid)])
    view = lab.wait(run, timeout_s=240)
    assert view.state == "succeeded" and len(view.stint_list) == 2, view.message
    log = b"".join(lab.client.runs.logs(run)).decode()
    assert "going on after epoch" in log and "epoch 4/4" in log
    assert (example / "out" / "lenet.ckpt").read_bytes() == (straight / "lenet.ckpt").read_bytes()
