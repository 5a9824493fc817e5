"""The order of samples goes on where a loader draws it from a generator that a function has made."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

LOADER = """
import random

class Generator:
    def __init__(self):
        self.source = random.Random(3)
    def get_state(self):
        return self.source.getstate()
    def set_state(self, state):
        self.source.setstate(state)

class DataLoader:
    def __init__(self, rows, generator=None):
        self.rows, self.generator = rows, generator
    def __iter__(self):
        return iter(self.generator.source.sample(self.rows, len(self.rows)) if self.generator else self.rows)
"""
SHAPES = {
    "made in a function, handed to another": """
        def loaders():
            order = Generator()
            return DataLoader(POINTS, generator=order), DataLoader(POINTS)
        def fit(net, opt, train, test):
            for epoch in range(4):
                loss = 0
                for x, y in train:
                    loss = loss * 2 + step(net, opt, x, y)
                for x, y in test:
                    net(x)
                print(epoch, loss)
        net = nn.Linear(1, 1)
        train, test = loaders()
        fit(net, torch.optim.SGD(net.parameters()), train, test)
        print("end", net(1.0).item())
    """,
    "the loader in an epoch's function": """
        def loader(seed):
            return DataLoader(POINTS, generator=Generator())
        def one_epoch(net, opt, rows):
            loss = 0
            for at, (x, y) in enumerate(rows):
                loss = loss * 2 + step(net, opt, x, y)
            return loss
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        rows = loader(3)
        for epoch in range(4):
            print(epoch, one_epoch(net, opt, rows))
        print("end", net(1.0).item())
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_order_of_samples_is_the_same_after_a_stop(shape, run, tmp_path):
    text = HEAD + STEP + LOADER + textwrap.dedent(SHAPES[shape])
    lines = run(text).output.splitlines()
    done = adapt(text)
    assert run(done.text).output.splitlines() == lines
    for stop in range(1, len(lines) + 1):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        assert run(done.text, env=env).output.splitlines()[-1] == lines[-1], stop


def test_a_loader_with_a_name_tells_its_generator():
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        from torch.utils.data import DataLoader
        rows = DataLoader(POINTS, shuffle=True, generator=torch.Generator().manual_seed(0))
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            for x, y in rows:
                step(net, opt, x, y)
    """)
    )
    done = adapt(text)
    assert "rows.generator.get_state()" in done.text and not said(done, Kind.HAND)


def test_a_loader_that_a_function_makes_tells_its_generator():
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        from torch.utils.data import DataLoader
        def build():
            return DataLoader(POINTS, shuffle=True, generator=torch.Generator().manual_seed(0))
        def fit(net, opt, rows):
            for epoch in range(4):
                for x, y in rows:
                    step(net, opt, x, y)
        net = nn.Linear(1, 1)
        fit(net, torch.optim.SGD(net.parameters()), build())
    """)
    )
    done = adapt(text)
    assert "rows.generator.get_state()" in done.text and not said(done, Kind.HAND)


def test_a_generator_that_has_a_name_is_kept_by_that():
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        from torch.utils.data import DataLoader
        order = torch.Generator()
        rows = DataLoader(POINTS, shuffle=True, generator=order)
        net = nn.Linear(1, 1)
        opt = torch.optim.SGD(net.parameters())
        for epoch in range(4):
            for x, y in rows:
                step(net, opt, x, y)
    """)
    )
    assert "order.get_state()" in adapt(text).text and "rows.generator" not in adapt(text).text


@pytest.mark.parametrize(("kept", "is_told"), [("True", True), ("workers > 0", True), ("False", False)])
def test_workers_that_stay_alive_are_told(kept, is_told):
    done = adapt(f"""
        import torch
        from torch.utils.data import DataLoader
        workers = 2
        loader = DataLoader(rows, shuffle=True, num_workers=workers, persistent_workers={kept})
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            for x in loader:
                model(x).backward()
                optimizer.step()
    """)
    assert ("workers that stay alive begin anew" in said(done, Kind.DIFFERS)) is is_told
