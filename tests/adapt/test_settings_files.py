"""Settings that name other settings, and the folder of the code that places of settings lie below."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

READS = {
    "the text of a path": "    cfg = yaml.safe_load(p.read_text())\n",
    "an open file": "    with open(p) as file:\n        cfg = yaml.safe_load(file)\n",
}
TRAIN = """
from pathlib import Path
import torch
import yaml

ROOT = Path(__file__).resolve().parent

def settings(path):
    p = ROOT / path
{read}    if "base" in cfg:
        cfg = {{**settings(cfg["base"]), **cfg}}
    return cfg

cfg = settings("settings/small.yaml")
rows = [tuple(map(float, line.split(","))) for line in open(ROOT / cfg["data"]["rows"])]
saved = ROOT / cfg["train"]["saved"]
saved.mkdir(parents=True, exist_ok=True)
torch.manual_seed(1)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for epoch in range(3):
    for x, y in rows:
        STEP
    print("epoch", epoch, loss.item(), flush=True)
    torch.save(model.state_dict(), saved / f"{{epoch}}.pt")
"""


@pytest.mark.parametrize("read", READS)
def test_settings_travel_with_the_code_and_rows_below_it_are_no_results(read, tmp_path):
    pytest.importorskip("yaml")
    program = Program(tmp_path / "code", train=TRAIN.format(read=READS[read]))
    (tmp_path / "code" / "settings").mkdir()
    (tmp_path / "code" / "settings" / "base.yaml").write_text("data: {rows: rows.csv}\ntrain: {saved: saved/small}\n")
    (tmp_path / "code" / "settings" / "small.yaml").write_text("base: settings/base.yaml\n")
    for folder in (tmp_path / "in", tmp_path / "code"):
        folder.mkdir(exist_ok=True)
        (folder / "rows.csv").write_text("1.0,2.0\n0.5,1.5\n")
    before = program.run()
    assert before.code == 0 and len(before.lines) == 3, before.error
    done = program.adapt()
    assert not done.by_hand, done.findings
    assert program.run().lines == before.lines
    (tmp_path / "code" / "rows.csv").unlink()
    after = program.run(f"--data_url={tmp_path / 'in'}", f"--train_url={tmp_path / 'out'}")
    assert after.lines == before.lines, after.error
    assert len(list((tmp_path / "out").rglob("[012].pt"))) == 3


@pytest.mark.parametrize("place", ["/home/me/sets/net/config.json", "D:/sets/net/config.json", "~/net/options.yaml"])
def test_settings_of_the_machine_where_a_script_was_written_do_not_travel_with_the_code(place):
    done = adapt(f"import json\nwith open('{place}') as file:\n    sizes = json.load(file)\nprint(sizes)\n")
    assert "os.path.join(contract.data_url or" in done.text
    assert "travels with the code" not in said(done, Kind.KEPT)


@pytest.mark.parametrize("place", ["net/config.json", "/home/ma-user/work/net/config.json"])
def test_settings_beside_the_code_do(place):
    done = adapt(f"import json\nwith open('{place}') as file:\n    sizes = json.load(file)\nprint(sizes)\n")
    assert "travels with the code" in said(done, Kind.KEPT)
