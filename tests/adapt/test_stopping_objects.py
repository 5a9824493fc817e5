"""An object that saves the best weights when it is called: what is loaded behind the training is what it has saved."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt
from programs import Program

STOPPING = """
import torch
class Stopping:
    def __init__(self, patience, path="checkpoint.pt"):
        self.patience, self.path, self.best, self.count = patience, path, None, 0
    def __call__(self, loss, model):
        if self.best is None or loss < self.best:
            self.best, self.count = loss, 0
            self.keep(model)
        else:
            self.count += 1
    def keep(self, model):
        torch.save(model.state_dict(), self.path)
"""
TRAIN = """
torch.manual_seed(1)
torch.save([1.0], "scale.pkl")
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
stop = Stopping(3{path})
for epoch in range(4):
    for x, y in [(1.0, 2.0), (2.0, 3.0)]:
        optimizer.zero_grad()
        loss = model(x) - y
        loss = loss * loss
        loss.backward()
        optimizer.step()
    stop(loss.item(), model)
    print("epoch", epoch, loss.item(), flush=True)
model.load_state_dict(torch.load({name}))
print("best", model(1.0).item())
"""
PLACES = [("", '"checkpoint.pt"'), (', path="best.pt"', '"best.pt"')]


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_weights_that_a_called_object_has_saved_need_not_be_brought(path, name):
    done = adapt(STOPPING + TRAIN.format(path=path, name=name))
    assert "pretrain_url" not in done.text and "os.path.join(contract.train_url or" in done.text


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_neither_need_those_of_an_object_of_another_file(path, name, tmp_path):
    train = "import torch\nfrom stopping import Stopping\n" + textwrap.dedent(TRAIN.format(path=path, name=name))
    files = {"stopping": STOPPING, "train": train}
    whole = Program(tmp_path / "whole", **files).run()
    program = Program(tmp_path / "code", **files)
    done = program.adapt()
    assert "pretrain_url" not in program.text("train.py"), [each.message for each in done.findings]
    flags = ["--train_url", str(tmp_path / "out")]
    program.run(*flags, until="epoch 2")
    second = program.run(*flags)
    assert second.lines[-1] == whole.lines[-1], second.error
    assert {each.name for each in (tmp_path / "out").glob("*.pt")} == {name.strip('"'), "resume.pt"}


def test_weights_that_are_loaded_before_such_an_object_is_called_are_brought():
    early = "model = torch.nn.Linear(1, 1)\nmodel.load_state_dict(torch.load('checkpoint.pt'))\n"
    text = STOPPING + TRAIN.format(path="", name="'checkpoint.pt'").replace("model = torch.nn.Linear(1, 1)\n", early)
    assert "pretrain_url" in adapt(text).text
