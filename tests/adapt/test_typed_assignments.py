"""Assignments with a type beside them are assignments like others."""

from __future__ import annotations

import pytest
from checked import adapt
from programs import Program

TYPED = """
    from __future__ import annotations
    import torch
    from torch import nn
    ROOT: str = "data"
    rows: list[str] = open(ROOT + "/rows.txt").read().split()
    model: nn.Module = nn.Linear(1, 1)
    optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    best: float = 100.0
    ended: int | None = None
    for epoch in range(6):
        seen: float | None = None
        count: int
        count = 0
        for text in rows:
            x, y = (float(each) for each in text.split(","))
            STEP
            count += 1
        if epoch % 2 == 0:
            seen = loss.item()
        if seen is not None and seen < best:
            best = seen
        print("epoch", epoch, count, best, ended)
"""


def _program(tmp_path):
    program = Program(tmp_path / "code", train=TYPED)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/rows.txt").write_text("0.1,0.4\n0.7,0.2")
    return program, ("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))


def test_a_loop_of_typed_names_goes_on_with_the_same_numbers(tmp_path):
    program, options = _program(tmp_path)
    done = program.adapt()
    assert not done.by_hand
    straight = program.run("--data_url", options[1], "--train_url", str(tmp_path / "straight"))
    assert straight.code == 0, straight.error
    first = program.run(*options, until="epoch 2")
    assert first.code < 0
    rest = program.run(*options)
    assert rest.code == 0, rest.error
    assert rest.lines and straight.lines[-len(rest.lines) :] == rest.lines


def test_types_stay_where_they_are(tmp_path):
    program, _ = _program(tmp_path)
    program.adapt()
    text = program.text("train.py")
    assert 'ROOT: str = contract.data_url or "data"' in text
    assert "    seen: float | None = None\n    count: int\n" in text


@pytest.mark.parametrize("kind", ["class", "@dataclass\nclass"])
def test_typed_lines_right_in_a_class_declare_its_fields(kind):
    done = adapt(f"""
import numpy as np
from dataclasses import dataclass
{kind} Settings:
    rows: str = "data/rows.npy"
    def load(self):
        found: object = np.load(self.rows)
        return found
print(Settings().load())
""")
    assert "found: object = np.load(self.rows)" in done.text
    assert 'rows: str = os.path.join(contract.data_url or "data", "rows.npy")' in done.text
