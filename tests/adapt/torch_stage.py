"""What trainings of torch share that tests kill: a world that starts anew, and a step."""

from __future__ import annotations

import sys
import time

import pretend
import pytest
from stage import play

HEAD = """
import torch
from torch import nn
torch.manual_seed(0)
POINTS = [(torch.draw(), torch.draw()) for _ in range(4)]
"""
STEP = """
def step(net, opt, x, y):
    opt.zero_grad()
    away = net(x + torch.draw() * 0.1) - y
    loss = away * away
    loss.backward()
    opt.step()
    return loss.item()
"""


class Rising:
    """An optimizer of another file, without a state of its own: a rate that rises, around one of torch."""

    def __init__(self, optimizer):
        self._optimizer, self.steps = optimizer, 0

    def zero_grad(self):
        self._optimizer.zero_grad()

    def step(self):
        self.steps += 1
        self._optimizer.lr = 0.01 * self.steps
        self._optimizer.step()


class Choosing(pretend.SGD):
    """An optimizer of another file with a function among its settings."""

    def __init__(self, parameters):
        super().__init__(parameters)
        self.param_groups = [{"choose": lambda slope: slope, "rate": 1.0}]

    def step(self):
        [group] = self.param_groups
        group["rate"] *= 0.5
        self.lr = group["choose"](group["rate"])
        super().step()

    def state_dict(self):
        return {**super().state_dict(), "param_groups": [dict(each) for each in self.param_groups]}

    def load_state_dict(self, state):
        super().load_state_dict(state)
        self.param_groups = state["param_groups"]


def _build():
    net = pretend.Linear()
    return net, pretend.SGD(net.parameters())


@pytest.fixture(name="run")
def run_anew(monkeypatch, tmp_path):
    """Run a script in a new world: modules, seeds and the clock start anew."""

    def start(text, *argv, **words):
        for name, module in pretend.torch().items():
            monkeypatch.setitem(sys.modules, name, module)
        sys.modules["torch"].manual_seed(0)
        net, opt = _build()
        parts = pretend.other_file(build=_build, rate=lambda opt: pretend.StepLR(opt, 2), net=net, opt=opt)
        parts.Warmup = type("Warmup", (), {"__init__": lambda self, _: None, "step": lambda self: None})
        parts.Rising, parts.Choosing = Rising, Choosing
        monkeypatch.setitem(sys.modules, "parts", parts)
        clock = iter(range(10**6))
        with monkeypatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: float(next(clock)))
            return play(text, tmp_path, *argv, **words)

    return start
