"""What stands beside a training in objects of other files: what a round resets, and what it makes from what it was."""

from __future__ import annotations

import pytest
from programs import Program

METER = {
    "meters": """
        from collections import OrderedDict
        def make(keys):
            return OrderedDict((key, 0.0) for key in keys)
        class Meter:
            def __init__(self, *keys):
                self.rows = make(keys)
            def reset(self):
                for key in self.rows:
                    self.rows[key] = 0.0
            def update(self, key, value):
                self.rows[key] += value
        class Table:
            def __init__(self, path, resume=False):
                self.path = path
                if resume:
                    with open(path) as lines:
                        self.names = lines.readline().rstrip().split("\\t")
            def set_names(self, names):
                self.names = names
                self.rows = []
            def append(self, row):
                self.rows.append(dict(zip(self.names, row)))
    """,
    "train": """
        import torch
        from meters import Meter, Table
        class Trainer:
            def __init__(self):
                self.model = torch.nn.Linear(1, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
                self.losses, self.checked = Meter("loss"), Meter("loss")
                self.table = Table("table.txt")
                self.table.set_names(["loss"])
            def train(self):
                for epoch in range(4):
                    self.train_epoch()
                    self.table.append([self.losses.rows["loss"]])
                    print(epoch, self.losses.rows, self.table.rows)
            def train_epoch(self):
                self.model.train()
                {}
                loss = self.model(torch.ones(1)).sum()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.losses.update("loss", round(loss.item(), 3))
                if self.model.training:
                    self.check()
            def check(self):
                self.checked.reset()
                self.checked.update("loss", 1.0)
        torch.manual_seed(1)
        Trainer().train()
    """,
}


@pytest.mark.parametrize(("line", "is_told"), [("self.losses.reset()", False), ("pass", True)])
def test_what_a_function_of_the_round_resets_needs_no_telling(line, is_told, tmp_path):
    program = Program(tmp_path, **{**METER, "train": METER["train"].format(line)})
    told = [each.message for each in program.adapt().findings if "starts anew" in each.message]
    assert told == (["self.losses.rows starts anew in each stint"] if is_told else [])


def test_what_a_model_holds_beside_its_weights_goes_on_where_a_round_makes_it_from_what_it_was(tmp_path):
    files = {
        "net": """
            import torch
            def make():
                net = torch.nn.Linear(1, 1)
                net.center = 0.0
                return net
        """,
        "train": """
            import torch
            from net import make
            def pull(center, value):
                return value - center, center + 0.5 * (value - center)
            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.SGD(model.parameters(), 0.01)
                def train(self):
                    for epoch in range(5):
                        self.train_epoch()
                        print("epoch", epoch, self.model.center, flush=True)
                def train_epoch(self):
                    self.model.train()
                    for x, y in [(1.0, 2.0), (2.0, 3.0)]:
                        self.optimizer.zero_grad()
                        loss = self.model(x) - y
                        loss = loss * loss
                        loss.backward()
                        self.optimizer.step()
                    way, self.model.center = pull(self.model.center, loss.item())
            torch.manual_seed(1)
            Trainer(make()).train()
        """,
    }
    whole = Program(tmp_path / "whole", **files).run()
    program = Program(tmp_path / "code", **files)
    program.adapt()
    flags = ["--train_url", str(tmp_path / "out")]
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.lines[-1] == whole.lines[-1], second.error


STEPPER = {
    "stepping": """
        import torch
        class Stepper:
            def __init__(self, params, method, rate):
                self.params, self.method, self.rate = list(params), method, rate
                self._build()
            def _build(self):
                if self.method == "sgd":
                    self.optimizer = torch.optim.SGD(self.params, self.rate)
                elif self.method == "adam":
                    self.optimizer = torch.optim.Adam(self.params, self.rate)
                else:
                    raise ValueError(self.method)
            def clear(self):
                self.optimizer.zero_grad()
            def step(self):
                self.optimizer.step()
                self.rate *= 0.9
    """,
    "train": """
        import torch
        from stepping import Stepper
        torch.manual_seed(1)
        model = torch.nn.Linear(1, 1)
        stepper = Stepper(model.parameters(), "sgd", 0.1)
        for epoch in range(5):
            stepper.clear()
            loss = model(1.0) - 2.0
            loss = loss * loss
            loss.backward()
            stepper.step()
            print("epoch", epoch, loss.item(), stepper.rate, flush=True)
    """,
}


def test_what_an_object_makes_in_a_method_of_its_start_is_not_made_late(tmp_path):
    whole = Program(tmp_path / "whole", **STEPPER).run()
    program = Program(tmp_path / "code", **STEPPER)
    done = program.adapt()
    assert not [each.message for each in done.findings if "starts anew" in each.message]
    flags = ["--train_url", str(tmp_path / "out")]
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.lines[-1] == whole.lines[-1], second.error
