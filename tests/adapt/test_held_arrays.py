"""Arrays and containers that rounds change where they lie, and that somebody else reads when the loop is done."""

from __future__ import annotations

import pytest
from checked import adapt_plainly
from torch_stage import HEAD as TORCH_HEAD
from torch_stage import STEP

HEAD = """
import numpy as np

def step(held):
    held[1] += 2

def fit(weights, seen, first, n):
    alias = weights
    for epoch in range(n):
        {change}
        print("epoch", epoch, flush=True)

weights, seen, first = np.zeros(3), {{0: 0}}, [0, 0]
fit(weights, seen, first, 4)
print(weights.tolist(), seen, first)
"""

HANDED = """
import numpy as np

def train(model, losses, counts, best, n):
    optimizer = torch.optim.SGD(model.parameters())
    for epoch in range(n):
        losses[epoch] = sum(step(model, optimizer, x, y) for x, y in POINTS)
        counts[0] += epoch
        best["epoch"] = epoch
        print("epoch", epoch)

losses, counts, best = np.zeros(5), [0] * 2, {"first": 1}
train(nn.Linear(1, 1), losses, counts, best, 5)
print(losses.tolist(), counts, best)
"""


@pytest.mark.parametrize(
    "change",
    ["weights += epoch", "alias -= epoch", "weights[0] += epoch", "seen[epoch] = epoch", "first[1] += epoch",
     "step(weights)"],
)  # fmt: skip
def test_what_is_handed_in_and_changed_where_it_lies_is_whole_behind_the_loop(change, run, tmp_path):
    text = HEAD.format(change=change)
    done, lines = adapt_plainly(text), run(text).output.splitlines()
    assert run(done.text).output.splitlines() == lines
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=2).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]


def test_an_array_with_two_names_is_filled_for_both():
    done = adapt_plainly("import numpy as np\na = np.zeros(3)\nw = a\nfor epoch in range(4):\n    w += 1\nprint(a)\n")
    assert 'w = fill_in_place(w, resumed["w"])' in done.text


@pytest.mark.parametrize(
    "script",
    [
        # nobody else knows of a new array
        "import numpy as np\na = np.zeros(3)\nw = a\nfor epoch in range(4):\n    w = w + 1\nprint(a, w)\n",
        "import numpy as np\nw = np.zeros(3)\nfor epoch in range(4):\n    w += 1\nprint(w)\n",
        "def fit(n, step):\n    for epoch in range(n):\n        step += 1\n        print(step)\nfit(4, 0)\n",
        "start = 0\ntotal = start\nfor epoch in range(4):\n    total += 1\nprint(total)\n",
    ],
)
def test_what_nobody_else_holds_is_set_by_its_name(script):
    assert "fill_in_place" not in adapt_plainly(script).text


def test_a_training_of_torch_fills_what_it_is_handed(run, tmp_path):
    text = TORCH_HEAD + STEP + HANDED
    done, lines = adapt_plainly(text), run(text).output.splitlines()
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=2).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]


LAYERS = """
import numpy as np
np.random.seed(2)

class Net:
    def __init__(self, sizes):
        self.sizes = sizes
        self.weights = [np.random.randn(y, x).astype(np.float32) for x, y in zip(sizes[:-1], sizes[1:])]

    def slopes(self, x):
        return [np.random.randn(*w.shape) * x for w in self.weights]

    def fit(self, rows, n):
        for epoch in range(n):
            np.random.shuffle(rows)
            for x in rows:
                self.step(x)
            print("epoch", epoch, sum(float(w.sum()) for w in self.weights), flush=True)

    def step(self, x):
        self.weights = [w - 0.1 * slope for w, slope in zip(self.weights, self.slopes(x))]

Net([3, 2, 1]).fit([1.0, 2.0, 3.0], 5)
"""


def test_layers_in_lists_of_a_class_go_on(run, tmp_path):
    done, lines = adapt_plainly(LAYERS), run(LAYERS).output.splitlines()
    assert done.is_complete
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=2).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]
