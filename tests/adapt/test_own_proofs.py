"""Scripts that load a checkpoint of their own: only where it is proven that they go on by it are they left alone."""

from __future__ import annotations

import pytest
from checked import adapt, adapt_plainly, said

from outlast.migrate.engine import Kind

#: All of it is there: looked for unasked, the very file that is saved, model, optimizer and count.
WHOLE = """
import argparse, glob, os, torch
parser = argparse.ArgumentParser()
parser.add_argument("--out", default="out")
parser.add_argument("--fresh", action="store_true")
parser.add_argument("--load", default="")
args = parser.parse_args()
PATH = os.path.join(args.out, "last.pt")
config = {"preload": None}
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
best, start_epoch = 9.0, 0
if os.path.exists(PATH):
    state = torch.load(PATH)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    best = state["best"]
    start_epoch = state["epoch"] + 1
for epoch in range(start_epoch, 9):
    optimizer.step()
    best = min(best, model.loss)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch, "best": best}
    torch.save(state, PATH)
"""


def changed(*pairs):
    text = WHOLE
    for before, after in pairs:
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        [("if os.path.exists(PATH):", "if not args.fresh and os.path.exists(PATH):"), ('"--fresh", action="store_true"',
          '"--fresh", default=True')],
        [("if os.path.exists(PATH):", "if True:")],
        [("torch.save(state, PATH)", 'torch.save(state, f"{args.out}/last.pt")')],
        [("if os.path.exists(PATH):", 'files = sorted(glob.glob(os.path.join(args.out, "*.pt")))\nif files:'),
         ("torch.load(PATH)", "torch.load(files[-1])"),
         ("torch.save(state, PATH)", 'torch.save(state, os.path.join(args.out, "model_%d.pt" % epoch))')],
    ],
)  # fmt: skip
def test_what_goes_on_by_itself_is_left_alone(pairs):
    done = adapt(changed(*pairs))
    assert "counts on from it already" in said(done, Kind.KEPT) and "OUTLAST_CHECKPOINT" not in done.text


@pytest.mark.parametrize(
    "pairs",
    [
        [("if os.path.exists(PATH):", 'if config["preload"]:')],
        [("if os.path.exists(PATH):", "if args.load:")],
        [("if os.path.exists(PATH):", "if args.load and os.path.exists(PATH):")],
        [("if os.path.exists(PATH):", "if args.fresh:")],
        [("torch.save(state, PATH)", 'torch.save(state, os.path.join(args.out, "model_%d.pt" % epoch))')],
        [("    torch.save(state, PATH)", "torch.save(state, PATH)")],
        [("    torch.save(state, PATH)", "    if epoch % 5 == 0:\n        torch.save(state, PATH)")],
        [('    optimizer.load_state_dict(state["optimizer"])\n', "")],
        [('    optimizer.load_state_dict(state["optimizer"])\n',
          '    if args.load:\n        optimizer.load_state_dict(state["optimizer"])\n')],
        [('    best = state["best"]\n', "")],
        [("range(start_epoch, 9)", "range(9)")],
        [("if os.path.exists(PATH):", "done = 0\nif args.load:"), ('start_epoch = state["epoch"] + 1',
          'done = state["epoch"] + 1\nstart_epoch = max(0, int(done))')],
        [("if os.path.exists(PATH):", "def load():"), ("    model.load", "    if not args.load:\n        return 0\n"
          "    model.load"), ('start_epoch = state["epoch"] + 1', 'return state["epoch"] + 1\nstart_epoch = load()')],
    ],
)  # fmt: skip
def test_what_is_not_proven_gets_the_lines(pairs):
    done = adapt(changed(*pairs))
    assert "already" not in said(done, Kind.KEPT) and 'first_epoch = resumed["epoch"] + 1' in done.text
    assert "(epoch, model, optimizer, best" in said(done, Kind.CHANGED)


def test_a_field_of_a_configuration_is_named():
    done = adapt_plainly(changed(("if os.path.exists(PATH):", 'if config["preload"]:')))
    assert 'config["preload"] goes on as before; in a stint nothing need be passed' in said(done, Kind.KEPT)


TRAINER = """
import os, torch
class Trainer:
    def __init__(self, path):
        self.path = path
        self.model = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        self.start_epoch = 0
        {begin}
    def load(self):
        {leave}
        state = torch.load(self.path)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.start_epoch = state["epoch"] + 1
    def train(self):
        for epoch in range(self.start_epoch, 9):
            self.optimizer.step()
            state = {{"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(), "epoch": epoch}}
            torch.save(state, self.path)
Trainer("last.pt").train()
"""


def test_a_trainer_that_looks_for_its_file_is_left_alone():
    leave = "if not os.path.exists(self.path):\n            return"
    done = adapt(TRAINER.format(begin="self.load()", leave=leave))
    assert "counts on from it already" in said(done, Kind.KEPT)


@pytest.mark.parametrize(
    ("begin", "leave"), [("", "pass"), ("if RESUME: self.load()", "pass"), ("self.load()", "if not RESUME: return")]
)
def test_a_trainer_that_is_not_told_to_load_gets_the_lines(begin, leave):
    done = adapt("RESUME = False" + TRAINER.format(begin=begin, leave=leave))
    assert "already" not in said(done, Kind.KEPT) and 'first_epoch = resumed["epoch"] + 1' in done.text


MANAGER = """
import tensorflow as tf
model = tf.keras.Sequential()
optimizer = tf.keras.optimizers.Adam()
checkpoint = tf.train.Checkpoint(model=model{more})
manager = tf.train.CheckpointManager(checkpoint, "out", max_to_keep=3)
start_epoch = 0
if manager.latest_checkpoint:
    checkpoint.restore(manager.latest_checkpoint)
    start_epoch = int(manager.latest_checkpoint.split("-")[-1])
for epoch in range(start_epoch, 9):
    optimizer.apply_gradients(zip(model.gradients, model.trainable_variables))
    manager.save()
"""


def test_a_checkpoint_manager_of_tensorflow_is_its_own_file():
    done = adapt(MANAGER.format(more=", optimizer=optimizer"))
    assert "counts on from it already" in said(done, Kind.KEPT)
    done = adapt(MANAGER.format(more=""))
    assert "already" not in said(done, Kind.KEPT) and "goes on from its last checkpoint" in said(done, Kind.CHANGED)
