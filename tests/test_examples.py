"""The examples, made small: by hand, in many stints, and killed without warning they come to the same weights."""

import csv
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from outlast.inside.desk import Desk, DeskHandler
from outlast.inside.flag import StopFlag

EXAMPLES = Path(__file__).parents[1] / "examples"
SMALL = ["--epochs", "6", "--size", "400"]


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OUTLAST_")}
    return dict(kept, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **more)


def run(script, cwd, *args, **more):
    return subprocess.run(
        [sys.executable, str(script), *args], cwd=cwd, env=environment(**more), capture_output=True, text=True
    )


class OneEpochAtATime(DeskHandler):
    """A runner that asks for a hand-over as soon as the script has started."""

    def __init__(self, root):
        self.root = root
        self.progress, self.points = {}, []

    def on_save(self, message):
        self.progress = message["progress"]
        return {"ticket": 1}

    def on_track(self, message):
        self.points.append(message)

    def stint(self):
        StopFlag.create(str(self.root / "flag")).raise_("deadline")
        with Desk(str(self.root / "socket"), self) as desk:
            return run(
                EXAMPLES / "digits" / "train.py", self.root, *SMALL,
                OUTLAST_RUN="run", OUTLAST_STINT="1", OUTLAST_SOCKET=desk.path,
                OUTLAST_FLAG=str(self.root / "flag"), OUTLAST_CHECKPOINT=str(self.root / "place"),
                OUTLAST_RESTORED="0001-000001" if self.progress else "", OUTLAST_PROGRESS=json.dumps(self.progress),
            )  # fmt: skip


def test_digits_in_six_stints_gives_the_weights_of_one_straight_run(tmp_path):
    straight, chained = tmp_path / "straight", tmp_path / "chained"
    straight.mkdir()
    chained.mkdir()
    by_hand = run(EXAMPLES / "digits" / "train.py", straight, *SMALL)
    assert (by_hand.returncode, by_hand.stderr) == (0, "")
    assert by_hand.stdout.startswith("epoch 1/6 loss ")
    runner = OneEpochAtATime(chained)
    stints = [runner.stint() for _ in range(6)]
    assert [stint.returncode for stint in stints] == [85] * 5 + [0], [stint.stderr for stint in stints]
    lines = "".join(stint.stdout for stint in stints)
    assert lines == by_hand.stdout
    for name in ("model.npz", "metrics.csv"):
        assert (chained / "out" / name).read_bytes() == (straight / "out" / name).read_bytes()
    with (chained / "out" / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [point["values"]["loss"] for point in runner.points] == [float(row["loss"]) for row in rows]
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])


@pytest.fixture
def small_spirals(tmp_path):
    text = (EXAMPLES / "unmodified" / "train.py").read_text()
    small = text.replace("EPOCHS = 300", "EPOCHS = 9").replace("STEPS = 60", "STEPS = 5")
    small = small.replace("SAVE_EVERY = 10", "SAVE_EVERY = 2")
    path = tmp_path / "train.py"
    path.write_text(small)
    return path


def test_an_unmodified_script_that_is_killed_comes_to_the_same_weights(small_spirals, tmp_path):
    straight, cut = tmp_path / "straight", tmp_path / "cut"
    straight.mkdir()
    cut.mkdir()
    assert run(small_spirals, straight).returncode == 0
    for last in ("Epoch 3/9", "Epoch 7/9"):
        process = subprocess.Popen(
            [sys.executable, str(small_spirals)], cwd=cut, env=environment(), stdout=subprocess.PIPE, text=True
        )
        for line in process.stdout:
            if line.startswith(last):
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        process.wait()
    done = run(small_spirals, cut)
    assert done.stdout.startswith("going on after epoch ")
    assert (cut / "out" / "spirals.npz").read_bytes() == (straight / "out" / "spirals.npz").read_bytes()


def test_the_unmodified_example_really_knows_nothing_of_us():
    text = (EXAMPLES / "unmodified" / "train.py").read_text()
    assert "import outlast" not in text and "OUTLAST" not in text


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir()))
def test_every_example_names_files_that_exist(name):
    folder = EXAMPLES / name
    run_table = tomllib.loads((folder / "outlast.toml").read_text())["run"]
    assert (folder / run_table["script"]).exists()
    assert (folder / run_table["requirements"]).exists()
    assert (folder / "README.md").exists()
