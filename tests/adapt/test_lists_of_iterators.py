"""Lists and objects of iterators: no file can hold them. They are brought to where they were, or told."""

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


@pytest.mark.parametrize("made", ["[iter(each) for each in loaders]", "{0: iter(loaders[0]), 1: iter(loaders[1])}"])
def test_iterators_in_a_list_of_the_loop_are_brought_to_where_they_were(made):
    done = adapt(NAMED.format(made=made))
    assert "batches[resume_key].load_state_dict(resume_part)" in done.text
    assert "batches[at] = ResumedIterator(loaders[at])" in done.text
    assert ANEW not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("made", ["[]", "[iter(sorted(each)) for each in loaders]", "[iter(each) for each in given()]"])
def test_iterators_in_a_list_of_the_loop_that_are_not_certain_are_told(made):
    done = adapt(NAMED.format(made=made))
    assert '"batches"' not in done.text and "ResumedIterator" not in done.text
    assert f"batches {ANEW}" in said(done, Kind.DIFFERS)


def test_iterators_in_an_object_of_another_file_are_brought_to_where_they_were(tmp_path):
    program = Program(tmp_path, train=TRAIN, mixed=HELD)
    done = program.adapt()
    text, mixed = program.text("train.py"), program.text("mixed.py")
    assert '"mixed.batches": [each.state_dict() for each in mixed.batches]' in text
    assert '"mixed.taken": mixed.taken' in text
    assert mixed.count("= ResumedIterator(") == 1 and "append(ResumedIterator(each))" in mixed
    assert ANEW not in " / ".join(each.message for each in done.findings)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return next(self.batches[at])", "return show(self.batches[at])"),
        ("self.batches = []", "self.batches = list(given)"),
        ("iter(each)", "iter(sorted(each))"),
        ("class Mixed:", "class Mixed(torch.utils.data.Dataset):"),
        ("self.batches = []", "if loaders:\n                self.batches = []"),
    ],
    ids=["used otherwise", "of unknown content", "over no loader", "copied to others", "made under a condition"],
)
def test_iterators_in_an_object_that_are_not_certain_are_told(old, new, tmp_path):
    program = Program(tmp_path, train=TRAIN, mixed=HELD.replace(old, new))
    done = program.adapt()
    text = program.text("train.py")
    assert "mixed.batches" not in text and "ResumedIterator" not in program.text("mixed.py")
    assert f"mixed.batches {ANEW}" in " / ".join(each.message for each in done.findings)


def test_a_list_of_numbers_is_kept_as_before():
    text = NAMED.replace("    model = torch", "    seen = [0, 0]\n    model = torch")
    text = text.replace("loss = ", "seen[at] += 1; loss = ")
    done = adapt(text.format(made="[iter(each) for each in loaders]"))
    assert '"seen": seen' in done.text
