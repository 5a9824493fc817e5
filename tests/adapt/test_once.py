"""What a script does only once: it trains where its result is not there yet, or makes a window when it first draws."""

from __future__ import annotations

import pytest
from programs import Program

POINTS = "[(at / 8, at / 4 + 1) for at in range(8)]"
SOLVER = f"""
import os
import torch

class Solver:
    def __init__(self, rate, folder):
        self.rate, self.folder = rate, folder
        self.model = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), rate)

    def train(self):
        best = os.path.join(self.folder, "net-%.3f.pt" % self.rate)
        {{asked}}
        rate = self.rate
        for epoch in range(5):
            model, optimizer = self.model, self.optimizer
            for x, y in {POINTS}:
                STEP
            rate -= self.rate / 8
            self.optimizer.lr = rate
            torch.save(self.model.state_dict(), best)
            print("epoch", epoch, round(rate, 6), loss.item(), flush=True)
"""
TRAIN = """
import argparse
import os
import torch
from solver import Solver

parser = argparse.ArgumentParser()
parser.add_argument("--save-dir", default="models")
args = parser.parse_args()
torch.manual_seed(1)
os.makedirs(args.save_dir, exist_ok=True)
Solver(0.01, args.save_dir).train()
"""
ASKED = {
    "left": ["if os.path.isfile(best):", "    print('trained before')", "    return"],
    "left, beside more": ["if self.rate > 0 and not (not os.path.exists(best)):", "    return"],
}


def _nested(text: str) -> str:
    """The training in the branch of what is not there yet."""
    head, _, body = text.partition("        {asked}\n")
    lines = ["        if not os.path.exists(best):", *("    " + line for line in body.splitlines())]
    return head + "\n".join(lines) + "\n"


def _asking(kind: str) -> str:
    return SOLVER.format(asked="\n        ".join(ASKED[kind])) if kind in ASKED else _nested(SOLVER)


@pytest.mark.parametrize("kind", [*ASKED, "around"])
def test_a_file_that_the_rounds_save_does_not_end_a_training(kind, tmp_path):
    program = Program(tmp_path / "code", solver=_asking(kind), train=TRAIN)
    program.adapt()
    expected = program.run("--train_url", str(tmp_path / "whole"))
    assert len([line for line in expected.lines if line.startswith("epoch")]) == 5, expected.error
    first = program.run("--train_url", str(tmp_path / "out"), until="epoch 2")
    assert first.code != 0
    after = program.run("--train_url", str(tmp_path / "out"))
    assert after.lines and after.lines == expected.lines[-len(after.lines) :], after.error
    # Without an option it asks as before.
    assert len(program.run().lines) == 5
    assert not [line for line in program.run().lines if line.startswith("epoch")]


def test_another_file_is_asked_for_as_before(tmp_path):
    asked = "if os.path.isfile('start.pt'):\n            self.model.load_state_dict(torch.load('start.pt'))"
    program = Program(tmp_path, solver=SOLVER.format(asked=asked), train=TRAIN)
    assert not [each for each in program.adapt().findings if "skip" in each.message]


def test_an_object_without_its_window_does_not_believe_that_it_has_one(tmp_path):
    program = Program(
        tmp_path / "code",
        drawing="""
            class Window:
                def add(self, point):
                    pass

            class Drawing:
                def __init__(self):
                    self.count, self.at = 0, {}
                def plot(self, value):
                    at = self.at.get("loss", 0)
                    if at == 0:
                        self.window = Window()
                        self.at["loss"] = 1
                        return
                    self.window.add((self.count, value))
                    self.at["loss"] = at + 1
                    self.count += 1
        """,
        train=f"""
            import torch
            from drawing import Drawing

            torch.manual_seed(1)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            drawing = Drawing()
            for epoch in range(5):
                for x, y in {POINTS}:
                    STEP
                drawing.plot(loss.item())
                print("epoch", epoch, loss.item(), flush=True)
        """,
    )
    done = program.adapt()
    assert [each for each in done.findings if each.message.startswith("drawing starts anew in each stint: ")]
    expected = program.run("--train_url", str(tmp_path / "whole"))
    program.run("--train_url", str(tmp_path / "out"), until="epoch 2")
    after = program.run("--train_url", str(tmp_path / "out"))
    assert after.lines and after.lines == expected.lines[-len(after.lines) :], after.error
