"""A script without a seed: in each stint it draws the same numbers before its training, by hand others as ever."""

import os
import subprocess
import sys

import pytest
from checked import adapt, adapt_plainly, said

from outlast.migrate.engine import Kind

_LOOP = "\nweights = 0.0\nfor epoch in range(3):\n    weights += sum(train)\n"
_TRAINING = """
import torch
model = torch.nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    optimizer.zero_grad()
    model(train).sum().backward()
    optimizer.step()
"""


def start(folder, text, *words, **environ):
    (folder / "script.py").write_text(text)
    env = {**os.environ, **environ}
    done = subprocess.run([sys.executable, "script.py", *words], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_stint_of_a_run_has_the_same_split_and_each_run_its_own(tmp_path):
    done = adapt(
        "import random\nrows = list(range(1000))\nrandom.shuffle(rows)\ntrain = rows[:500]\nprint(train)" + _LOOP
    )
    by_hand = {start(tmp_path, done.text) for _ in range(2)}
    first = {start(tmp_path, done.text, "--train_url=out", OUTLAST_RUN="a") for _ in range(2)}
    second = start(tmp_path, done.text, OUTLAST_RUN="b")
    assert (len(by_hand), len(first)) == (2, 1)
    assert second not in first


@pytest.mark.parametrize(
    ("imports", "draw", "seeding"),
    [
        ("from torch.utils.data import random_split", "random_split(a, [1])",
         "torch.manual_seed(run_seed)"),
        ("from sklearn.model_selection import train_test_split", "train_test_split(a)", "numpy.random.seed(run_seed)"),
        ("import numpy as np", "np.random.rand(3)", "np.random.seed(run_seed)"),
        ("import pandas as pd", "pd.read_csv('a.csv').sample(frac=1)", "numpy.random.seed(run_seed)"),
    ],
)  # fmt: skip
def test_whoever_draws_is_given_the_seed(imports, draw, seeding):
    done = adapt_plainly(f"{imports}\na = 3\ntrain = {draw}{_TRAINING}")
    assert f"    {seeding}\n" in done.text
    assert "draws other numbers in each start" in said(done, Kind.CHANGED)


@pytest.mark.parametrize(
    "draw",
    [
        "random_split(a, [1, 2], generator=g)",
        "train_test_split(a, random_state=4)",
        "train_test_split(a, shuffle=False)",
        "np.random.default_rng(4).random()",
        "seed_everything() or np.random.rand(3)",
        "policy.sample()",
    ],
)
def test_what_has_a_seed_is_left_alone(draw):
    assert "run_seed" not in adapt_plainly(f"import numpy as np\nimport torch\na = g = 3\ntrain = {draw}{_LOOP}").text


def test_first_weights_and_numbers_of_the_training_need_no_seed():
    done = adapt_plainly("""
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.randn(3))
        def step(model, optimizer):
            loss = (model.w * torch.randn(3)).sum()
            loss.backward()
            optimizer.step()
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(9):
            step(model, optimizer)
    """)
    assert "run_seed" not in done.text
    assert "resume.pt" in done.text


def test_several_processes_are_told_and_not_given_one_seed():
    done = adapt_plainly(f"import random\nlocal_rank = 0\ntrain = random.sample(range(9), 3){_LOOP}")
    assert "run_seed" not in done.text
    assert "sample draws other numbers in each start" in said(done, Kind.DIFFERS)
