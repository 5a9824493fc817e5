"""A model is in the mode behind a training that it would be in without a stop."""

from __future__ import annotations

import pytest
from checked import adapt_plainly
from torch_stage import HEAD, STEP

ROUNDS = """
def check(model):
    model.eval()
    return 0.5 if model.training else 0.25
def fit(model, opt):
    for epoch in range(3):
        model.train()
        loss = sum(step(model, opt, x, y) for x, y in POINTS)
        print(epoch, loss, check(model))
model = nn.Linear(1, 1)
fit(model, torch.optim.SGD(model.parameters()))
print("end", model.training, model(1.0).item())
"""


@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_what_follows_a_finished_training_finds_the_mode_of_its_last_round(stop, run, tmp_path):
    text = HEAD + STEP + ROUNDS
    lines = run(text).output.splitlines()
    assert lines[-1].startswith("end False")
    done = adapt_plainly(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=stop).was_killed
    assert run(done.text, env=env).output.splitlines()[-1] == lines[-1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('print("end"', 'model.eval()\nprint("end"'),
        ("    model.eval()\n", ""),
    ],
)
def test_where_the_script_says_it_nothing_is_added(before, after):
    assert '"model.training"' not in adapt_plainly(HEAD + STEP + ROUNDS.replace(before, after)).text


@pytest.mark.parametrize("stop", [2, 3])
def test_the_next_round_finds_the_mode_that_the_last_one_left(stop, run, tmp_path):
    text = (
        HEAD
        + STEP
        + """
def check(net):
    net.eval()
    return 0.25
model = nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters())
model.train()
for epoch in range(4):
    print(epoch, model.training, sum(step(model, opt, x, y) for x, y in POINTS), check(model))
"""
    )
    lines = run(text).output.splitlines()
    assert lines[-1].startswith("3 False")
    done = adapt_plainly(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=stop).was_killed
    rest = run(done.text, env=env).output.splitlines()
    assert len(rest) < len(lines) and rest == lines[len(lines) - len(rest) :]
