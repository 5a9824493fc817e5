"""Results in folders that a start numbers: each stint finds what the ones before have left."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

ROUNDS = """
    net = nn.Linear(1, 1)
    opt = torch.optim.SGD(net.parameters())
    for epoch in range(5):
        loss = sum(step(net, opt, x, y) for x, y in POINTS)
        if epoch == 1:
            torch.save(net.state_dict(), os.path.join(out, "best.pt"))
        print(epoch, loss)
    net.load_state_dict(torch.load(os.path.join(out, "best.pt")))
    print("end", net(1.0).item())
"""
FUNCTIONS = {
    "a count": """
        def next_folder(root="runs"):
            os.makedirs(root, exist_ok=True)
            number = len([name for name in os.listdir(root) if name.startswith("exp")])
            path = os.path.join(root, f"exp{number}")
            os.makedirs(path)
            return path
    """,
    "the next after the last, as a path": """
        import pathlib
        def next_folder(root="runs"):
            root = pathlib.Path(root)
            root.mkdir(exist_ok=True)
            number = max([int(each.name[3:]) for each in root.glob("exp*")], default=-1) + 1
            made = root / ("exp%d" % number)
            made.mkdir()
            return made
    """,
    "a question for each": """
        def next_folder(root="runs"):
            number = 0
            while os.path.exists(os.path.join(root, "exp" + str(number))):
                number += 1
            os.makedirs(os.path.join(root, "exp" + str(number)))
            return os.path.join(root, "exp" + str(number))
    """,
    "the first that is free": """
        def next_folder(root="runs"):
            for number in range(1000):
                path = "{}/exp{}".format(root, number)
                if not os.path.isdir(path):
                    os.makedirs(path)
                    return path
    """,
}
LINES = {
    "a count": """
        os.makedirs("runs", exist_ok=True)
        number = len(os.listdir("runs"))
        out = f"runs/exp{number}"
        os.makedirs(out)
    """,
    "a question for each": """
        number, out = 0, "runs/exp0"
        while os.path.exists(out):
            number += 1
            out = f"runs/exp{number}"
        os.makedirs(out)
    """,
}


def _text(shape):
    if shape in FUNCTIONS:
        return textwrap.dedent(FUNCTIONS[shape]) + "if True:\n    out = next_folder()\n" + ROUNDS
    return textwrap.dedent(LINES[shape[5:]]) + "if True:" + ROUNDS


@pytest.mark.parametrize("shape", [*FUNCTIONS, *(f"line {each}" for each in LINES)])
def test_a_numbered_folder_is_the_same_in_each_stint(shape, run, tmp_path):
    text = HEAD + STEP + "import os\n" + _text(shape)
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert "all stints have the first one's" in said(done, Kind.CHANGED)
    assert run(done.text).output.splitlines() == lines and len(list((tmp_path / "runs").iterdir())) == 2, "by hand"
    for stop in range(1, 7):
        folder = tmp_path / f"out{stop}"
        assert run(done.text, "--train_url", str(folder), kill_after=stop).was_killed
        again = run(done.text, "--train_url", str(folder)).output.splitlines()
        assert again == lines[-len(again) :], stop
        assert len(list(folder.rglob("exp*"))) == len(list(folder.rglob("best.pt"))) == 1


def test_a_folder_that_is_gone_is_made_again(run, tmp_path):
    text = HEAD + STEP + "import os\n" + _text("a count")
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, "--train_url", str(tmp_path / "a"), env=env, kill_after=1).was_killed
    run(done.text, "--train_url", str(tmp_path / "b"), env=env)
    assert (tmp_path / "b/exp0/best.pt").exists() and not (tmp_path / "a/exp0/best.pt").exists()


def test_without_an_output_folder_it_is_told():
    done = adapt_plainly(HEAD + STEP + "import os\n" + _text("a count"))
    assert "each stint has one of its own" in said(done, Kind.DIFFERS) and "first_place" not in done.text


def test_what_counts_data_or_asks_for_a_file_is_left_alone():
    text = """
        import os
        def load(root):
            count = len(os.listdir(root))
            return [open(os.path.join(root, str(each))).read() for each in range(count)]
        rows = load("data")
        out = "runs"
        while not os.path.exists("go"):
            rows = rows[1:]
        if True:
    """
    done = adapt(HEAD + STEP + textwrap.dedent(text) + ROUNDS)
    assert "first_place" not in done.text
