"""Logs that each start empties: a second stint would lose the first one's lines, and the user must hear of it."""

import textwrap

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HEAD = """
import csv
import torch
from torch import nn
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

STEP = """
    optimizer.zero_grad()
    loss = model(torch.ones(1, 1)).sum()
    loss.backward()
    optimizer.step()
"""


def rounds(head, line, *, depth=0):
    text = head + "\nfor epoch in range(9):" + STEP + f"    {line}\n"
    if depth:
        first, _, rest = text.partition("\n")
        text = first + "\n" + textwrap.indent(rest, "    ")
    return HEAD + text


@pytest.mark.parametrize(
    "text",
    [
        rounds('log = open("log.txt", "wb")', "log.write(bytes(epoch))"),
        rounds('rows = csv.writer(open("log.csv", "w"))', "rows.writerow([epoch, loss.item()])"),
        rounds('log = open("log.txt", "w") if model else None', 'log.write(f"{loss}")'),
        rounds('def add(value):\n    log.write(value)\nlog = open("log.txt", "w")', "add(str(loss)); log.seek(0)"),
        rounds(
            "class Log:\n    def __init__(self, path):\n        self.file = open(path, 'w')\n"
            "    def put(self, value):\n        self.file.write(str(value))\nlog = Log('log.txt')",
            "log.put(loss)",
        ),
    ],
)
def test_a_log_that_each_start_empties_is_told(text):
    told = said(adapt(text), Kind.DIFFERS)
    assert "empties the file: after a stop only what the last stint wrote is in it" in told
    assert 'open it with "a"' in told


@pytest.mark.parametrize(
    "text",
    [
        rounds('log = open("log.txt", "a")', 'log.write(f"{loss}")'),
        rounds('log = open("words.txt")', "print(len(log.name))"),
        rounds('with open("settings.txt", "w") as f:\n    f.write("rate 0.1")', "f = str(loss); print(f)"),
        rounds('out = open("settings.txt", "w")\nout.write("rate 0.1")', "print(loss)"),
        rounds("", 'with open(f"{epoch}.txt", "w") as log: log.write(f"{loss}")'),
        rounds("", "print(loss)") + 'log = open("log.txt", "w")\nlog.write(str(loss.item()))\n',
    ],
)
def test_what_no_round_adds_to_is_not_told(text):
    assert "empties the file" not in said(adapt(text), Kind.DIFFERS)
