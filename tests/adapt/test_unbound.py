"""What is made only under a condition may not be there: the lines that save must not ask for it."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from stage import play
from torch_stage import HEAD, STEP

#: trainings of which a flag leaves parts unmade, or branches that make it in any case
SHAPES = {
    "asked by another word": """
        phases = ["train", "test"] if IS_TRAINED else ["test"]
        if IS_TRAINED:
            optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(4):
            for phase in phases:
                if phase == "train":
                    step(model, optimizer, 1.0, 2.0)
            print(epoch, model(1.0).item())
    """,
    "one of two under a flag": """
        plain = True
        if IS_TRAINED:
            if plain:
                optimizer = torch.optim.SGD(model.parameters())
            else:
                optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
        for epoch in range(4):
            if IS_TRAINED:
                step(model, optimizer, 1.0, 2.0)
            print(epoch, model(1.0).item())
    """,
    "the others go on": """
        if IS_TRAINED:
            optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(4):
            if not IS_TRAINED:
                print(epoch)
                continue
            step(model, optimizer, 1.0, 2.0)
            print(epoch, model(1.0).item())
    """,
    "a condition that cannot be asked twice": """
        if IS_TRAINED and POINTS.pop():
            optimizer = torch.optim.SGD(model.parameters())
        for epoch in range(4):
            if IS_TRAINED:
                step(model, optimizer, 1.0, 2.0)
            print(epoch, model(1.0).item())
    """,
    "values": """
        if IS_TRAINED:
            optimizer = torch.optim.SGD(model.parameters())
            losses, best = [], 9.0
        for epoch in range(4):
            if IS_TRAINED:
                losses.append(step(model, optimizer, 1.0, 2.0))
                best = min(best, losses[-1])
                print(best, losses)
            print(epoch, model(1.0).item())
    """,
    "an object that counts": """
        class Record:
            def __init__(self):
                self.best, self.losses = 9.0, []
            def add(self, loss):
                self.best = min(self.best, loss)
                self.losses.append(loss)
        if IS_TRAINED:
            optimizer = torch.optim.SGD(model.parameters())
            record = Record()
        for epoch in range(4):
            if IS_TRAINED:
                record.add(step(model, optimizer, 1.0, 2.0))
                print(record.best, record.losses)
            print(epoch, model(1.0).item())
    """,
    "in a function": """
        def train(is_trained):
            if is_trained:
                optimizer = torch.optim.SGD(model.parameters())
                losses = []
            for epoch in range(4):
                if is_trained:
                    losses.append(step(model, optimizer, 1.0, 2.0))
                    print(losses)
                print(epoch, model(1.0).item())
        train(IS_TRAINED)
    """,
}  # fmt: skip


@pytest.mark.parametrize("is_trained", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_flag_leaves_unmade_is_not_asked_for(shape, is_trained, run, tmp_path):
    head = f"{HEAD}{STEP}\nIS_TRAINED = {is_trained}\nmodel = nn.Linear(1, 1)\n"
    text = head + textwrap.dedent(SHAPES[shape])
    done = adapt(text)
    assert done.is_complete and "resume.pt" in done.text, done.findings
    whole = run(text).output.splitlines()
    kept = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    first = run(done.text, env=kept, kill_after=len(whole) // 2 + 1).output.splitlines()
    rest = run(done.text, env=kept).output.splitlines()
    assert rest and first + rest[len(first) + len(rest) - len(whole) :] == whole


PLAIN = """
import sys
is_kept = len(sys.argv) > 1
if is_kept:
    seen = []
total = 0
for epoch in range(4):
    total += epoch
    if is_kept:
        seen.append(total)
        print(seen)
    print(epoch, total)
"""


@pytest.mark.parametrize("argv", [[], ["on"]])
def test_values_of_plain_python_likewise(argv, tmp_path):
    done = adapt(PLAIN)
    assert done.is_complete, done.findings
    whole = play(PLAIN, tmp_path, *argv).output.splitlines()
    kept = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    first = play(done.text, tmp_path, *argv, env=kept, kill_after=len(whole) // 2 + 1).output.splitlines()
    rest = play(done.text, tmp_path, *argv, env=kept).output.splitlines()
    assert rest and first + rest[len(first) + len(rest) - len(whole) :] == whole


def test_so_are_generators_tensors_and_lists_of_models():
    done = adapt("""
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if ask():
            generator = torch.Generator()
            center = torch.zeros(1, requires_grad=True)
            nets = [torch.nn.Linear(1, 1) for _ in range(2)]
        for epoch in range(4):
            if epoch and asked:
                loss = model(center) + sum(net(torch.rand(1, generator=generator)) for net in nets)
                center.grad = None
                loss.backward()
                optimizer.step()
    """)
    for name in ("generator", "center", "nets"):
        assert "else None" in next(line for line in done.text.splitlines() if line.strip().startswith(f'"{name}":'))
        assert f'    if "{name}" in locals():' in done.text
