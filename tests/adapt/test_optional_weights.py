"""Options for weights beside weights that torchvision fetches: the contract's place is for those that a start needs."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TEXT = """
import argparse
import torch
from torchvision import models
parser = argparse.ArgumentParser()
parser.add_argument("--load-path", {told})
args = parser.parse_args()
net = models.resnet18(weights="DEFAULT")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
if args.load_path:
    net.load_state_dict(torch.load(args.load_path)["net"])
for epoch in range(3):
    for batch in batches:
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize("told", ["default=None", "default=''", "type=str"])
def test_the_place_of_the_contract_is_for_what_is_fetched_in_each_start(told):
    done = adapt(TEXT.format(told=told), "xihe")
    assert "torch.hub.set_dir(hub_folder(args.pretrain_url))" in done.text and not said(done, Kind.HAND)
    assert "args.load_path =" not in done.text
    assert "--load-path stays as it is" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("told", ["required=True", "default='start.pt'"])
def test_weights_that_every_start_loads_keep_the_place(told):
    done = adapt(TEXT.format(told=told), "xihe")
    assert "args.load_path =" in done.text and "set_dir" not in done.text
    assert "resnet18 fetches weights" in said(done, Kind.HAND)
