"""Lists and dictionaries of iterators: no file can hold them, so they are told instead of kept."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

NAMED = """
    import torch
    from torch.utils.data import DataLoader

    loaders = [DataLoader(range(8), shuffle=True) for _ in range(2)]
    batches = {made}
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        for at in range(2):
            try:
                rows = next(batches[at])
            except StopIteration:
                batches[at] = iter(loaders[at])
                rows = next(batches[at])
            loss = model(rows).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""
HELD = """
    import torch

    class Mixed:
        def __init__(self, loaders):
            self.loaders, self.taken = loaders, 0
            self.batches = []
            for each in loaders:
                self.batches.append(iter(each))

        def take(self):
            self.taken += 1
            at = self.taken % 2
            try:
                return next(self.batches[at])
            except StopIteration:
                self.batches[at] = iter(self.loaders[at])
                return next(self.batches[at])
"""
TRAIN = """
    import torch
    from torch.utils.data import DataLoader
    from mixed import Mixed

    mixed = Mixed([DataLoader(range(8)), DataLoader(range(4))])
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        loss = model(mixed.take()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ANEW = "starts anew in each stint: no file can hold the iterators in it"


@pytest.mark.parametrize(
    "made", ["[iter(each) for each in loaders]", "{0: iter(loaders[0]), 1: iter(loaders[1])}", "[]"]
)
def test_iterators_in_a_list_of_the_loop_are_told(made):
    done = adapt(NAMED.format(made=made))
    assert '"batches"' not in done.text
    assert f"batches {ANEW}" in said(done, Kind.DIFFERS)


def test_iterators_in_an_object_of_another_file_are_told_and_its_numbers_kept(tmp_path):
    program = Program(tmp_path, train=TRAIN, mixed=HELD)
    done = program.adapt()
    text = program.text("train.py")
    assert "mixed.batches" not in text and '"mixed.taken": mixed.taken' in text
    assert f"mixed.batches {ANEW}" in " / ".join(each.message for each in done.findings)


def test_a_list_of_numbers_is_kept_as_before():
    text = NAMED.replace("    model = torch", "    seen = [0, 0]\n    model = torch")
    text = text.replace("loss = ", "seen[at] += 1; loss = ")
    done = adapt(text.format(made="[iter(each) for each in loaders]"))
    assert '"seen": seen' in done.text
