"""Trainings of torch in the shapes that people give them, killed after each line that they print."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pretend
import pytest
from checked import adapt_plainly as adapt
from torch_stage import HEAD, STEP

SHAPES = {
    "names of the module, used in functions": """
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
        best, seen = 9.0, []
        def one(x, y):
            loss = step(model, optimizer, x, y)
            seen.append(loss)
            return loss
        def main():
            global best
            for epoch in range(5):
                for x, y in POINTS:
                    best = min(best, one(x, y))
                scheduler.step()
                print(epoch, best, sum(seen))
            print("end", best, len(seen), model(1.0).item())
        main()
    """,
    "a global that only another function changes": """
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        best = 9.0
        def keep(loss):
            global best
            best = min(best, loss)
        def main():
            for epoch in range(5):
                for x, y in POINTS:
                    keep(step(model, optimizer, x, y))
                print(epoch, best)
        main()
        print("end", best)
    """,
    "lists in a list, filled by a loop over all of them": """
        nets = [nn.Linear(1, 1), nn.Linear(1, 1)]
        opts = [torch.optim.SGD(net.parameters()) for net in nets]
        losses, named, first, second = [[], []], {"x": []}, [], []
        for epoch in range(5):
            for x, y in POINTS:
                for net, opt, seen in zip(nets, opts, losses):
                    seen.append(step(net, opt, x, y))
            for _, rows in named.items():
                rows.append(epoch)
            for at, (value, rows) in enumerate(zip((x, y), (first, second))):
                rows.append(value)
            print(epoch)
        print("end", losses, named, first, second)
    """,
    "samples of an iterator from before the loop": """
        class Loader:
            def __iter__(self):
                yield from sorted(POINTS, key=lambda _: torch.draw())
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        train_loader = Loader()
        batches = iter(train_loader)
        for step_ in range(11):
            try:
                x, y = next(batches)
            except StopIteration:
                batches = iter(train_loader)
                x, y = next(batches)
            print(step_, x, step(model, optimizer, x, y))
        print("end", model(1.0).item())
    """,
    "samples of an iterator whose order is drawn with the first of them": """
        class Loader:
            def __iter__(self):
                torch.draw()
                return self.deal()
            def deal(self):
                yield from sorted(POINTS * 3, key=lambda _: torch.draw())
        train_loader = Loader()
        batches = iter(train_loader)
        torch.draw()
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(5):
            for _ in range(3):
                try:
                    x, y = next(batches)
                except StopIteration:
                    batches = iter(train_loader)
                    x, y = next(batches)
            print(epoch, x, step(model, optimizer, x, y))
        print("end", model(1.0).item())
    """,
    "samples of several iterators in a dictionary": """
        class Loader:
            def __iter__(self):
                yield from sorted(POINTS * 2, key=lambda _: torch.draw())
        loaders = {name: Loader() for name in "ab"}
        batches = {name: iter(loader) for name, loader in loaders.items()}
        torch.draw()
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(5):
            for name in loaders:
                for _ in range(3):
                    try:
                        x, y = next(batches[name])
                    except StopIteration:
                        batches[name] = iter(loaders[name])
                        x, y = next(batches[name])
                step(model, optimizer, x, y)
            print(epoch, x, model(1.0).item())
    """,
    "samples of iterators that an object holds": """
        class Loader:
            def __iter__(self):
                yield from sorted(POINTS * 2, key=lambda _: torch.draw())
        class Feed:
            def __init__(self, first_loader, second_loader):
                self.loaders, self.main_loader = [first_loader, second_loader], second_loader
                self.batches = [iter(each) for each in self.loaders]
                self.main = iter(self.main_loader)
            def take(self):
                found = []
                for at, each in enumerate(self.batches):
                    try:
                        found.append(next(each))
                    except StopIteration:
                        self.batches[at] = iter(self.loaders[at])
                        found.append(next(self.batches[at]))
                try:
                    return [*found, next(self.main)]
                except StopIteration:
                    self.main = iter(self.main_loader)
                    return [*found, next(self.main)]
        feed = Feed(Loader(), Loader())
        torch.draw()
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(5):
            for _ in range(3):
                points = feed.take()
            print(epoch, [step(model, optimizer, x, y) for x, y in points])
        print("end", model(1.0).item())
    """,
    "a list of optimizers that have names": """
        def main():
            first, second = nn.Linear(1, 1), nn.Linear(1, 1)
            opts = [torch.optim.SGD(first.parameters()), torch.optim.SGD(second.parameters())]
            one, other = opts
            every = [one, other]
            for epoch in range(5):
                for x, y in POINTS:
                    for opt in every:
                        opt.zero_grad()
                    away = second(first(x)) - y
                    (away * away).backward()
                    for opt in every:
                        opt.step()
                print(epoch, away.item())
        main()
    """,
    "lists and dictionaries of nets and optimizers": """
        nets = {name: nn.Linear(1, 1) for name in "ab"}
        opts = [torch.optim.SGD(net.parameters()) for net in nets.values()]
        for epoch in range(5):
            for net, opt in zip(nets.values(), opts):
                for x, y in POINTS:
                    loss = step(net, opt, x, y)
            print(epoch, loss)
        print("end", sum(net(1.0).item() for net in nets.values()))
    """,
    "made by another file": """
        from parts import build, rate
        def main():
            net, solver = build()
            lowering = rate(solver)
            for epoch in range(5):
                net.train()
                for x, y in POINTS:
                    solver.zero_grad()
                    away = net(x) - y
                    (away * away).backward()
                    solver.step()
                print(epoch, away.item())
        main()
    """,
    "imported from another file": """
        from parts import net, opt
        for epoch in range(5):
            for x, y in POINTS:
                loss = step(net, opt, x, y)
            print(epoch, loss)
        print("end", net(1.0).item())
    """,
    "a trainer that is given what it trains": """
        class Trainer:
            def __init__(self, net, opt, epochs=5):
                self.net, self.opt, self.epochs = net, opt, epochs
                self.best, self.seen = 9.0, []
                self.reset()
            def reset(self):
                self.total = 0.0
            def one(self, x, y):
                loss = step(self.net, self.opt, x, y)
                self.seen.append(loss)
                self.total += loss
                self.best = min(self.best, loss)
            def fit(self):
                for epoch in range(self.epochs):
                    for x, y in POINTS:
                        self.one(x, y)
                    print(epoch, self.best, self.total, len(self.seen))
                print("end", self.net(1.0).item())
        net = nn.Linear(1, 1)
        Trainer(net, torch.optim.SGD(net.parameters())).fit()
    """,
    "rounds that continue ends": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        best, worse = 99.0, 0
        for epoch in range(5):
            for x, y in POINTS:
                loss = step(net, opt, x, y)
            print(epoch, loss, best, worse)
            if epoch != 1:
                best = min(loss, best)
                continue
            worse += 1
        print("end", net(1.0).item(), best, worse)
    """,
    "a trainer that a method sets up, with a batch that is fetched ahead": """
        class Trainer:
            def __init__(self, many=False):
                self.many = many
                self.setup()
            def setup(self):
                self.together = self.many
                if self.together:
                    self.rank = 1
                self.net = nn.Linear(1, 1)
                self.opt = torch.optim.SGD(self.net.parameters())
                self.raw = self.net.module if self.together else self.net
                self.steps, self.best = 0, 9.0
            def fetch(self):
                return torch.draw(), torch.draw()
            def fit(self):
                self.x, self.y = self.fetch()
                for epoch in range(5):
                    for _ in POINTS:
                        loss = step(self.net, self.opt, self.x, self.y)
                        self.x, self.y = self.fetch()
                        self.best = min(self.best, loss)
                        self.steps += 1
                    print(self.steps, loss, self.best, self.raw(1.0).item())
        Trainer().fit()
    """,
    "objects of the file, driven from outside": """
        class Stopper:
            def __init__(self, patience):
                self.best, self.wait, self.patience = 9.0, 0, patience
            def __call__(self, loss):
                self.wait = 0 if loss < self.best else self.wait + 1
                self.best = min(self.best, loss)
                return self.wait >= self.patience
        class Pair:
            def __init__(self):
                self.one, self.other = nn.Linear(1, 1), nn.Linear(1, 1)
                self.opts = [torch.optim.SGD(each.parameters(), 0.2) for each in (self.one, self.other)]
            def learn(self):
                for x, y in POINTS:
                    for opt in self.opts:
                        opt.zero_grad()
                    away = self.other(self.one(x)) - y
                    loss = away * away
                    loss.backward()
                    for opt in self.opts:
                        opt.step()
                return loss.item()
        pair, stopper = Pair(), Stopper(2)
        for epoch in range(30):
            loss = pair.learn()
            print(epoch, loss, stopper.best, stopper.wait)
            if stopper(loss):
                print("early")
                break
        print("end", pair.other(pair.one(1.0)).item(), stopper.best)
    """,
    "a rate that the loop lowers in its arguments": """
        import argparse
        def main(args):
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters(), args.lr)
            for epoch in range(5):
                args.lr *= 0.7
                opt.lr = args.lr
                for x, y in POINTS:
                    loss = step(net, opt, x, y)
                print(epoch, loss, args.lr)
        main(argparse.Namespace(lr=0.1))
    """,
    "options that rounds set, and what they put beside them": """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("-b", "--best-epoch", type=int, default=0)
        parser.add_argument("--limit", type=float, default=9.0)
        args = parser.parse_args([])
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters(), 0.1)
        def note(options, loss):
            if loss < options.limit:
                options.limit = loss
        for epoch in range(5):
            loss = sum(step(net, opt, x, y) for x, y in POINTS)
            note(args, loss)
            if epoch == 1:
                args.best_epoch = epoch
            args.last = loss
            print(epoch, loss, args.limit)
        print("end", args.last, vars(args))
    """,
    "steps that are saved now and then": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters(), 0.1)
        for i in range(80):
            loss = step(net, opt, *POINTS[i % 4])
            if i % 20 == 0:
                print(i, loss)
        print("end", net(1.0).item())
        print("evaluated")
    """,
}

FOLLOWING = {
    "folds": """
        def train(fold):
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters())
            for epoch in range(3):
                for x, y in POINTS[fold:]:
                    loss = step(net, opt, x, y)
                print(fold, epoch, loss)
            return net(1.0).item() + torch.draw()
        scores = []
        for fold in range(3):
            scores.append(train(fold))
        print("end", scores)
    """,
    "seeds around the loop itself": """
        scores = []
        for seed in (3, 5):
            torch.manual_seed(seed)
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters())
            best = 9.0
            for epoch in range(3):
                for x, y in POINTS:
                    best = min(best, step(net, opt, x, y))
                print(seed, epoch, best)
            scores.append(best)
        print("end", scores)
    """,
    "one training and then another": """
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters(), 0.05)
        for epoch in range(3):
            for x, y in POINTS:
                loss = step(net, opt, x, 0.0)
            print("first", epoch, loss)
        opt = torch.optim.SGD(net.parameters(), 0.2)
        for epoch in range(2, 8, 2):
            for x, y in POINTS:
                loss = step(net, opt, x, y)
            print("then", epoch, loss)
        print("end", net(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_training_ends_with_the_same_numbers(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert done.is_complete, done.findings
    assert run(done.text).output.splitlines() == lines, "without a stint nothing may change"
    for at in range(1, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert run(done.text, env=env, kill_after=at).was_killed
        for _ in range(2):
            seen = run(done.text, env=env).output.splitlines()
            assert seen == lines[len(lines) - len(seen) :], f"killed after line {at}"
            assert len(seen) < len(lines) or at == 1, "it must not begin anew"


@pytest.mark.parametrize("shape", FOLLOWING)
def test_trainings_that_follow_on_one_another_end_with_the_same_numbers(shape, run, tmp_path):
    """Of one that is done the last round may be run again, for what follows it; all numbers are as without a stop."""
    text = HEAD + STEP + textwrap.dedent(FOLLOWING[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert done.is_complete and run(done.text).output.splitlines() == lines
    for at in range(1, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert run(done.text, env=env, kill_after=at).was_killed
        for _ in range(2):
            seen = run(done.text, env=env).output.splitlines()
            rest = iter(lines)
            assert all(line in rest for line in seen) and seen[-1] == lines[-1], f"killed after line {at}"
            assert len(seen) < len(lines) or at == 1, "it must not begin anew"


def test_steps_do_not_wait_for_a_checkpoint_each(run, tmp_path, monkeypatch):
    text = HEAD + STEP + textwrap.dedent(SHAPES["steps that are saved now and then"])
    saved = []
    monkeypatch.setattr(pretend, "save", lambda state, path: (saved.append(state["i"]), Path(path).touch()))
    run(adapt(text).text, env={"OUTLAST_CHECKPOINT": str(tmp_path / "kept")})
    assert saved[0] == 0 and saved[-1] == 79 and 2 < len(saved) < 6


def test_a_rank_that_is_not_the_first_saves_nothing(run, tmp_path, monkeypatch):
    text = HEAD + STEP + textwrap.dedent(SHAPES["imported from another file"])
    text = text.replace("from parts", "torch.distributed.get_rank = lambda: RANK\nfrom parts")
    text = text.replace("torch.manual_seed(0)", "torch.distributed.is_initialized = lambda: True", 1)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    adapted = adapt(text).text
    assert not any("resume" in path for path in run(adapted.replace("RANK\n", "1\n", 1), env=env).files)
    assert any("resume.pt" in path for path in run(adapted.replace("RANK\n", "0\n", 1), env=env).files)
