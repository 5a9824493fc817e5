"""Trainings of MindSpore in loops of their own, in the shapes that people give them, killed after each printed line."""

from __future__ import annotations

import sys
import textwrap

import pretend_mindspore
import pytest
from checked import adapt_plainly as adapt
from checked import said
from stage import play

from outlast.migrate.engine import Kind

HEAD = """
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
ms.set_seed(0)
POINTS = [(Tensor(x), Tensor(2 * x)) for x in np.random.random(4)]
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(1, 1)
    def construct(self, x):
        return self.fc(x + np.random.random() * 0.1)
"""
SHAPES = {
    "functions, with a scaler": """
        model, loss_fn = Net(), nn.MSELoss()
        optimizer = nn.Momentum(model.trainable_params(), 0.05)
        scaler = ms.amp.DynamicLossScaler(16, 2, 3)
        def forward_fn(x, y):
            out = model(x)
            return scaler.scale(loss_fn(out, y)), out
        grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)
        def train_step(x, y):
            (loss, _), grads = grad_fn(x, y)
            optimizer(scaler.unscale(grads))
            scaler.adjust(True)
            return loss
        def train_loop(model, points):
            model.set_train()
            for x, y in points:
                loss = train_step(x, y)
            return loss
        best, losses = Tensor(1e9), []
        for epoch in range(5):
            loss = train_loop(model, POINTS)
            if loss < best:
                best = loss
            losses.append(loss)
            print(epoch, float(loss), float(best), float(scaler.scale_value))
        print("end", float(best), [float(each) for each in losses], float(model(1.0)))
    """,
    "all of it handed to a function, made anew in each round": """
        def train_loop(model, points, loss_fn, optimizer):
            def forward_fn(x, y):
                return loss_fn(model(x), y)
            grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
            @ms.jit
            def train_step(x, y):
                loss, grads = grad_fn(x, y)
                return ops.depend(loss, optimizer(grads))
            return sum(float(train_step(x, y)) for x, y in points)
        net = Net()
        opt = nn.Momentum(net.trainable_params())
        for t in range(5):
            print(t, train_loop(net, POINTS, nn.MSELoss(), opt))
        print("end", float(net(1.0)), float(opt.global_step))
    """,
    "a Cell that makes a step": """
        def train(network, optimizer, criterion, epochs):
            train_net = nn.TrainOneStepCell(nn.WithLossCell(network, criterion), optimizer)
            train_net.set_train()
            step = 0
            for epoch in range(1, epochs + 1):
                for x, y in POINTS:
                    loss = train_net(x, y)
                    step += 1
                print(epoch, step, float(loss))
            return step
        network = Net()
        steps = train(network, nn.Momentum(network.trainable_params(), 0.1), nn.MSELoss(), 5)
        print("end", steps, float(network(1.0)))
    """,
    "two networks and two optimizers": """
        class Both(nn.Cell):
            def __init__(self, first, second):
                super().__init__()
                self.first = first
                self.second = second
            def construct(self, x, y):
                return self.first(x, y), self.second(y, x)
        one, two, loss = Net(), Net(), nn.MSELoss()
        both = Both(
            nn.TrainOneStepCell(nn.WithLossCell(one, loss), nn.Momentum(one.trainable_params(), 0.05)),
            nn.TrainOneStepCell(nn.WithLossCell(two, loss), nn.Momentum(two.trainable_params(), 0.02)),
        )
        for epoch in range(5):
            for x, y in POINTS:
                a, b = both(x, y)
            print(epoch, float(a), float(b))
        print("end", float(one(1.0)), float(two(1.0)))
    """,
    "a class that trains": """
        class Trainer:
            def __init__(self, net, opt):
                self.net = net
                self.opt = opt
                self.loss_fn = nn.MSELoss()
                self.best, self.history = 9.0, []
                self.grad_fn = ms.value_and_grad(self.forward, None, opt.parameters)
            def forward(self, x, y):
                return self.loss_fn(self.net(x), y)
            def step(self, x, y):
                loss, grads = self.grad_fn(x, y)
                self.opt(grads)
                return float(loss)
            def train(self, epochs):
                for epoch in range(epochs):
                    for x, y in POINTS:
                        self.history.append(self.step(x, y))
                    self.best = min(self.best, self.history[-1])
                    print(epoch, self.best)
                print("end", self.best, self.history, float(self.net(1.0)))
        net = Net()
        trainer = Trainer(net, nn.Momentum(net.trainable_params(), 0.05))
        trainer.train(5)
    """,
    "lists of networks and optimizers": """
        nets = [Net() for _ in range(2)]
        optimizers = [nn.Momentum(each.trainable_params(), 0.05) for each in nets]
        loss_fn = nn.MSELoss()
        for epoch in range(5):
            for net, optimizer in zip(nets, optimizers):
                def forward(x, y):
                    return loss_fn(net(x), y)
                for x, y in POINTS:
                    loss, grads = ms.value_and_grad(forward, None, optimizer.parameters)(x, y)
                    optimizer(grads)
            print(epoch, float(loss))
        print("end", [float(each(1.0)) for each in nets])
    """,
    "several trainings, one after the other": """
        for seed in range(2):
            net = Net()
            train_net = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params()))
            for epoch in range(3):
                for x, y in POINTS:
                    loss = train_net(x, y)
                print(seed, epoch, float(loss))
            print("end", seed, float(net(1.0)))
    """,
}


@pytest.fixture(autouse=True)
def mindspore(monkeypatch):
    for name, module in pretend_mindspore.mindspore().items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_killed_training_ends_with_the_same_numbers(shape, tmp_path):
    text = HEAD + textwrap.dedent(SHAPES[shape])
    done = adapt(text)
    assert done.is_complete, said(done, Kind.HAND)
    whole = play(text, tmp_path).output
    by_hand = play(done.text, tmp_path)
    assert by_hand.output == whole and not by_hand.files, "by hand nothing changes"
    for line in range(1, whole.count("\n")):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / str(line))}
        assert play(done.text, tmp_path, env=env, kill_after=line).was_killed
        seen, rest = play(done.text, tmp_path, env=env).output.splitlines(), iter(whole.splitlines())
        assert all(each in rest for each in seen) and seen[-1] == whole.splitlines()[-1], f"killed after line {line}"
        assert len(seen) < whole.count("\n") or line == 1, "it must not begin anew"


def test_one_file_under_one_name(tmp_path):
    done = adapt(HEAD + textwrap.dedent(SHAPES["functions, with a scaler"]))
    play(done.text, tmp_path, env={"OUTLAST_CHECKPOINT": str(tmp_path / "kept")})
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["resume.pkl"]


def test_a_checkpoint_of_another_network_is_not_taken(tmp_path):
    text = HEAD + textwrap.dedent(SHAPES["a class that trains"])
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    play(adapt(text).text, tmp_path, env=env, kill_after=3)
    other = text.replace("self.fc = nn.Dense(1, 1)", "self.fc = nn.Dense(1, 1)\n        self.more = nn.Dense(1, 1)")
    with pytest.raises(RuntimeError, match="of another network: it has 5 Parameters, not 8"):
        play(adapt(other).text, tmp_path, env=env)
