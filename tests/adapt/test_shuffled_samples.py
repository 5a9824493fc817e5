"""The order in which a round leaves its samples is the one that the next round begins with, also after a stop."""

from __future__ import annotations

import pytest
from checked import adapt_plainly
from torch_stage import HEAD, STEP

TEXT = """
import random
def halves(rows):
    random.shuffle(rows)
    return rows[:6], rows[6:]
def fit(net, opt, data):
    MIX
    return sum(step(net, opt, x, y) for x, y in data)
random.seed(3)
train, test = halves([(float(at), 2.0 * at) for at in range(9)])
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
for epoch in range(4):
    print(epoch, fit(net, opt, train), test)
"""


@pytest.mark.parametrize("stop", [2, 3])
def test_samples_that_a_function_shuffles_go_on_in_their_order(stop, run, tmp_path):
    text = HEAD + STEP + TEXT.replace("MIX", "random.shuffle(data)")
    lines = run(text).output.splitlines()
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    done = adapt_plainly(text)
    assert '"train": train' in done.text and '"test": test' not in done.text
    assert run(done.text, env=env, kill_after=stop).was_killed
    rest = run(done.text, env=env).output.splitlines()
    assert len(rest) < len(lines) and rest == lines[len(lines) - len(rest) :]


@pytest.mark.parametrize("mix", ["pass", "data = sorted(data)", "copy = list(data); random.shuffle(copy)"])
def test_samples_that_stay_as_they_are_are_not_saved(mix):
    assert '"train": train' not in adapt_plainly(HEAD + STEP + TEXT.replace("MIX", mix)).text
