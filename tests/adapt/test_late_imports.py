"""Lines that are added at the top where the script imports what they need further down."""

from __future__ import annotations

import random

import pytest
from checked import adapt
from stage import play

LOOP = """
rows = list(range(9))
mixer.shuffle(rows)
total = 0.0
for epoch in range(3):
    total += rows[epoch]
    print(epoch, total)
"""


@pytest.mark.parametrize(
    "between",
    ['os.system("clear")\nprint("importing")', '"""a cell of text"""', "sizes = [1, 2]", "def size():\n    return 1"],
)
@pytest.mark.parametrize("imported", ["import random as mixer", "import random\nmixer = random"])
def test_a_seed_is_given_to_what_is_imported_by_then(between, imported, tmp_path):
    text = f"import os\n{between}\n{imported}\n{LOOP}"
    done = adapt(text)
    out = tmp_path / "out"
    shown = [play(done.text, tmp_path, f"--train_url={out}", env={"OUTLAST_RUN": "a"}).output]
    for left in out.iterdir():
        left.unlink()
    random.seed(99)
    shown.append(play(done.text, tmp_path, f"--train_url={out}", env={"OUTLAST_RUN": "a"}).output)
    assert shown[0] == shown[1]


def test_what_is_read_between_imports_is_read_behind_the_options(tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    (given / "a.txt").write_text("brought")
    done = adapt('import os\nprint(open("rows/a.txt").read())\nimport sys\n')
    assert play(done.text, tmp_path, f"--data_url={given}").output == "brought\n"


def test_a_command_that_may_fetch_something_stays_behind_the_options():
    done = adapt("""
        import os
        os.system("wget http://x.org/a.npy")
        import numpy as np
        print(np.load("a.npy"))
    """).text
    assert done.index("contract_parser") < done.index("wget")
