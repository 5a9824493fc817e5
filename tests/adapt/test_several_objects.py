"""A training in a method: of several objects each has a checkpoint, and of several processes none can have one."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

PART = """
        class Part:
            def __init__(self, name):
                self.name, self.net = name, nn.Linear(1, 1)
                self.opt = torch.optim.SGD(self.net.parameters())
            def learn(self, start):
                for epoch in range(3):
                    for x, y in POINTS:
                        step(self.net, self.opt, x + start, y)
                    print(self.name, epoch, self.net(1.0).item())
                return self.net(start).item()
"""
LISTED = {
    "through a list": """
        parts = [Part(name) for name in "ab"]
        start = 0.5
        for at, part in enumerate(parts):
            start = part.learn(start)
    """,
    "through a list that grows": """
        class Whole:
            def __init__(self):
                self.parts = []
                for name in "ab":
                    self.parts = self.parts + [Part(name)]
            def learn(self):
                start = 0.5
                for part in self.parts:
                    start = part.learn(start)
        Whole().learn()
    """,
    "by their numbers": """
        parts = {}
        for at in range(2):
            parts[at] = Part("ab"[at])
        start = 0.5
        for at in range(2):
            start = parts[at].learn(start)
    """,
}


@pytest.mark.parametrize("shape", LISTED)
def test_each_of_several_objects_has_a_checkpoint_of_its_own(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(PART) + textwrap.dedent(LISTED[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=5).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[4:]
    assert {path.name for path in (tmp_path / "kept").iterdir()} == {"resume-0.pt", "resume-1.pt"}


SIDE = """
import torch
import torch.multiprocessing as mp
from torch import nn
{more}
def train(rank, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(5):
        optimizer.zero_grad()
        model(torch.ones(1)).sum().backward()
        optimizer.step()
if __name__ == "__main__":
    model = nn.Linear(1, 1)
    {start}
"""


def test_processes_that_each_train_are_refused():
    many = "parts = [mp.Process(target=train, args=(at, model)) for at in range(2)]"
    assert "several processes run this training, each by train()" in said(
        adapt(SIDE.format(more="", start=many)), Kind.HAND
    )


def test_one_process_or_a_group_of_them_goes_on():
    one = "mp.Process(target=train, args=(0, model)).start()"
    many = "parts = [mp.Process(target=train, args=(at, model)) for at in range(2)]"
    group = (
        "def setup(rank):\n    torch.distributed.init_process_group('gloo', rank=rank, world_size=2)\nFIRST = [setup]"
    )
    for text in (SIDE.format(more="", start=one), SIDE.format(more=group, start=many)):
        assert adapt(text).is_complete
