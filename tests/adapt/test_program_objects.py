"""Objects of classes of other files: what goes from round to round in them goes on after a kill."""

from __future__ import annotations

import pytest
from programs import Program

POINTS = "[(at / 8, at / 4 + 1) for at in range(8)]"
KEEPERS = """
import random
from collections import defaultdict

class Average:
    def __init__(self, model):
        self.shadow = {"weight": model.weight.number}
    def update(self, model):
        self.shadow["weight"] = 0.9 * self.shadow["weight"] + 0.1 * model.weight.number

class Tracker:
    def __init__(self):
        self.history = defaultdict(list)
    def add(self, name, value):
        self.history[name].append(value)

class Pool:
    def __init__(self, size):
        self.size, self.held = size, []
    def query(self, value):
        if len(self.held) < self.size:
            self.held.append(value)
            return value
        at = random.randrange(self.size)
        self.held[at], value = value, self.held[at]
        return value

class Rising:
    def __init__(self, optimizer):
        self.optimizer, self.steps = optimizer, 0
    def zero_grad(self):
        self.optimizer.zero_grad()
    def step(self):
        self.steps += 1
        self.optimizer.lr = 0.001 * self.steps
        self.optimizer.step()
"""
PROGRAMS = {
    "kept beside the training": {
        "keepers": KEEPERS,
        "train": f"""
            import random
            import torch
            from keepers import Average, Pool, Tracker

            random.seed(1)
            torch.manual_seed(1)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            average, tracker, pool = Average(model), Tracker(), Pool(3)
            for epoch in range(5):
                for x, y in {POINTS}:
                    y = y + pool.query(x)
                    STEP
                    average.update(model)
                    tracker.add("loss", loss.item())
                print("epoch", epoch, loss.item(), average.shadow, sum(tracker.history["loss"]), flush=True)
        """,
    },
    "an agent that trains itself": {
        "agent": f"""
            import copy
            import random
            import torch

            class Buffer:
                def __init__(self):
                    self.rows = []
                def push(self, row):
                    self.rows.append(row)
                def sample(self, count):
                    return random.sample(self.rows, count)

            class Agent:
                def __init__(self):
                    self.net = torch.nn.Linear(1, 1)
                    self.opt = torch.optim.SGD(self.net.parameters(), 0.01)
                    self.target = copy.deepcopy(self.net)
                    self.buffer, self.eps, self.seen = Buffer(), 1.0, 0
                def act(self):
                    self.seen += 1
                    self.buffer.push({POINTS}[random.randrange(8)])
                def learn(self):
                    for x, y in self.buffer.sample(min(3, len(self.buffer.rows))):
                        self.opt.zero_grad()
                        away = self.net(x) - y
                        loss = away * away
                        loss.backward()
                        self.opt.step()
                    for slow, fast in ((self.target, self.net),):
                        slow.weight.number = 0.9 * slow.weight.number + 0.1 * fast.weight.number
                    self.eps *= 0.9
                    return loss.item()
        """,
        "making": """
            from agent import Agent

            def make_agent():
                agent = Agent()
                return agent
        """,
        "train": """
            import random
            import torch
            from making import make_agent

            random.seed(1)
            torch.manual_seed(1)
            agent = make_agent()
            for episode in range(5):
                for _ in range(4):
                    agent.act()
                    loss = agent.learn()
                print("epoch", episode, loss, agent.eps, agent.seen, agent.target.weight.number, flush=True)
        """,
    },
    "a trainer that is handed an optimizer of the program": {
        "keepers": KEEPERS,
        "trainer": f"""
            from keepers import Tracker

            class Trainer:
                def __init__(self, model, optimizer):
                    self.model, self.optimizer = model, optimizer
                    self.tracker = Tracker()
                def fit(self):
                    for epoch in range(5):
                        for x, y in {POINTS}:
                            self.optimizer.zero_grad()
                            away = self.model(x) - y
                            loss = away * away
                            loss.backward()
                            self.optimizer.step()
                            self.tracker.add("loss", loss.item())
                        print("epoch", epoch, self.optimizer.steps, sum(self.tracker.history["loss"]), flush=True)
        """,
        "train": """
            import torch
            from keepers import Rising
            from trainer import Trainer

            torch.manual_seed(1)
            model = torch.nn.Linear(1, 1)
            Trainer(model, Rising(torch.optim.SGD(model.parameters(), 0.01))).fit()
        """,
    },
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS)
def test_objects_of_other_files_go_on_with_the_training(files, tmp_path):
    whole = Program(tmp_path / "whole", **files).run()
    assert whole.code == 0, whole.error
    program = Program(tmp_path / "code", **files)
    done = program.adapt("modelarts")
    assert not any("starts anew" in finding.message for finding in done.findings)
    assert program.run().lines == whole.lines
    flags = ["--train_url", str(tmp_path / "out")]
    first = program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.code == 0, second.error
    assert first.lines == whole.lines[: len(first.lines)]
    assert second.lines == whole.lines[len(whole.lines) - len(second.lines) :]


def test_a_field_of_a_model_that_some_rounds_set_goes_on(tmp_path):
    files = {
        "nets": """
            import random
            import torch

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.line = torch.nn.Linear(1, 1)
                    self.negatives = None
                def sample(self):
                    return random.random()
                def forward(self, x):
                    return self.line(x) - self.negatives
        """,
        "train": f"""
            import random
            import torch
            from nets import Net

            random.seed(1)
            torch.manual_seed(1)
            model = Net()
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(5):
                if epoch % 4 == 0:
                    model.negatives = model.sample()
                for x, y in {POINTS}:
                    STEP
                print("epoch", epoch, loss.item(), model.negatives, flush=True)
        """,
    }
    whole = Program(tmp_path / "whole", **files).run()
    program = Program(tmp_path / "code", **files)
    program.adapt("modelarts")
    flags = ["--train_url", str(tmp_path / "out")]
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.code == 0, second.error
    assert second.lines == whole.lines[len(whole.lines) - len(second.lines) :]


def test_a_field_that_cannot_be_put_into_a_file_is_told(tmp_path):
    files = {
        "feeding": f"""
            class Feeder:
                def __init__(self):
                    self.rows, self.count = None, 0
                def take(self):
                    if self.count % 8 == 0:
                        self.rows = iter({POINTS})
                    self.count += 1
                    return next(self.rows)
        """,
        "train": """
            import torch
            from feeding import Feeder

            torch.manual_seed(1)
            feeder = Feeder()
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(5):
                for _ in range(8):
                    x, y = feeder.take()
                    STEP
                print("epoch", epoch, loss.item(), feeder.count, flush=True)
        """,
    }
    whole = Program(tmp_path / "whole", **files).run()
    program = Program(tmp_path / "code", **files)
    done = program.adapt("modelarts")
    assert any("feeder.rows starts anew" in finding.message for finding in done.findings)
    flags = ["--train_url", str(tmp_path / "out")]
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.code == 0, second.error
    assert second.lines == whole.lines[len(whole.lines) - len(second.lines) :]


EITHER = """
    import random
    import torch

    class {name}:
        def __init__(self, rows):
            self.rows = rows
            self.build()
        def build(self):
            self.model = torch.nn.Linear(1, 1)
            self.optimizer = torch.optim.SGD(self.model.parameters(), {rate})
            self.measure = torch.nn.Measure() if hasattr(torch.nn, "Measure") else None
        def train(self):
            model, optimizer = self.model, self.optimizer
            noise = random.random()
            self.model.train()
            for epoch in range(4):
                for x, y in self.rows:
                    STEP
                print("epoch", epoch, noise, model(1.0).item(), flush=True)
"""


@pytest.mark.parametrize("kind", ["small", "large"])
def test_each_of_several_trainings_goes_on_where_a_start_runs_one(kind, tmp_path):
    program = Program(
        tmp_path / "code",
        small=EITHER.format(name="Small", rate=0.1),
        large=EITHER.format(name="Large", rate=0.2),
        train="""
            import argparse
            import torch
            from large import Large
            from small import Small
            parser = argparse.ArgumentParser()
            parser.add_argument("--kind", default="small")
            args = parser.parse_args()
            torch.manual_seed(0)
            if args.kind == "small":
                net = Small([(0.5, 1.0)])
            else:
                net = Large([(0.5, 1.0)])
            net.train()
        """,
    )
    done = program.adapt()
    assert not done.by_hand and not [each for each in done.findings if "starts anew" in each.message]
    flags = ("--kind", kind, "--train_url", str(tmp_path / "out"))
    expected = program.run("--kind", kind, "--train_url", str(tmp_path / "whole"))
    first = program.run(*flags, until="epoch 1")
    after = program.run(*flags)
    assert after.code == 0 and len(after.lines) < 4, after.error
    # By its own name each run has its own noise, and keeps that.
    assert len({line.split()[2] for line in (*first.lines, *after.lines)}) == 1
    numbers = [line.split()[1::2] for line in expected.lines]
    assert [line.split()[1::2] for line in after.lines] == numbers[4 - len(after.lines) :]


def test_several_trainings_of_one_start_are_refused(tmp_path):
    program = Program(
        tmp_path,
        small=EITHER.format(name="Small", rate=0.1),
        large=EITHER.format(name="Large", rate=0.2),
        train="from large import Large\nfrom small import Small\nSmall([]).train()\nLarge([]).train()\n",
    )
    (said,) = [each.message for each in program.adapt().by_hand]
    assert said == "there are training loops in large.py, small.py"


def test_a_model_of_another_file_that_takes_its_input_apart_is_refused(tmp_path):
    done = Program(
        tmp_path,
        nets="""
            import tensorflow as tf
            class Net(tf.keras.Model):
                def call(self, inputs):
                    words, lengths = inputs
                    return words
        """,
        train="""
            import tensorflow as tf
            from nets import Net
            model = Net()
            optimizer = tf.keras.optimizers.Adam()
            for epoch in range(9):
                with tf.GradientTape() as tape:
                    loss = model((1.0, 2.0))
                learned = model.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, learned), learned))
        """,
    ).adapt()
    assert any("model is built only by its first step" in finding.message for finding in done.findings)


def test_an_object_that_each_round_makes_is_not_asked_for_before_the_first(tmp_path):
    program = Program(
        tmp_path / "code",
        marks="""
            class Marks:
                def __init__(self):
                    self.table = None
                def update(self, value):
                    if self.table is None:
                        self.table = 0
                    self.table += value
                def __str__(self):
                    return str(self.table)
            def evaluate(model):
                marks = Marks()
                marks.update(model.weight.number)
                return marks
        """,
        train=f"""
            import argparse
            import torch
            from marks import evaluate
            def main(args):
                torch.manual_seed(1)
                model = torch.nn.Linear(1, 1)
                optimizer = torch.optim.SGD(model.parameters(), 0.01)
                if args.test_only:
                    marks = evaluate(model)
                    print(str(marks))
                    return
                for epoch in range(4):
                    for x, y in {POINTS}:
                        STEP
                    marks = evaluate(model)
                    print(epoch, str(marks))
            parser = argparse.ArgumentParser()
            parser.add_argument("--test-only", action="store_true")
            main(parser.parse_args())
        """,
    )
    program.adapt()
    whole = program.run(f"--train_url={tmp_path / 'whole'}")
    killed = [f"--train_url={tmp_path / 'killed'}"]
    program.run(*killed, until="2 ")
    ran = program.run(*killed)
    assert ran.lines[-2:] == whole.lines[-2:] and not ran.code, ran.error
