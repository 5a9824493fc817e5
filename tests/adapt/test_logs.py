"""Logs that stay open through the rounds hold the lines of all stints, and each line once."""

from __future__ import annotations

import gc
import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

#: a kill leaves the log open
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

#: printed before it is written, so that a kill at a printed line falls between two rounds, or into one
ROUND = """
for epoch in range(5):
    print(epoch)
    log.write(f"{epoch} begins\\n")
    print("half")
    loss = sum(step(net, opt, x, y) for x, y in POINTS)
    add(epoch, loss)
print("end")
"""
MODEL = """
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
"""
ADD = """
def add(epoch, loss):
    log.write(f"{epoch} {loss}\\n")
"""
SHAPES = {
    "a name": ADD + 'log = open("log.txt", "w")\nlog.write("losses\\n")' + MODEL + ROUND + "log.close()",
    "a block around the rounds": ADD
    + 'with open("log.txt", mode="wt") as log:\n'
    + textwrap.indent(MODEL + 'log.write("losses\\n")' + ROUND, "    "),
    "a writer of rows": """
import csv
log = open("log.txt", "w", newline="")
rows = csv.writer(log)
rows.writerow(["epoch", "loss"])
def add(epoch, loss):
    rows.writerow([epoch, loss])
"""
    + MODEL
    + ROUND
    + 'log.write("done\\n")\nlog.close()',
    "a path that opens itself, in a function": "from pathlib import Path\ndef main(folder):\n"
    + textwrap.indent(MODEL + 'log = (Path(folder) / "log.txt").open("w")' + ADD + ROUND, "    ")
    + "\nmain('.')",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_log_holds_each_line_once(shape, run, tmp_path):
    text = HEAD + STEP + SHAPES[shape]
    run(text)
    whole = (tmp_path / "log.txt").read_text()
    done = adapt_plainly(text)
    assert "empties the file no more after a stop" in said(done, Kind.CHANGED)
    assert "empties the file:" not in said(done, Kind.DIFFERS)
    run(done.text)
    assert (tmp_path / "log.txt").read_text() == whole
    for stop in range(1, 11):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        gc.collect()
        run(done.text, env=env)
        assert (tmp_path / "log.txt").read_text() == whole, stop


def test_a_log_that_is_gone_begins_again(run, tmp_path):
    done = adapt_plainly(HEAD + STEP + SHAPES["a name"])
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    run(done.text, env=env, kill_after=7)
    gc.collect()
    (tmp_path / "log.txt").unlink()
    run(done.text, env=env)
    assert (tmp_path / "log.txt").read_text().startswith("losses\n")


def test_options_are_known_where_a_log_is_opened():
    parsed = "import argparse\nparser = argparse.ArgumentParser()\nargs = parser.parse_args()\n"
    text = HEAD + STEP + ADD + 'log = open("/var/run/log.txt", "w")\n' + parsed + MODEL + ROUND
    lines = adapt(text).text.splitlines()
    opened = next(at for at, line in enumerate(lines) if line.startswith("log = open("))
    assert any("parse" in line and "contract" in line for line in lines[:opened])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_log_is_a_result(shape):
    done = adapt(HEAD + STEP + SHAPES[shape])
    assert "log.txt" in said(done, Kind.CHANGED)
    assert "contract.train_url" in done.text and "contract.data_url" not in done.text


@pytest.mark.parametrize("opened", ['open("log.txt", {})', 'Path("log.txt").open({})', 'Path("log.txt").open(mode={})'])
def test_a_file_that_is_written_one_way_or_another_is_a_result(opened):
    mode = "'a' if len(sys.argv) > 1 else 'w'"
    text = "import sys\nfrom pathlib import Path\nlog = " + opened.format(mode) + "\nlog.write('x')\n"
    assert '"log.txt" can be replaced by --train_url' in said(adapt(text), Kind.CHANGED)
