"""Lists of files that nobody sorts, and that are cut into parts: another copy of the data may be cut otherwise."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HEAD = """
import os
import torch
from glob import glob
from torch import nn
"""
LOOP = """
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for path in files:
        optimizer.zero_grad()
        loss = model(torch.load(path)).sum()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    "lines",
    [
        'files = os.listdir("rows")\nfiles, tests = files[:800], files[800:]',
        'files = glob("rows/*.pt")[:100]',
        'names = []\nfor each in os.listdir("rows"):\n    names.append("rows/" + each)\nfiles = names[10:]',
    ],
)
def test_files_that_are_chosen_by_their_place_are_told(lines):
    assert "may list files in another order" in said(adapt(HEAD + lines + LOOP), Kind.DIFFERS)


@pytest.mark.parametrize(
    "lines",
    [
        'files = sorted(os.listdir("rows"))\nfiles = files[:800]',
        'files = os.listdir("rows")\nprint(files[:5])',
        'files = [each for each in os.listdir("rows") if each[:2] != "._"]',
        'files = os.listdir("rows")\nfiles.sort()\nfiles = files[5:]',
        'import numpy as np\nfiles = np.sort(["rows/" + each for each in os.listdir("rows")])[:800]',
    ],
)
def test_files_that_are_all_taken_or_sorted_are_not(lines):
    assert "may list files" not in said(adapt(HEAD + lines + LOOP), Kind.DIFFERS)
