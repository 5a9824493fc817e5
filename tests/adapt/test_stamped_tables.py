"""Tables that are named by the time and grow in each round, and places that the settings of another file name so."""

from __future__ import annotations

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


def test_a_time_among_the_settings_is_told(tmp_path):
    settings = """
from datetime import datetime
SAVED = "saved"
NOW = datetime.now().strftime("%H%M%S")
"""
    train = TRAIN.replace("import datetime\n", "import os\nimport settings\n").replace(
        '"results{}.txt".format(datetime.datetime.now().strftime("%H%M%S-%f"))',
        'os.path.join(settings.SAVED, settings.NOW, "table.txt")\nos.makedirs(os.path.dirname(table), exist_ok=True)',
    )
    program = Program(tmp_path / "code", train=train, settings=settings)
    assert any("NOW is another one in each start" in each.message for each in program.adapt().findings)
