"""A MindSpore that is just large enough to train a line: real numbers, real Parameters, and nothing to install.

Gradients are found by trying: each number of each Parameter is moved a little.
"""

from __future__ import annotations

import types

import numpy as np

_STEP = 1e-6


class Tensor:
    def __init__(self, value, dtype=None):
        self.numbers = np.array(value.numbers if isinstance(value, Tensor) else value, dtype=float)

    dtype = "Float64"

    def asnumpy(self):
        return self.numbers.copy()

    def __add__(self, other):
        return Tensor(self.numbers + _numbers(other))

    def __sub__(self, other):
        return Tensor(self.numbers - _numbers(other))

    def __mul__(self, other):
        return Tensor(self.numbers * _numbers(other))

    def __lt__(self, other):
        return bool(self.numbers < _numbers(other))

    def __float__(self):
        return float(self.numbers)

    def __reduce__(self):
        raise TypeError("cannot pickle a Tensor")


def _numbers(value):
    return value.numbers if isinstance(value, Tensor) else value


class Parameter(Tensor):
    def __init__(self, value, name="parameter"):
        super().__init__(value)
        self.name = name


class Cell:
    def get_parameters(self):
        for value in vars(self).values():
            if isinstance(value, Parameter):
                yield value
            elif isinstance(value, Cell):
                yield from value.get_parameters()
            elif isinstance(value, tuple):
                yield from (each for each in value if isinstance(each, Parameter))

    def trainable_params(self):
        return [each for each in self.get_parameters() if each.name != "moving_mean"]

    def set_train(self, mode=True):
        return self

    def __call__(self, *given):
        return self.construct(*given)

    def __reduce__(self):
        raise TypeError("cannot pickle a Cell")


class Dense(Cell):
    """With a mean of what it has seen, which no optimizer trains."""

    def __init__(self, *_):
        self.weight = Parameter(np.random.random(), "weight")
        self.mean = Parameter(0.0, "moving_mean")

    def construct(self, x):
        self.mean.numbers = 0.9 * self.mean.numbers + 0.1 * _numbers(x)
        return self.weight * x + self.mean


class Momentum(Cell):
    def __init__(self, params, learning_rate=0.05, momentum=0.9):
        self.parameters = tuple(params)
        self.moments = tuple(Parameter(0.0 * each.numbers, "moment") for each in self.parameters)
        self.global_step = Parameter(0.0, "global_step")
        self.learning_rate, self.momentum = Parameter(learning_rate, "learning_rate"), momentum

    def construct(self, grads):
        assign(self.global_step, self.global_step + 1)
        for each, moment, grad in zip(self.parameters, self.moments, grads, strict=True):
            assign(moment, moment * self.momentum - grad * float(self.learning_rate) * (1 / float(self.global_step)))
            assign(each, each + moment)
        return True


class WithLossCell(Cell):
    def __init__(self, network, loss):
        self.network, self.loss = network, loss

    def construct(self, x, y):
        return self.loss(self.network(x), y)


class TrainOneStepCell(Cell):
    def __init__(self, network, optimizer):
        self.network, self.optimizer = network, optimizer
        self.grad = value_and_grad(network, None, optimizer.parameters)

    def construct(self, *given):
        loss, grads = self.grad(*given)
        self.optimizer(grads)
        return loss


class MSELoss(Cell):
    def construct(self, one, other):
        return (one - other) * (one - other)


class DynamicLossScaler:
    def __init__(self, scale_value, scale_factor, scale_window):
        self.scale_value, self.counter = Parameter(scale_value, "scale_value"), Parameter(0.0, "counter")
        self.factor, self.window = scale_factor, scale_window

    def scale(self, loss):
        return loss * self.scale_value

    def unscale(self, values):
        return [each * (1 / float(self.scale_value)) for each in values]

    def adjust(self, is_finite):
        assign(self.counter, self.counter + 1)
        if float(self.counter) % self.window == 0:
            assign(self.scale_value, self.scale_value * self.factor)


def assign(parameter, value):
    parameter.numbers = np.array(_numbers(value), dtype=float)


def value_and_grad(function, position, weights, has_aux=False):
    def both(*given):
        means = [(each, each.numbers.copy()) for each in _means(function)]
        result = function(*given)
        after = [(each, each.numbers.copy()) for each, _ in means]
        loss, grads = result[0] if has_aux else result, []
        for weight in weights:
            for each, number in means:
                each.numbers = number.copy()
            weight.numbers = weight.numbers + _STEP
            moved = function(*given)
            weight.numbers = weight.numbers - _STEP
            grads.append(((moved[0] if has_aux else moved) - loss) * (1 / _STEP))
        for each, number in after:
            each.numbers = number
        return result, grads

    return both


def _means(function):
    """Parameters that a forward pass changes; trying must not count."""
    cells = [function] if isinstance(function, Cell) else []
    held = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    held += list(getattr(function, "__globals__", {}).values())
    held += list(vars(getattr(function, "__self__", None) or Tensor(0)).values())
    cells += [each for each in held if isinstance(each, Cell)]
    return list({id(p): p for cell in cells for p in cell.get_parameters() if p.name == "moving_mean"}.values())


def mindspore() -> dict[str, types.ModuleType]:
    """The modules of it, as `sys.modules` holds them."""
    whole, nn, ops, amp = (types.ModuleType(f"mindspore{end}") for end in ("", ".nn", ".ops", ".amp"))
    for each in (Cell, Dense, Momentum, WithLossCell, TrainOneStepCell, MSELoss):
        setattr(nn, each.__name__, each)
    ops.assign, ops.depend = assign, lambda value, _: value
    amp.DynamicLossScaler = DynamicLossScaler
    whole.nn, whole.ops, whole.amp, whole.jit = nn, ops, amp, lambda function: function
    whole.Tensor, whole.Parameter, whole.value_and_grad = Tensor, Parameter, value_and_grad
    whole.set_seed = np.random.seed
    return {each.__name__: each for each in (whole, nn, ops, amp)}
