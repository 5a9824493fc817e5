"""Changes that a training makes once, in the first round that is far enough: killed behind it, it goes on with them."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

NET = """
class Net(nn.Module):
    def __init__(self):
        self.inner = nn.Linear(1, 1)
    def forward(self, x):
        return self.inner(x)
    def freeze(self):
        self.inner.weight.requires_grad = False
    def unfreeze(self):
        self.inner.weight.requires_grad = True
def make_rate(first, last):
    def rate(at):
        return first + (last - first) * at / 6
    return rate
model = Net()
model.freeze()
optimizer = torch.optim.SGD(model.parameters())
"""
TURNS = {
    "by a flag": """
        is_free, rate, points = False, make_rate(0.1, 0.05), POINTS[:2]
        for epoch in range(6):
            if epoch >= 2 and not is_free:
                rate = make_rate(0.02, 0.01)
                model.unfreeze()
                points = list(POINTS)
                is_free = True
            optimizer.lr = rate(epoch)
            for x, y in points:
                step(model, optimizer, x, y)
            print(epoch, optimizer.lr, len(points), model(1.0).item())
    """,
    "in one round": """
        for epoch in range(6):
            if epoch == 2:
                for part in model.parameters():
                    part.requires_grad = True
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, model(1.0).item())
    """,
    "by a method in one round": """
        for epoch in range(6):
            if epoch == 2:
                model.unfreeze()
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, model(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", TURNS)
@pytest.mark.parametrize("after", [1, 2, 3, 5])
def test_a_stint_behind_the_turn_goes_on_as_without_a_stop(shape, after, run, tmp_path):
    text = HEAD + STEP + NET + textwrap.dedent(TURNS[shape])
    expected = run(text).output.splitlines()
    changed = adapt(text).text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(changed, env=env, kill_after=after).was_killed
    again = run(changed, env=env).output.splitlines()
    assert again == expected[len(expected) - len(again) :] and (len(again) < len(expected) or after == 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epoch >= 2 and not", "epoch == 2 and not"),
        ("epoch >= 2 and not is_free", "not is_free and model(1.0).item() > 1"),
        ("model.unfreeze()", "optimizer.lr *= 0.1"),
        ("points = list(POINTS)", "points = [*points, (epoch, 1.0)]"),
    ],
)
def test_what_cannot_be_made_once_more_keeps_its_flag(old, new):
    text = HEAD + STEP + NET + textwrap.dedent(TURNS["by a flag"].replace("rate = make_rate(0.02, 0.01)", "limit = 3"))
    assert '"is_free": is_free' not in adapt(text).text
    assert '"is_free": is_free' in adapt(text.replace(old, new)).text


@pytest.mark.parametrize("made", ["return rate", "return partial(rate)", "func = partial(rate)\n    return func"])
def test_a_function_that_some_rounds_make_is_refused(made):
    text = HEAD + STEP + "from functools import partial\n" + NET.replace("    return rate", f"    {made}")
    text += textwrap.dedent(TURNS["by a flag"])
    assert not adapt(text).findings[0].message.startswith("rate is a function")
    done = adapt(text.replace("epoch >= 2 and not is_free", "epoch % 2"))
    assert "rate is a function that make_rate makes in some rounds" in " ".join(each.message for each in done.findings)


def test_a_model_that_no_round_freezes_has_its_state_alone():
    text = HEAD + STEP + NET + textwrap.dedent(TURNS["in one round"]).replace("requires_grad = True", "grad = 0.0")
    assert "requires_grad" not in adapt(text).text.partition("resume_dir")[2]


REPLACED = """
import torch
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Linear(8, 2))
optimizer = torch.optim.Adam({first})
for epoch in range(10):
    if epoch == 5:
        optimizer = torch.optim.{again}
    for batch in batches:
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("net[1].parameters()", "Adam(net.parameters(), lr=0.01)"),
        ("net.parameters()", "SGD(net.parameters(), lr=0.01)"),
        ("[p for p in net.parameters() if p.requires_grad]", "Adam([p for p in net.parameters() if p.requires_grad])"),
    ],
)
def test_an_optimizer_that_a_round_makes_anew_for_other_weights_is_refused(first, again):
    done = adapt(REPLACED.format(first=first, again=again))
    assert not done.is_complete and "some rounds make optimizer anew" in done.findings[0].message


def test_an_optimizer_that_a_round_makes_anew_for_the_same_weights_goes_on():
    done = adapt(REPLACED.format(first="net.parameters()", again="Adam(net.parameters(), lr=0.01)"))
    assert done.is_complete and 'optimizer.load_state_dict(resumed["optimizer"])' in done.text
