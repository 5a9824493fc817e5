"""Tables that are named by the time and grow in each round, and places that the settings of another file name so."""

from __future__ import annotations

import pytest
from programs import Program

TRAIN = """
import datetime
import torch
from torch import nn

model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
table = "results{}.txt".format(datetime.datetime.now().strftime("%H%M%S-%f"))
for epoch in range(4):
    for x, y in [(1.0, 2.0), (2.0, 3.0)]:
        STEP
    with open(table, "a") as file:
        file.write(f"epoch {epoch}\\n")
    print("epoch", epoch)
"""


def test_a_table_named_by_the_time_goes_on_in_the_next_stint(tmp_path):
    program = Program(tmp_path / "code", train=TRAIN)
    program.adapt()
    out = tmp_path / "out"
    program.run("--train_url", str(out), until="epoch 1")
    ran = program.run("--train_url", str(out))
    assert ran.code == 0, ran.error
    [table] = out.glob("results*.txt")
    assert table.read_text().splitlines() == [f"epoch {at}" for at in range(4)]


SETTINGS = """
from datetime import datetime
SAVED = "saved"
NOW = datetime.now().strftime("%H%M%S-%f")
"""


def _settled(line: str) -> str:
    return TRAIN.replace("import datetime\n", "import os\nimport settings\n").replace(
        '"results{}.txt".format(datetime.datetime.now().strftime("%H%M%S-%f"))',
        f'os.path.join({"settings.SAVED, " if "SAVED" in line else ""}settings.NOW, "table.txt")\n{line}',
    )


@pytest.mark.parametrize("saved", [True, False])
def test_a_time_among_the_settings_is_that_of_the_first_stint(saved, tmp_path):
    line = "os.makedirs(os.path.dirname(table), exist_ok=True)" + ("  # below SAVED" if saved else "")
    program = Program(tmp_path / "code", train=_settled(line), settings=SETTINGS)
    said = [each.message for each in program.adapt().findings]
    assert any(each.endswith("is another one in each start: all stints have the first one's") for each in said)
    out = tmp_path / "out"
    program.run("--train_url", str(out), until="epoch 1")
    ran = program.run("--train_url", str(out))
    assert ran.code == 0, ran.error
    [table] = [*out.glob("*/table.txt"), *out.glob("saved/*/table.txt")]
    assert table.read_text().splitlines() == [f"epoch {at}" for at in range(4)]


@pytest.mark.parametrize(
    ("line", "more"),
    [
        ("os.makedirs(os.path.dirname(table))", ""),
        ("os.makedirs(os.path.dirname(table), exist_ok=True)", 'def note():\n    open("notes.txt", "a").write("5")\n'),
    ],
)
def test_a_time_among_the_settings_is_told_where_each_start_needs_its_own(line, more, tmp_path):
    train = _settled(line) + ("settings.note()\n" if more else "")
    program = Program(tmp_path / "code", train=train, settings=SETTINGS + more)
    said = [each.message for each in program.adapt().findings]
    assert "NOW is another one in each start: each stint has a place of its own" in said
