"""Libraries that follow a training: what they write lies among the results, and each stint begins another record."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TRACKED = """
import torch
import wandb
class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
    def train(self):
        self.run = wandb.init({told})
        for epoch in range(3):
            self.opt.zero_grad()
            loss = self.model(torch.ones(1)).sum()
            loss.backward()
            self.opt.step()
            self.run.log({{"loss": loss.item()}})
        self.run.finish()
Trainer(torch.nn.Linear(1, 1)).train()
"""


@pytest.mark.parametrize("told", ["", 'dir="logs"'])
def test_a_record_is_no_state_of_the_training(told):
    done = adapt(TRACKED.format(told=told))
    assert "self.run" not in said(done, Kind.DIFFERS)
    assert "goes on from its last checkpoint" in said(done, Kind.CHANGED)


def test_files_of_a_record_lie_in_the_output_folder():
    done = adapt(TRACKED.format(told='project="a"'))
    assert 'os.environ.setdefault("WANDB_DIR", os.path.join(os.path.abspath(contract.train_url), ""))' in done.text
    done = adapt(TRACKED.format(told='dir="logs"'))
    assert 'dir=contract.train_url or "logs"' in done.text and "WANDB_DIR" not in done.text


def test_the_name_of_a_thing_is_no_place():
    done = adapt(
        'import wandb\nfound = wandb.Artifact("rows", type="dataset")\nfound.add("a", name="input/train.csv")\n'
    )
    assert "input/train.csv" not in said(done, Kind.DIFFERS)
