"""A script without a seed: in each stint it draws the same numbers before its training, by hand others as ever."""

import os
import subprocess
import sys

import pytest
from checked import adapt, adapt_plainly, said
from programs import Program

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


def test_names_that_a_star_brings_draw_too(tmp_path):
    rows = (
        "from random import *\nrows = list(range(1000))\nshuffle(rows)\ntrain = [random(), *rows[:500]]\nprint(train)"
    )
    done = adapt(rows + _LOOP)
    assert len({start(tmp_path, done.text, "--train_url=out", OUTLAST_RUN="a") for _ in range(2)}) == 1
    own = "from random import *\ndef shuffle(rows):\n    pass\ntrain = [3]\nshuffle(train)"
    assert "run_seed" not in adapt(own + _LOOP).text


def test_what_the_method_of_a_training_draws_before_its_loop_is_the_same_in_each_stint():
    text = """
        import torch
        class Solver:
            def __init__(self):
                self.net = torch.nn.Linear(3, 3)
                self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
                self.first = torch.randn(3)
            def fit(self):
                {}
                for epoch in range(3):
                    self.optimizer.zero_grad()
                    self.net(torch.randn(3)).sum().backward()
                    self.optimizer.step()
        Solver().fit()
    """
    assert "torch.manual_seed(run_seed)" in adapt_plainly(text.format("shown = torch.randn(3)")).text
    assert "run_seed" not in adapt_plainly(text.format("shown = torch.zeros(3)")).text


@pytest.mark.parametrize(
    ("code", "is_seeded"),
    [
        ("train = [1]{loop}print(random.random())", False),
        ("def show():\n    print(random.random())\ntrain = [1]{loop}show()", False),
        ("def show():\n    print(random.random())\ntrain = [1]\nshow(){loop}show()", True),
        ("for fold in range(2):\n    train = [1]\n    weights = 0.0\n    for epoch in range(3):\n"
         "        weights += sum(train)\n    random.shuffle(train)", True),
    ],
)  # fmt: skip
def test_numbers_that_are_drawn_behind_the_training_need_no_seed(code, is_seeded):
    done = adapt_plainly("import random\n" + code.format(loop=_LOOP))
    assert "OUTLAST_CHECKPOINT" in done.text
    assert ("run_seed" in done.text) is is_seeded


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


@pytest.mark.parametrize(
    ("seeding", "seeded"),
    [
        ("random.seed(0)", {"numpy", "torch"}),
        ("np.random.seed(0)", {"random", "torch"}),
        ("torch.manual_seed(0)", {"numpy", "random"}),
        ("torch.cuda.manual_seed(0)", {"numpy", "random", "torch"}),
        ("tf.random.set_seed(0)", {"numpy", "random", "torch"}),
        ("keras.utils.set_random_seed(0)", {"torch"}),
        ("pl.seed_everything(0)", set()),
        ("set_seed(0)", {"numpy"}),
        ("env.seed(0)", {"numpy", "random", "torch"}),
        ("random.seed(time.time())", set()),
    ],
)
def test_a_seed_counts_for_its_own_generator(seeding, seeded):
    done = adapt_plainly(f"""
        import random
        import time
        import keras
        import numpy as np
        import pytorch_lightning as pl
        import tensorflow as tf
        import torch
        def set_seed(seed):
            random.seed(seed)
            torch.manual_seed(seed)
        {seeding}
        rows = list(range(9))
        random.shuffle(rows)
        train = torch.tensor(np.random.permutation(rows))[torch.randperm(9)]
        model = torch.nn.Linear(9, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            optimizer.zero_grad()
            model(train).sum().backward()
            optimizer.step()
    """)
    seeders = {"numpy": "np.random.seed", "torch": "torch.manual_seed", "random": "random.seed"}
    given = {source for source, seeder in seeders.items() if f" {seeder}(run_seed)" in done.text}
    assert given == seeded
    # A seed that the script sets anew takes away what was set before.
    assert ("draws other numbers in each start" in said(done, Kind.DIFFERS)) is ("time.time()" in seeding)


def test_a_seed_that_is_set_only_where_it_is_asked_for_is_none():
    done = adapt("""
        import argparse
        import random
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int)
        args = parser.parse_args()
        if args.seed is not None:
            random.seed(args.seed)
        train = random.sample(range(9), 3)
        weights = 0.0
        for epoch in range(3):
            weights += sum(train)
    """)
    assert "    random.seed(run_seed)\n" in done.text
    kept = adapt("""
        import argparse
        import random
        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=3)
        args = parser.parse_args()
        if args.seed is not None:
            random.seed(args.seed)
        train = random.sample(range(9), 3)
        weights = 0.0
        for epoch in range(3):
            weights += sum(train)
    """)
    assert "run_seed" not in kept.text


def test_numbers_drawn_for_a_seed_follow_from_the_run(tmp_path):
    done = adapt("""
        import random
        seed = random.randint(1, 10000)
        random.seed(seed)
        train = random.sample(range(1000), 9)
        print(train)
        weights = 0.0
        for epoch in range(3):
            weights += sum(train)
    """)
    assert len({start(tmp_path, done.text, OUTLAST_RUN="a") for _ in range(2)}) == 1
    assert len({start(tmp_path, done.text) for _ in range(2)}) == 2


def test_a_name_of_the_script_is_not_taken_for_a_module():
    done = adapt_plainly("""
        from random import random, shuffle
        rows = list(range(1000))
        shuffle(rows)
        train = rows[:500] + [random()]
        print(train)
        seen = []
        for epoch in range(3):
            seen.append(len(train))
    """)
    assert "\nimport random" not in done.text


@pytest.mark.parametrize(
    ("listing", "is_told"),
    [
        ("files = os.listdir('data')", True),
        ("files = [f for f in glob.glob('data/*.png') if 'a' in f]", True),
        ("files = []\nfor name in os.scandir('data'):\n    files.append(name.path)", True),
        ("files = sorted(os.listdir('data'))", False),
        ("files = os.listdir('data')\nfiles.sort()", False),
        ("files = [1, 2]\nnames = os.listdir('data')", False),
    ],
)
def test_a_choice_from_files_in_no_order_is_told(listing, is_told):
    done = adapt_plainly(
        f"import glob\nimport os\nimport random\nrandom.seed(0)\n{listing}\nrandom.shuffle(files)\ntrain = [len(files)]"
        + _LOOP
    )
    assert ("in another order where they are copied anew" in said(done, Kind.DIFFERS)) is is_told


_PARTS = {
    "when it is called": """
        import random
        def split():
            rows = list(range(1000))
            random.shuffle(rows)
            return rows[:3]
    """,
    "when it is imported": """
        import random
        ROWS = list(range(1000))
        random.shuffle(ROWS)
        def split():
            return ROWS[:3]
    """,
}


@pytest.mark.parametrize("reading", _PARTS.values(), ids=_PARTS)
@pytest.mark.parametrize("contract", ["modelarts", "plain"])
def test_what_a_module_draws_is_the_same_in_each_stint(tmp_path, reading, contract):
    program = Program(
        tmp_path / "code",
        reading=reading,
        engine="""
            def fit(model, optimizer, rows):
                for epoch in range(3):
                    for x, y in [(0.5, 1.0)]:
                        STEP
                    print("epoch", epoch, flush=True)
        """,
        train="""
            import torch
            from reading import split
            from engine import fit

            rows = split()
            print(rows, flush=True)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            fit(model, optimizer, rows)
        """,
    )
    program.adapt(contract)
    out = ["--train_url", str(tmp_path / "out")] if contract == "modelarts" else []
    by_hand = {program.run().lines[0] for _ in range(2)}
    assert len(by_hand) == 2
    if contract == "modelarts":
        before, after = program.run(*out, until="epoch 1"), program.run(*out)
        assert after.code == 0, after.error
        assert before.lines[0] == after.lines[0]
    else:
        text = program.text("train.py")
        assert text.index("random.seed(run_seed)") < text.index("split()\n")
        is_early = "ROWS" in reading
        assert (text.index("random.seed(run_seed)") < text.index("from reading")) is is_early


@pytest.mark.parametrize(
    ("first", "then", "is_seeded"),
    [("folder = random.randint(1, 9)", "train()", True), ("train()", "folder = random.randint(1, 9)", False)],
)
def test_a_seed_that_is_set_behind_a_draw_is_none_for_it(first, then, is_seeded):
    done = adapt(f"""
        import random, torch
        def train():
            random.seed(7)
            model = torch.nn.Linear(3, 3)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for epoch in range(3):
                optimizer.zero_grad()
                model(torch.ones(3)).sum().backward()
                optimizer.step()
        {first}
        {then}
    """)
    assert ("random.seed(run_seed)" in done.text) is is_seeded
