"""Lists of files that nobody sorts, and that are cut into parts: another copy of the data may be cut otherwise."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

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


CHOSEN = {
    "by a library, with a seed": "files, tests = train_test_split(os.listdir('rows'), random_state=1)",
    "by numbers of one's own": "files = os.listdir('rows')\nnumbers = np.random.RandomState(1)\nnumbers.shuffle(files)",
    "by numbers that are made there": "names = os.listdir('rows')\nfiles = random.Random(1).sample(names, 80)",
    "by a generator of torch": (
        "names = os.listdir('rows')\nnumbers = torch.Generator().manual_seed(1)\n"
        "order = torch.randperm(len(names), generator=numbers)\nfiles = [names[at] for at in order[:80]]"
    ),
    "by what is made of numbers": (
        "names = os.listdir('rows')\ncount = 100\norder = random.Random(1).sample(range(count), 20)\n"
        "rest = [at for at in range(count) if at not in order]\nfiles = [names[at] for at in rest]"
    ),
}


@pytest.mark.parametrize("way", CHOSEN)
def test_files_that_are_chosen_with_a_seed_are_told(way):
    head = HEAD + "import random\nimport numpy as np\nfrom sklearn.model_selection import train_test_split\n"
    assert "may list files in another order" in said(adapt(head + CHOSEN[way] + LOOP), Kind.DIFFERS)
    ordered = CHOSEN[way].replace("os.listdir('rows')", "sorted(os.listdir('rows'))")
    assert "may list files" not in said(adapt(head + ordered + LOOP), Kind.DIFFERS)


def test_what_is_in_an_order_of_its_own_is_not_told():
    lines = "files = os.listdir('rows')\nnumbers = np.random.RandomState(1)\nweights = numbers.permutation(9)"
    assert "may list files" not in said(adapt(HEAD + "import numpy as np\n" + lines + LOOP), Kind.DIFFERS)


PICTURES = """
import os
from torch.utils.data import Dataset
class Listed(Dataset):
    def __init__(self, folder):
        self.names = [each for each in {listed} if each.endswith(".pt")]
    def __len__(self):
        return len(self.names)
class Pictures(Listed):
    pass
"""
DEALT = {
    "by a function": "rows = Pictures('rows')\nfiles, tests = random_split(rows, [80, 20])",
    "at once": "files, tests = random_split(Pictures('rows'), [80, 20], torch.Generator().manual_seed(1))",
    "by numbers": "rows = Pictures('rows')\norder = list(range(len(rows)))\nnp.random.shuffle(order)\n"
    "files = [rows.names[each] for each in order[:80]]",
}
IMPORTS = "import numpy as np\nfrom torch.utils.data import random_split\n"


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("way", DEALT)
def test_lists_that_an_object_holds_which_is_dealt_out_by_chance_are_told(way, is_sorted):
    listed = "sorted(os.listdir(folder))" if is_sorted else "os.listdir(folder)"
    told = said(adapt(HEAD + IMPORTS + PICTURES.format(listed=listed) + DEALT[way] + LOOP), Kind.DIFFERS)
    assert ("listdir may list files in another order" in told) is not is_sorted


def test_so_are_those_of_another_file(tmp_path):
    train = HEAD + IMPORTS + "from pictures import Pictures\n" + DEALT["by a function"] + LOOP
    program = Program(tmp_path, train=train, pictures=PICTURES.format(listed="os.listdir(folder)"))
    told = [each.message for each in program.adapt().findings if each.kind is Kind.DIFFERS]
    assert sum("random_split then chooses others" in each for each in told) == 1


def test_an_object_of_which_all_is_taken_is_not():
    lines = "files = Pictures('rows').names\ncounts = np.random.permutation(9)\n"
    text = HEAD + IMPORTS + PICTURES.format(listed="os.listdir(folder)") + lines + LOOP
    assert "may list files" not in said(adapt(text), Kind.DIFFERS)
