"""Functions that nobody calls by their name: an object holds one and calls it with what it has been told."""

from __future__ import annotations

import pytest
from programs import Program

HOLD = "        self.names, self.reader = names, reader"
READERS = {
    "a default": ("def __init__(self, names, reader=parse_row):\n" + HOLD, "Rows(found)"),
    "a field": ("def __init__(self, names):\n        reader = parse_row\n" + HOLD, "Rows(found)"),
    "handed in": ("def __init__(self, names, reader):\n" + HOLD, "Rows(found, parse_row)"),
}  # fmt: skip


@pytest.mark.parametrize("way", READERS)
def test_a_function_that_an_object_holds_reads_where_it_is_told(way, tmp_path):
    """Names of files that the folder of the data lists lie below it already, whoever calls what opens them."""
    made, call = READERS[way]
    rows = f"""
import os

def parse_row(name):
    with open(name, "r") as file:
        return tuple(map(float, file.read().split()))

class Rows:
    {made}
    def __iter__(self):
        return (self.reader(name) for name in self.names)

def load(folder):
    kinds = [os.path.join(folder, each) for each in sorted(os.listdir(folder))]
    found = [os.path.join(kind, "row.txt") for kind in kinds]
    return {call}
"""
    train = """
    import torch
    import rows

    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(3):
        for x, y in rows.load("sets"):
            STEP
        print("epoch", epoch, loss.item(), flush=True)
    """
    program = Program(tmp_path / "code", train=train, rows=rows)
    for kind in ("a", "b"):
        for top in (tmp_path / "in", tmp_path / "code" / "sets"):
            (top / kind).mkdir(parents=True)
            (top / kind / "row.txt").write_text(f"{ord(kind) / 100} 1.0")
    before = program.run()
    assert before.code == 0 and len(before.lines) == 3, before.error
    done = program.adapt()
    assert not done.by_hand, done.findings
    assert program.run().lines == before.lines
    (tmp_path / "code" / "sets").rename(tmp_path / "gone")
    after = program.run(f"--data_url={tmp_path / 'in'}", f"--train_url={tmp_path / 'out'}")
    assert after.lines == before.lines, after.error
