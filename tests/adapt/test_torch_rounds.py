"""Trainings of torch that count, or hold what they train, in ways of their own: killed, they go on."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

ALONG = {
    "may be None in the caller": """
        def train(model, optimizer, scheduler):
            for epoch in range(4):
                for x, y in POINTS:
                    step(model, optimizer, x, y)
                if scheduler:
                    scheduler.step()
                print(epoch, model(1.0).item())
        def main(decay=False):
            model = nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters())
            if decay:
                scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
            else:
                scheduler = None
            train(model, optimizer, scheduler)
        main()
    """,
    "a field that may be handed None": """
        class Trainer:
            def __init__(self, model, optimizer, scheduler=None):
                self.model, self.optimizer = model, optimizer
                self.scheduler = scheduler
            def fit(self):
                for epoch in range(4):
                    for x, y in POINTS:
                        step(self.model, self.optimizer, x, y)
                    if self.scheduler is not None:
                        self.scheduler.step()
                    print(epoch, self.model(1.0).item())
        model = nn.Linear(1, 1)
        Trainer(model, torch.optim.SGD(model.parameters())).fit()
    """,
    "a class of another file, without state": """
        from parts import Warmup
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        scheduler = Warmup(optimizer)
        for epoch in range(4):
            for x, y in POINTS:
                step(model, optimizer, x, y)
            scheduler.step()
            print(epoch, model(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", ALONG)
def test_what_goes_along_and_may_have_no_state_is_asked_first(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(ALONG[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=2).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[1:]
    told = [
        finding.message for finding in done.findings if finding.message.startswith("scheduler is kept only if Warm")
    ]
    assert bool(told) is (shape == "a class of another file, without state")


FIELDS = {
    "an agent whose memory others fill": """
        class Agent:
            def __init__(self):
                self.net = nn.Linear(1, 1)
                self.opt = torch.optim.SGD(self.net.parameters())
                self.memory, self.chance, self.counts = [], 1.0, {}
        agent = Agent()
        for epoch in range(5):
            for x, y in POINTS:
                agent.memory.append(step(agent.net, agent.opt, x, y))
                agent.counts[len(agent.memory)] = agent.chance
            agent.chance *= 0.9
            print(epoch, sum(agent.memory), agent.chance, len(agent.counts))
    """,
    "what an object takes out of all that it is given": """
        class Trainer:
            def __init__(self, *args, **parts):
                self.model, self.optimizer = parts["model"], parts["optimizer"]
                self.scheduler = parts["scheduler"]
            def fit(self):
                for epoch in range(5):
                    for x, y in POINTS:
                        step(self.model, self.optimizer, x, y)
                    if epoch > 0:
                        self.scheduler.step()
                    print(epoch, self.model(1.0).item())
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        Trainer(model=model, optimizer=optimizer, scheduler=scheduler).fit()
    """,
    "settings that a function of the rounds changes": """
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        given = [("rate", 0.1), ("name", "a")]
        state = {key: value for key, value in given}
        def slow_down(epoch):
            global state
            state["rate"] *= 0.5
            optimizer.lr = state["rate"]
        def main():
            for epoch in range(5):
                slow_down(epoch)
                for x, y in POINTS:
                    step(model, optimizer, x, y)
                print(epoch, state["rate"], model(1.0).item())
        main()
    """,
    "an optimizer of another file around one of torch": """
        from parts import Rising
        model = nn.Linear(1, 1)
        optimizer = Rising(torch.optim.SGD(model.parameters()))
        for epoch in range(5):
            for x, y in POINTS:
                step(model, optimizer, x, y)
            print(epoch, model(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", FIELDS)
def test_what_lies_in_objects_goes_on(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(FIELDS[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert done.is_complete and run(done.text).output.splitlines() == lines
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    assert run(done.text, env=env).output.splitlines() == lines[2:]


TRAIN = """
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters())
"""
COUNTED = {
    "by any name, around steps that only gather": """
        class Agent:
            def __init__(self, model, optimizer):
                self.model, self.optimizer = model, optimizer
            def update(self, rows):
                return sum(step(self.model, self.optimizer, x, y) for x, y in rows)
        agent, updates = Agent(model, optimizer), 5
        for j in range(updates):
            rows = []
            for at in range(2):
                rows.append(POINTS[at])
            for step_ in range(1):
                rows.append(POINTS[-1])
            print(j, agent.update(rows))
    """,
    "by a field, in a loop without an end, with functions that the start hands in": """
        class Trainer:
            def __init__(self):
                self.step, self.calls = 0, {}
            def add(self, event, call):
                self.calls[event] = [call]
            def tell(self, event):
                for call in self.calls.get(event, []):
                    call(self)
            def run(self):
                self.step = 0
                while True:
                    self.loss = sum(step(model, optimizer, x, y) for x, y in POINTS)
                    self.tell("end")
                    self.step += 1
                    if self.step >= 5:
                        break
        trainer = Trainer()
        trainer.add("end", lambda each: print(each.step, each.loss))
        trainer.run()
    """,
    "named, and wrapped later": """
        rounds = range(1, 6)
        if True:
            seen = {"loss": "unknown"}
            rounds = tqdm(rounds)
        for epoch in rounds:
            seen[epoch] = sum(step(model, optimizer, x, y) for x, y in POINTS)
            print(epoch, seen)
    """,
    "named, with a seed in between": """
        epochs_trained = 0
        rounds = tqdm(range(epochs_trained + 1, 6))
        torch.manual_seed(3)
        for _ in rounds:
            print(sum(step(model, optimizer, x, y) for x, y in POINTS))
    """,
    "what only the best round binds": """
        def main():
            best = 9.0
            for epoch in range(5):
                loss = abs(sum(step(model, optimizer, x, y) for x, y in POINTS) - 1.0)
                if epoch < 2 and loss < best:
                    best, best_epoch = loss, epoch
                print(epoch, best)
            print("best", best_epoch)
        main()
    """,
    "until something has come about": """
        solved, episode, running = False, 0, 0.0
        while not solved:
            running = 0.5 * running + sum(step(model, optimizer, x, y) for x, y in POINTS)
            episode += 1
            solved = episode == 5
            print(episode, running)
        print("end", running)
    """,
    "by a field of a trainer": """
        class Trainer:
            def __init__(self, steps):
                self.model = nn.Linear(1, 1)
                self.optimizer = torch.optim.SGD(self.model.parameters())
                self.steps, self.at, self.seen = steps, 0, []
            def run_epoch(self):
                for x, y in POINTS:
                    self.seen.append(step(self.model, self.optimizer, x, y))
                self.at += len(POINTS)
            def train(self):
                while self.at < self.steps:
                    self.run_epoch()
                    print(self.at, sum(self.seen))
        Trainer(20).train()
    """,
    "up to an end that is computed": """
        asked = []
        def rounds():
            asked.append(1)
            return 5
        for epoch in range(rounds()):
            loss = sum(step(model, optimizer, x, y) for x, y in POINTS)
            print(epoch, loss)
        print("end", loss, epoch, len(asked))
    """,
    "without an end of its own": """
        epoch = 0
        while True:
            epoch += 1
            loss = sum(step(model, optimizer, x, y) for x, y in POINTS)
            print(epoch, loss)
            if epoch == 5:
                break
        print("end", loss)
    """,
    "numbered": """
        for at, epoch in enumerate(range(5)):
            print(at, epoch, sum(step(model, optimizer, x, y) for x, y in POINTS))
    """,
    "rates that a generator of the script gives": """
        def halves(first, rounds):
            for at in range(rounds):
                yield first / (at + 1)
        rates = halves(0.5, 99)
        for epoch in range(5):
            rate = 0.0
            for x, y in POINTS:
                rate += next(rates)
                step(model, optimizer, x * rate, y)
            print(epoch, rate, model(1.0).item())
    """,
    "dealt with samples that chance draws": """
        def draw():
            while True:
                yield torch.draw(), torch.draw()
        for step_no, (x, y) in tqdm(zip(range(5), draw())):
            print(step_no, step(model, optimizer, x, y))
    """,
}


@pytest.mark.parametrize("shape", COUNTED)
def test_however_rounds_are_counted_a_training_goes_on(shape, run, tmp_path):
    text = HEAD + "tqdm = lambda rounds: rounds\n" + STEP + TRAIN + textwrap.dedent(COUNTED[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert done.is_complete and run(done.text).output.splitlines() == lines
    for at in range(1, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert run(done.text, env=env, kill_after=at).was_killed
        seen = run(done.text, env=env).output.splitlines()
        assert seen == lines[-len(seen) :] and (len(seen) < len(lines) or at == 1), f"killed after line {at}"


@pytest.mark.parametrize(
    "made",
    [
        "Variable(torch.ones(1, 8), requires_grad=False)",
        "torch.ones(1, 8).requires_grad_(False)",
        "torch.ones(1, 8, requires_grad=True)",
    ],
)
def test_a_tensor_that_each_round_makes_anew_is_not_filled_where_it_was(made):
    """It may have another shape in the round than before the loop, and nothing reads the old one."""
    done = adapt(f"""
import torch
from torch.autograd import Variable
net = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
valid = {made}
for epoch in range(3):
    for batch in batches:
        valid = {made.replace("1, 8", "len(batch), 8")}
        optimizer.zero_grad()
        (net(batch) - valid).sum().backward()
        optimizer.step()
""")
    assert 'net.load_state_dict(resumed["net"])' in done.text
    assert '"valid"' not in done.text


def test_what_an_object_changes_only_while_it_is_made_is_not_kept():
    text = """
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.width, self.seen = 3, 0
                self.first = self.layer(4)
                self.count()
            def layer(self, width):
                made = torch.nn.Linear(self.width, width)
                self.width = width
                return made
            def count(self):
                self.seen += 1
            def forward(self, x):
                {}
                return self.first(x)
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(3):
            optimizer.zero_grad()
            net(torch.ones(3)).sum().backward()
            optimizer.step()
    """
    done = adapt(text.format("self.count()"))
    assert '"net.seen": net.seen' in done.text and "net.width" not in done.text
    assert "net.seen" not in adapt(text.format("pass")).text


@pytest.mark.parametrize(
    ("behind", "is_read"),
    [
        ("loss = 3\nprint(loss)", False),
        ("for loss in [1, 2]:\n    print(loss)", False),
        ("with open('o') as file:\n    for x in file:\n        loss, size = x, 1\n        print(loss, size)", False),
        ("print(net.loss, f(loss=3))", False),
        ("print(loss)", True),
        ("loss = loss + 1", True),
        ("if size:\n    loss = 3\nprint(loss)", True),
        ("rows = [loss for loss in [1]]\nprint(loss)", True),
        ("loss[0] = 3", True),
    ],
)
def test_what_is_bound_anew_behind_the_loop_is_not_read_there(behind, is_read):
    text = """
        import torch
        net = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(3):
            for batch in [1, 2]:
                optimizer.zero_grad()
                loss = net(batch)
                loss.backward()
                optimizer.step()
    """
    done = adapt(textwrap.dedent(text) + behind + "\n")
    # A round whose values are read behind the loop is run again: the last one is not kept.
    assert ("if resume_dir and epoch + 1 < 3:" in done.text) is is_read


def test_steps_without_an_optimizer_are_saved_now_and_then():
    rounds = """
        net = nn.Linear(1, 1)
        for step in range(500):
            {0}
            net.zero_grad()
            (net(x) - y).backward()
            for p in net.parameters():
                p.data -= 0.1 * p.grad
    """
    once = adapt(HEAD + textwrap.dedent(rounds.format("x, y = POINTS[step % 4]")))
    many = adapt(HEAD + textwrap.dedent(rounds.format("").replace("    (net(x)", "    for x, y in POINTS: (net(x)")))
    assert "resume_due" in once.text and "resume_due" not in many.text
