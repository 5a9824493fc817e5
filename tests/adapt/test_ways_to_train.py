"""Several methods of one class that each train: a start runs one of them, or it is not known how often each is run."""

from __future__ import annotations

import pytest
from programs import Program

SOLVER = """
    import torch
    class Solver:
        def __init__(self, rows):
            self.rows = rows
            self.net = torch.nn.Linear(1, 1)
            self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        def learn(self, x, y):
            model, optimizer = self.net, self.optimizer
            STEP
        def train_one(self):
            for epoch in range(4):
                for x, y in self.rows:
                    self.learn(x, y)
                print("one", epoch, self.net(1.0).item())
        def train_both(self):
            for epoch in range(4):
                for x, y in self.rows:
                    self.learn(x, y)
                    self.learn(y, x)
                print("both", epoch, self.net(1.0).item())
"""
SCRIPT = """
    import argparse
    import torch
    from solver import Solver
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="one")
    args = parser.parse_args()
    torch.manual_seed(0)
    solver = Solver([(0.5, 1.0), (0.25, 0.5)])
"""
EITHER = """
    if args.kind == "one":
        solver.train_one()
    elif args.kind == "both":
        solver.train_both()
"""
UNKNOWN = {
    "one after the other": "solver.train_one()\n    solver.train_both()",
    "in a loop": "for kind in (1, 2):\n        if kind == 1:\n            solver.train_one()\n"
    "        else:\n            solver.train_both()",
    "by a name that is put together": "getattr(solver, 'train_' + args.kind)()",
}


@pytest.mark.parametrize("kind", ["one", "both"])
def test_of_two_ways_to_train_each_goes_on(kind, tmp_path):
    program = Program(tmp_path, solver=SOLVER, train=SCRIPT + EITHER)
    assert not program.adapt().by_hand
    expected = program.run("--kind", kind)
    flags = ("--kind", kind, "--train_url", str(tmp_path / "out"))
    program.run(*flags, until=f"{kind} 2")
    after = program.run(*flags)
    assert after.code == 0, after.error
    assert after.lines == expected.lines[2:]


@pytest.mark.parametrize("ending", UNKNOWN)
def test_ways_to_train_that_are_not_known_to_exclude_each_other_are_refused(ending, tmp_path):
    program = Program(tmp_path, solver=SOLVER, train=f"{SCRIPT}    {UNKNOWN[ending]}\n")
    (said,) = [each.message for each in program.adapt().by_hand]
    assert said.startswith("there are 2 training loops")
