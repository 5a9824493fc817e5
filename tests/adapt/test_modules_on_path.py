"""Modules that a script finds because it puts their folder on the path itself, wherever the copy came from."""

from __future__ import annotations

import pytest
from programs import Program

WAYS = {
    "text": ("scripts/train.py", 'sys.path.append("../lib")', "lib"),
    "joined": ("scripts/train.py", 'sys.path.append(os.path.join(os.path.dirname(__file__), "..", "lib"))', "lib"),
    "named": (
        "scripts/train.py",
        "HERE = os.path.dirname(os.path.abspath(__file__))\nTOP = os.path.dirname(HERE)\nsys.path.insert(0, TOP)",
        "",
    ),
    "divided": (
        "scripts/train.py",
        "HERE = os.path.abspath(os.path.dirname(__file__))\nTOP = os.path.split(HERE)[0]\nsys.path.append(TOP)",
        "",
    ),
    "path object": ("scripts/train.py", "sys.path.insert(0, str(Path(__file__).resolve().parents[1]))", ""),
    "parents": (
        "a/b/train.py",
        'ROOT = Path(__file__).parent.parent.parent\nsys.path.append(str(ROOT / "lib"))',
        "lib",
    ),
    "below": ("train.py", 'sys.path.append("lib")', "lib"),
    "parent": ("scripts/train.py", "sys.path.append(os.pardir)", ""),
}
ENGINE = """
import torch
from torch import nn
def fit():
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in [(1.0, 2.0), (2.0, 3.0)]:
            STEP
        print("epoch", epoch)
    with open("net.txt", "w") as f:
        f.write("net")
"""


@pytest.mark.parametrize("way", WAYS)
def test_modules_of_a_folder_on_the_path_are_changed_with_the_script(way, tmp_path):
    entry, line, folder = WAYS[way]
    train = f"import os\nimport sys\nfrom pathlib import Path\n{line}\nfrom engine import fit\nfit()\n"
    names = {entry.removesuffix(".py").replace("/", "__"): train, f"{folder}__engine" if folder else "engine": ENGINE}
    program = Program(tmp_path / "code", entry=entry, **names)
    done = program.adapt()
    assert not done.by_hand
    engine = f"{folder}/engine.py" if folder else "engine.py"
    assert 'os.environ.get("CONTRACT_TRAIN_URL")' in program.text(engine)
    assert "first_epoch" in program.text(engine)


def test_nothing_beside_a_script_that_does_not_look_there_is_read(tmp_path):
    program = Program(tmp_path / "code", entry="scripts/train.py", scripts__train="from engine import fit\nfit()\n",
                      engine=ENGINE)  # fmt: skip
    program.adapt()
    assert "CONTRACT" not in program.text("engine.py")


@pytest.mark.parametrize("name", ["'tasks.{}.rows'.format(KIND)", "f'tasks.{KIND}.rows'", "'tasks.' + KIND + '.rows'"])
def test_a_module_in_a_folder_that_is_chosen_is_part_of_the_program(name, tmp_path):
    train = f"""
import importlib
import torch
from settings import KIND

torch.manual_seed(1)
rows = importlib.import_module({name})
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for epoch in range(2):
    for x, y in rows.load():
        STEP
    print(epoch, loss.item(), flush=True)
"""
    rows = "def load():\n    return [tuple(map(float, each.split(','))) for each in open('sets/rows.csv')]\n"
    program = Program(tmp_path / "code", train=train, settings="KIND = 'small'\n", tasks__small__rows=rows)
    for folder in (tmp_path / "in", tmp_path / "code" / "sets"):
        folder.mkdir()
        (folder / "rows.csv").write_text("1.0,2.0\n0.5,1.5\n")
    before = program.run()
    assert before.code == 0 and len(before.lines) == 2, before.error
    assert not program.adapt().by_hand
    (tmp_path / "code" / "sets").rename(tmp_path / "gone")
    after = program.run(f"--data_url={tmp_path / 'in'}", f"--train_url={tmp_path / 'out'}")
    assert after.lines == before.lines, after.error
