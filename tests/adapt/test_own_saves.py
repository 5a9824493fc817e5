"""What only the script itself has saved: nobody is asked to bring it."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

GOES_ON = {
    "the caller asks": """
import os
import torch
class Trainer:
    def __init__(self, net, path):
        self.net, self.path, self.done = net, path, 0
        if os.path.exists(path):
            self.load(path)

    def load(self, path):
        saved = torch.load(path)
        self.net.load_state_dict(saved["net"])
        self.done = saved["done"]

    def train(self, rounds):
        for at in range(self.done, rounds):
            torch.save({"net": self.net.state_dict(), "done": at}, self.path)

Trainer(torch.nn.Linear(2, 1), "last.pt").train(3)
""",
    "its folder must be there": """
import argparse
import os
import torch
p = argparse.ArgumentParser()
p.add_argument("--resume", action="store_true")
args = p.parse_args()
net, first = torch.nn.Linear(2, 1), 0
if args.resume:
    assert os.path.isdir("saved"), "nothing to go on with"
    state = torch.load("./saved/last.pt")
    net.load_state_dict(state["net"])
    first = state["at"]
for at in range(first, 3):
    if not os.path.isdir("saved"):
        os.mkdir("saved")
    torch.save({"net": net.state_dict(), "at": at}, "./saved/last.pt")
""",
}


@pytest.mark.parametrize("way", GOES_ON)
def test_what_only_the_script_itself_has_saved_is_not_asked_for_elsewhere(way):
    done = adapt(GOES_ON[way])
    assert "find_delivered" not in done.text and "pretrain_url" not in done.text
    assert "is looked for" not in said(done, Kind.CHANGED)


def test_a_file_that_must_be_there_itself_may_be_brought():
    done = adapt(
        GOES_ON["its folder must be there"].replace('os.path.isdir("saved"), ', 'os.path.isfile("./saved/last.pt"), ')
    )
    assert done.text.count("find_delivered(os.path.join(") == 2
    assert "is looked for in --train_url, then in --pretrain_url" in said(done, Kind.CHANGED)
