"""Numbers that a script draws from a generator of its own are not those of torch."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

SCRIPT = """
import torch
from torch import nn
numbers = torch.Generator().manual_seed(3)
order = torch.randperm(9, generator={})
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for at in order[:6]:
        loss = net(torch.ones(1) * at).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(("given", "is_own"), [("numbers", True), ("None", False)])
def test_a_seeded_generator_needs_no_seed_of_torch(given, is_own):
    done = adapt(SCRIPT.format(given))
    assert ("randperm draws other numbers" not in said(done, Kind.CHANGED)) is is_own
