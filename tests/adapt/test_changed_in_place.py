"""Values that rounds change where they lie, by a part of them: killed, a training goes on with what they were."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

TRAIN = """
import numpy as np
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters())
"""
FILLED = {
    "several at once": """
        losses, counts, best = [0.0] * 9, np.zeros(9), {}
        for epoch in range(5):
            losses[epoch], counts[epoch] = sum(step(model, optimizer, x, y) for x, y in POINTS), epoch
            (best["loss"], best["epoch"]) = min((losses[epoch], epoch), tuple(best.values()) or (9.0, 0))
            print(epoch, sum(losses), counts.sum(), best)
    """,
    "fields of an object at once": """
        class Rows:
            def __init__(self):
                self.first, self.second, self.at = np.zeros(99), [0.0] * 99, 0
            def push(self, a, b):
                self.first[self.at], self.second[self.at] = a, b
                self.at += 1
        rows = Rows()
        for epoch in range(5):
            for x, y in POINTS:
                rows.push(step(model, optimizer, x, y), x)
            print(epoch, rows.first.sum(), sum(rows.second))
    """,
    "an array that arithmetic has made": """
        weights = np.ones(4) / 4
        for epoch in range(5):
            for at, (x, y) in enumerate(POINTS):
                weights[at] *= 1 + abs(step(model, optimizer, x * weights[at], y))
            print(epoch, weights.sum())
    """,
    "an array by a view of it": """
        def train(rows):
            rows = np.array(rows)
            rows = rows.reshape(-1, 1)
            for epoch in range(3):
                for x, y in POINTS:
                    step(model, optimizer, x * rows[epoch + 1][0], y)
                seen = rows[epoch + 1 :]
                seen[0][0] = model(1.0).item()
                for at in range(2):
                    row = seen[at]
                    row[0] += 0.5
                print(epoch, rows.sum(), model(1.0).item())
        train([1.0] * 9)
    """,
    "an order that a generator of the script shuffles": """
        order, drawn = np.arange(4), np.random.default_rng(0)
        for epoch in range(5):
            drawn.shuffle(order)
            print(epoch, order, [step(model, optimizer, *POINTS[at]) for at in order])
    """,
    "what functions of Python and numpy put in": """
        import bisect
        import heapq
        heap, best, counts = [], [], np.zeros(9)
        for epoch in range(5):
            loss = sum(step(model, optimizer, x, y) for x, y in POINTS)
            heapq.heappush(heap, (loss, epoch))
            bisect.insort(best, loss)
            np.add.at(counts, [epoch, 0], 1)
            print(epoch, heap, best, counts.sum())
    """,
    "an array that something else looks into": """
        class Rows:
            def __init__(self, labels):
                self.labels = labels
        labels = np.ones(4)
        rows = Rows(labels)
        for epoch in range(5):
            for at, (x, y) in enumerate(POINTS):
                step(model, optimizer, x, rows.labels[at])
                labels[at] = 0.9 * labels[at] + 0.1 * model(x).item()
            print(epoch, rows.labels.sum())
    """,
    "an array of the module in a function": """
        weights = np.ones(4) / 4
        def mark(at, loss):
            weights[at] *= 1 + abs(loss)
        def train():
            for epoch in range(5):
                for at, (x, y) in enumerate(POINTS):
                    mark(at, step(model, optimizer, x * weights[at], y))
                print(epoch, weights.sum())
        train()
    """,
}


@pytest.mark.parametrize("shape", FILLED)
def test_what_is_changed_by_its_parts_goes_on(shape, run, tmp_path):
    text = HEAD + STEP + TRAIN + textwrap.dedent(FILLED[shape])
    lines = run(text).output.splitlines()
    done = adapt_plainly(text)
    assert run(done.text).output.splitlines() == lines
    for at in range(1, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert run(done.text, env=env, kill_after=at).was_killed
        seen = run(done.text, env=env).output.splitlines()
        assert seen == lines[-len(seen) :] and (len(seen) < len(lines) or at == 1), f"killed after line {at}"


TENSORS = """
import torch
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
mean = torch.zeros(4)
noise, chosen = torch.empty(8, 4), torch.randn(8, 4)
shadow = {name: value.clone() for name, value in net.state_dict().items()}
means = [torch.zeros(1) for _ in range(2)]
for epoch in range(3):
    for batch in batches:
        noise.resize_(len(batch), 4).normal_()
        some = chosen[order[:4]]
        some[0] = 0
        optimizer.zero_grad()
        net(batch + noise + some).sum().backward()
        optimizer.step()
        mean.mul_(0.9).add_(batch.mean(0))
    for name, value in net.state_dict().items():
        shadow[name].mul_(0.9).add_(value, alpha=0.1)
    for one, value in zip(means, net.parameters()):
        one.lerp_(value.mean(), 0.5)
torch.save(net.state_dict(), "net.pt")
"""


def test_tensors_that_methods_of_torch_change_are_kept_and_those_filled_anew_are_not():
    done = adapt(TENSORS)
    assert 'mean = resumed["mean"]' in done.text
    assert 'shadow = resumed["shadow"]' in done.text
    assert 'means = resumed["means"]' in done.text
    # Filled anew in each batch; a copy, as a list of places chooses it.
    assert '"noise"' not in done.text and '"chosen"' not in done.text


def test_a_layer_that_the_first_batch_makes_is_there_before_its_model_is_filled():
    done = adapt("""
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.last = torch.nn.Linear(4, 2), None
            def forward(self, x):
                x = self.first(x)
                if self.last is None:
                    self.last = torch.nn.Linear(x.size(1), 1)
                return self.last(x)
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(3):
            for batch in batches:
                optimizer.zero_grad()
                net(batch).sum().backward()
                optimizer.step()
        torch.save(net.state_dict(), "net.pt")
    """)
    assert done.text.index('net.last = resumed["net.last"]') < done.text.index("net.load_state_dict(")


ROWS = """
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self, names):
        self.names, self.part, self.at = names, {}, -1
    def __len__(self):
        return 4 * len(self.names)
    def __getitem__(self, index):
        self.bring(index // 4)
        return torch.as_tensor(self.part["x"][index % 4])
    def bring(self, at):
        if at != self.at:
            self.part = np.load(self.names[at])
            self.at = at
class Counted(Rows):
    def __getitem__(self, index):
        self.count[index] = self.count.get(index, 0) + 1
        return super().__getitem__(index)
rows = Rows(["a.npz", "b.npz"])
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for batch in DataLoader(rows, batch_size=2):
        optimizer.zero_grad()
        net(batch).sum().backward()
        optimizer.step()
    print(epoch, len(rows), rows[0])
torch.save(net.state_dict(), "net.pt")
"""


def test_what_a_data_set_has_read_is_read_again_and_no_part_of_the_checkpoint():
    done = adapt(ROWS)
    assert '"net": net.state_dict()' in done.text and '"rows.' not in done.text


def test_an_archive_of_numpy_is_an_open_file_and_is_told():
    text = """
        import numpy as np
        import torch
        class Steps:
            def __init__(self):
                self.rows, self.count = {}, 0
            def next(self):
                self.rows = np.load(f"{self.count}.npz")
                self.count += 1
                return self.rows["x"]
        steps = Steps()
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(3):
            optimizer.zero_grad()
            net(torch.as_tensor(steps.next())).sum().backward()
            optimizer.step()
        torch.save(net.state_dict(), "net.pt")
    """
    done = adapt(text)
    assert '"steps.count"' in done.text and '"steps.rows"' not in done.text
    assert "steps.rows starts anew in each stint" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("made", ["make_maze_env()", "Frames(gym.make('Maze-v0'))"])
def test_a_world_that_begins_anew_is_told_however_it_is_made(made):
    done = adapt(f"""
        import gym
        import torch
        from worlds import Frames, make_maze_env
        env = {made}
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for episode in range(3):
            seen = env.reset()
            optimizer.zero_grad()
            net(seen).sum().backward()
            optimizer.step()
        torch.save(net.state_dict(), "net.pt")
    """)
    assert "the environment begins anew in each stint" in said(done, Kind.DIFFERS)


def test_a_table_of_pandas_goes_on_and_one_that_is_only_read_does_not():
    done = adapt("""
        import pandas as pd
        import torch
        rows, log = pd.read_csv("rows.csv"), pd.DataFrame(columns=["epoch", "loss"])
        net = torch.nn.Linear(4, 1)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(3):
            for at in range(0, len(rows), 4):
                optimizer.zero_grad()
                loss = net(torch.tensor(rows[at : at + 4].values)).sum()
                loss.backward()
                optimizer.step()
            log.loc[len(log)] = [epoch, loss.item()]
        log.to_csv("log.csv")
        torch.save(net.state_dict(), "net.pt")
    """)
    assert 'log = resumed["log"]' in done.text and '"rows"' not in done.text


@pytest.mark.parametrize("method", ["__getitem__", "collate"])
def test_samples_that_a_data_set_draws_by_itself_are_told(method):
    done = adapt(f"""
        import numpy as np
        import torch
        from torch.utils.data import DataLoader, Dataset
        class Rows(Dataset):
            def __init__(self, seed):
                self.rng = np.random.default_rng(seed)
            def __len__(self):
                return 9
            def {method}(self, index):
                return torch.as_tensor(self.rng.normal(size=4))
        def train(net, loader):
            optimizer = torch.optim.SGD(net.parameters(), 0.1)
            for epoch in range(3):
                for batch in loader:
                    optimizer.zero_grad()
                    net(batch).sum().backward()
                    optimizer.step()
            torch.save(net.state_dict(), "net.pt")
        train(torch.nn.Linear(4, 1), DataLoader(Rows(1)))
    """)
    assert ("self.rng of Rows draws from its beginning" in said(done, Kind.DIFFERS)) is (method == "__getitem__")


HELD = """
import torch
mean, counts = torch.zeros(3), torch.tensor([0.0, 0.0])
def smooth(x):
    mean.mul_(0.9).add_(x)
    counts[0] += 1
def mark(table, row, x):
    table[row] = x
def mix(shadow, net):
    for name, value in net.named_parameters():
        shadow[name].mul_(0.9).add_(value.data, alpha=0.1)
class Trainer:
    def __init__(self, net):
        self.net, self.optimizer = net, torch.optim.Adam(net.parameters())
        self.center, self.queue = torch.zeros(1, 3), torch.randn(8, 3)
        self.shadow = {name: value.clone() for name, value in net.state_dict().items()}
        self.table, self.only_read = torch.rand(4, 4), torch.rand(4, 4)
    def update(self, x):
        self.center.mul_(0.9).add_(x)
        self.queue[0] = x
        for name, value in self.net.state_dict().items():
            self.shadow[name].mul_(0.9).add_(value)
        mark(self.table, 0, self.only_read[0] + x)
    def fit(self, rows):
        ranks = torch.rand(9, 3)
        weights = {name: value.clone() for name, value in self.net.state_dict().items()}
        for epoch in range(9):
            for row in rows:
                self.optimizer.zero_grad()
                loss = self.net(row).sum()
                loss.backward()
                self.optimizer.step()
                self.update(loss.item())
                smooth(loss.item())
            mark(ranks, epoch, loss.item())
            mix(weights, self.net)
        torch.save(weights, "weights.pt")
Trainer(torch.nn.Linear(4, 2)).fit(torch.load("rows.pt"))
"""


def test_tensors_of_objects_and_of_the_module_that_functions_fill_are_kept():
    done = adapt(HELD)
    names = ["mean", "counts", "ranks", "weights", "self.center", "self.queue", "self.shadow", "self.table"]
    assert [name for name in names if f'"{name}": {name}' not in done.text] == []
    assert "only_read" not in done.text.partition('"epoch": epoch')[2].partition("resume_path")[0]
    assert not said(done, Kind.HAND) and "starts anew" not in said(done, Kind.DIFFERS)


def test_what_rounds_put_into_an_object_of_a_library_goes_on():
    done = adapt("""
        import pandas as pd
        import torch
        from torchvision import datasets
        rows, table = datasets.MNIST("data"), pd.read_csv("rows.csv")
        net = torch.nn.Linear(784, 10)
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for epoch in range(3):
            for x, y in rows:
                optimizer.zero_grad()
                net(x).sum().backward()
                optimizer.step()
            rows.targets[epoch] = 3
            table.loc[epoch, "loss"] = 1
            optimizer.param_groups[0]["lr"] *= 0.9
            net.weight.data[0] = 0
        torch.save(net.state_dict(), "net.pt")
    """)
    assert 'rows.targets = resumed["rows.targets"]' in done.text and 'table = resumed["table"]' in done.text
    assert "param_groups =" not in done.text and "data =" not in done.text.partition("resumed")[2]
