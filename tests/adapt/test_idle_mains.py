"""A module's own `main`, which runs when it is started by itself, is no part of the program."""

from __future__ import annotations

import pytest
from programs import Program

NET = """
import torch
from torch import nn
class Net(nn.Linear):
    pass
def main():
    print(Net(1, 1)(torch.rand(1)))
if __name__ == "__main__":
    main()
"""
TRAIN = """
import torch
from net import Net
def main():
    model = Net(1, 1)
    optimizer = torch.optim.SGD(model.parameters())
    for epoch in range(3):
        for x, y in ((0.0, 1.0), (0.5, 2.0)):
            STEP
{}
if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(("line", "is_run"), [("", False), ("import net\nnet.main()", True)])
def test_what_it_draws_is_of_no_matter(tmp_path, line, is_run):
    program = Program(tmp_path, net=NET, train=TRAIN.format(line))
    said = [each.message for each in program.adapt().findings]
    assert any("rand draws other numbers" in each for each in said) is is_run
