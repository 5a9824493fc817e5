"""Iterators over loaders that an object holds for its training deal a later stint what it would have been dealt."""

from __future__ import annotations

import pytest
from checked import adapt, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

SOLVER = """
class Loader:
    def __iter__(self):
        start = torch.draw()
        for at in range(3):
            yield start + at, float(at)


class Solver:
    def __init__(self, loader, other_loader):
        self.loader, self.other_loader = loader, other_loader
        self.net = nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters())
        {first}

    def next_batch(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.other_loader)
            return next(self.batches)

    def take(self, batches):
        return next(batches)

    def train(self):
        {before}
        for epoch in range(5):
            for x, y in self.loader:
                step(self.net, self.optimizer, x, y)
            for _ in range(2):
                {draw}
            print(epoch, step(self.net, self.optimizer, x, y))


Solver([(1.0, 2.0), (2.0, 3.0)], Loader()).train()
"""
MADE = "self.batches = iter(self.other_loader)"
CYCLES = {
    "for": """
def again(loader):
    while True:
        for batch in loader:
            yield batch
""",
    "from": """
def again(loader):
    while 1:
        yield from loader
""",
    "next": """
def again(loader):
    batches = iter(loader)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            batches = iter(loader)
            batch = next(batches)
        yield batch
""",
    "try": """
def again(loader):
    batches = iter(loader)
    while True:
        try:
            yield next(batches)
        except StopIteration:
            batches = iter(loader)
""",
}


def write(first="pass", before="pass", draw="x, y = self.next_batch()"):
    return HEAD + STEP + SOLVER.format(first=first, before=before, draw=draw)


def must_go_on(text, done, kill_after, run, tmp_path):
    """What is killed behind some lines says the others when it is started again, and all of them without options."""
    lines = run(text).output.splitlines()
    assert run(done.text).output.splitlines() == lines, "without the options nothing may change"
    flags = "--train_url", str(tmp_path / "out")
    assert run(done.text, *flags, kill_after=kill_after).was_killed
    assert run(done.text, *flags).output.splitlines() == lines[kill_after - 1 :], done.text


@pytest.mark.parametrize(
    "parts",
    [
        {"first": MADE},
        {"before": MADE},
        {"first": "self.batches = iter(other_loader)"},
        {"first": MADE, "draw": "x, y = self.take(self.batches) if epoch == 0 else self.next_batch()"},
    ],
)
@pytest.mark.parametrize("kill_after", [2, 4])
def test_an_iterator_that_an_object_holds_goes_on_where_it_was(parts, kill_after, run, tmp_path):
    text = write(**parts)
    done = adapt(text)
    assert "starts anew" not in said(done, Kind.DIFFERS) and "self.batches" in said(done, Kind.CHANGED)
    must_go_on(text, done, kill_after, run, tmp_path)


@pytest.mark.parametrize(
    "parts",
    [
        {"first": MADE, "draw": "x, y = self.next_batch(); print(len(self.batches))"},
        {"first": MADE, "draw": "x, y = self.next_batch(); show(self.batches)"},
        {"first": f"if loader: {MADE}"},
    ],
)
def test_what_an_object_does_not_surely_go_through_again_is_told(parts):
    done = adapt(write(**parts))
    assert "ResumedIterator" not in done.text and "self.batches starts anew" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("way", ["for", "from", "try"])
@pytest.mark.parametrize("is_field", [True, False])
@pytest.mark.parametrize("kill_after", [2, 3, 4])
def test_a_function_that_goes_through_a_loader_without_end_goes_on_where_it_was(
    way, is_field, kill_after, run, tmp_path
):
    if is_field:
        text = write("self.batches = again(self.other_loader)", draw="x, y = next(self.batches)")
    else:
        text = write(before="other_loader = again(self.other_loader)", draw="x, y = next(other_loader)")
    text = text.replace("class Loader:", CYCLES[way] + "\n\nclass Loader:")
    done = adapt(text)
    assert "starts anew" not in said(done, Kind.DIFFERS) and "ResumedCycle(again, self.other_loader)" in done.text
    must_go_on(text, done, kill_after, run, tmp_path)


@pytest.mark.parametrize(
    "changed",
    [
        ("            yield batch", "            yield batch\n            yield batch"),
        ("            yield batch", "            if batch:\n                yield batch"),
        ("        for batch in loader:", "        for batch in loader[1:]:"),
        ("    while True:", "    while len(loader):"),
        ("            yield batch", "            count += 1\n            yield batch"),
    ],
)
def test_a_function_that_deals_otherwise_is_not_taken_for_such_a_one(changed):
    text = write("self.batches = again(self.other_loader)", draw="x, y = next(self.batches)")
    done = adapt(text.replace("class Loader:", CYCLES["for"].replace(*changed) + "\n\nclass Loader:"))
    assert "ResumedCycle" not in done.text and "self.batches starts anew" in said(done, Kind.DIFFERS)


def test_a_loader_whose_name_stands_for_its_cycle_goes_on_too(run, tmp_path):
    text = (
        HEAD
        + STEP
        + CYCLES["for"]
        + """
class DataLoader(list):
    def __iter__(self):
        start = torch.draw()
        return iter([(start + at, float(at)) for at in range(len(self))])


rows = DataLoader(range(3))
rows = again(rows)
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters())
for epoch in range(5):
    x, y = next(rows)
    for _ in range(2):
        print(epoch, step(net, optimizer, x, y))
"""
    )
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert "rows = ResumedCycle(again, rows)" in done.text and "starts anew" not in said(done, Kind.DIFFERS)
    flags = "--train_url", str(tmp_path / "out")
    assert run(done.text, *flags, kill_after=5).was_killed
    assert run(done.text, *flags).output.splitlines() == lines[4:]
