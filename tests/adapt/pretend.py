"""A torch that is just large enough to train a line: real numbers, real state, and nothing to install.

Values carry their derivatives with them, so `backward` only has to hand them out.
"""

from __future__ import annotations

import pickle
import random
import sys
import types
from pathlib import Path

_source = random.Random(0)


class Value:
    def __init__(self, number, slopes=None):
        self.number, self.slopes = number, slopes or {}

    def _with(self, other, number, mine, theirs):
        slopes = {key: mine * slope for key, slope in self.slopes.items()}
        for key, slope in getattr(other, "slopes", {}).items():
            slopes[key] = slopes.get(key, 0.0) + theirs * slope
        return Value(number, slopes)

    def __add__(self, other):
        return self._with(other, self.number + _number(other), 1.0, 1.0)

    def __sub__(self, other):
        return self._with(other, self.number - _number(other), 1.0, -1.0)

    def __mul__(self, other):
        return self._with(other, self.number * _number(other), _number(other), self.number)

    def item(self):
        return self.number

    def backward(self):
        for parameter, slope in self.slopes.items():
            parameter.grad += slope


def _number(value):
    return value.number if isinstance(value, Value) else value


class Parameter:
    def __init__(self, number):
        self.number, self.grad, self.requires_grad = number, 0.0, True


class Module:
    def parameters(self):
        for value in vars(self).values():
            if isinstance(value, Parameter):
                yield value
            elif isinstance(value, Module):
                yield from value.parameters()

    def state_dict(self):
        return [each.number for each in self.parameters()]

    def load_state_dict(self, state):
        for each, number in zip(self.parameters(), state, strict=True):
            each.number = number

    training = True

    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)

    def __call__(self, *given):
        return self.forward(*given)


class Linear(Module):
    def __init__(self, *_):
        self.weight, self.bias = Parameter(_source.random()), Parameter(0.0)

    def forward(self, x):
        weight, bias = (Value(each.number, {each: 1.0}) for each in (self.weight, self.bias))
        return weight * x + bias


class DataParallel(Module):
    """A model around another one, which it names in its state."""

    def __init__(self, module):
        self.module = module

    def forward(self, x):
        return self.module(x)

    def state_dict(self):
        return {"module": self.module.state_dict()}

    def load_state_dict(self, state):
        self.module.load_state_dict(state["module"])


class SGD:
    def __init__(self, parameters, lr=0.1, momentum=0.9):
        self.lr, self.momentum = lr, momentum
        self._parameters = list(parameters)
        self._speeds = [0.0] * len(self._parameters)

    def zero_grad(self):
        for each in self._parameters:
            each.grad = 0.0

    def step(self):
        for at, each in enumerate(self._parameters):
            if not each.requires_grad:
                continue
            self._speeds[at] = self.momentum * self._speeds[at] - self.lr * each.grad
            each.number += self._speeds[at]

    def state_dict(self):
        return {"lr": self.lr, "speeds": list(self._speeds)}

    def load_state_dict(self, state):
        self.lr, self._speeds = state["lr"], list(state["speeds"])


class StepLR:
    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.count = optimizer, every, 0

    def step(self):
        self.count += 1
        if self.count % self.every == 0:
            self.optimizer.lr *= 0.5

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


def save(state, path):
    Path(path).write_bytes(pickle.dumps(state))


def load(path, map_location=None, pickle_module=None):
    return pickle.loads(Path(path).read_bytes())


def torch() -> dict[str, types.ModuleType]:
    """The modules of it, as `sys.modules` holds them."""
    whole, nn, optim = (types.ModuleType(name) for name in ("torch", "torch.nn", "torch.optim"))
    schedulers, distributed = types.ModuleType("torch.optim.lr_scheduler"), types.ModuleType("torch.distributed")
    nn.Module, nn.Linear, optim.SGD, schedulers.StepLR = Module, Linear, SGD, StepLR
    nn.DataParallel, nn.parallel = DataParallel, types.SimpleNamespace(DistributedDataParallel=DataParallel)
    distributed.is_available = lambda: True
    distributed.is_initialized = lambda: False
    optim.lr_scheduler = schedulers
    whole.nn, whole.optim, whole.distributed, whole.save, whole.load = nn, optim, distributed, save, load
    whole.manual_seed, whole.is_tensor = _source.seed, lambda value: isinstance(value, Value)
    whole.get_rng_state, whole.set_rng_state, whole.draw = _source.getstate, _source.setstate, _source.random
    return {each.__name__: each for each in (whole, nn, optim, schedulers, distributed)}


def other_file(**names: object) -> types.ModuleType:
    """Another file of a project, which a script imports from."""
    made = types.ModuleType("parts")
    vars(made).update(names)
    sys.modules["parts"] = made
    return made
