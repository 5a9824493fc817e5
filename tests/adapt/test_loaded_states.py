"""Weights in a folder that is called after data: what a model takes over tells what they are."""

from __future__ import annotations

import pytest
from programs import Program

WAYS = {
    "as it is": "net.load_state_dict(torch.load(path))",
    "by parts": """state = torch.load(path, map_location="cpu")
own = net.state_dict()
state = {key: value for key, value in state.items() if key in own}
own.update(state)
net.load_state_dict(own)""",
    "one by one": """loaded = torch.load(path)["model"]
chosen = {}
for key, value in loaded.items():
    chosen[key] = value
net.load_state_dict(chosen)""",
}
HEAD = """
import os
import torch
path = "model_data/start.pth"
rows = "rows"
net = torch.nn.Linear(1, 1)
with open(os.path.join(rows, "a/train.txt")) as file:
    lines = file.readlines()
"""


@pytest.mark.parametrize("way", WAYS)
def test_what_a_model_takes_over_is_weights_whatever_its_folder_is_called(way, tmp_path):
    program = Program(tmp_path / "code", train=HEAD + WAYS[way])
    told = [each.message for each in program.adapt().findings]
    assert 'path = contract.pretrain_url or "model_data/start.pth"' in program.text("train.py")
    assert 'rows = contract.data_url or "rows"' in program.text("train.py")
    assert not any("must hold" in each for each in told)


def test_what_a_model_is_only_made_with_stays_data(tmp_path):
    train = HEAD.replace("model_data/start.pth", "rows/data.pth") + (
        "words = torch.load(path)\n"
        "net = torch.nn.Linear(len(words), 1)\n"
        "target = torch.nn.Linear(1, 1)\n"
        "target.load_state_dict(net.state_dict())\n"
    )
    program = Program(tmp_path / "code", train=train)
    program.adapt()
    assert 'path = os.path.join(contract.data_url or "rows", "data.pth")' in program.text("train.py")
