"""Loops that a script writes itself: what goes into their checkpoint, and what is refused."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

MODEL = """
import torch
{before}
def train(fold):
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(9):
        optimizer.step()
{after}
"""


@pytest.mark.parametrize(
    "after",
    [
        "for fold in range(5):\n    train(fold)",
        "train(0)\ntrain(1)",
        "def every():\n    return [train(f) for f in (1, 2)]\nevery()",
    ],
)
def test_trainings_one_after_the_other_never_share_a_checkpoint(after):
    done = adapt(MODEL.format(before="", after=after))
    assert done.is_complete and 'f"resume-{next(training_count)}.pt"' in done.text


@pytest.mark.parametrize(
    ("before", "after"),
    [("import optuna", "for fold in range(5):\n    train(fold)"), ("", "while left():\n    train(0)")],
)
def test_trainings_of_which_another_start_may_have_others_are_refused(before, after):
    assert "done more than once" in said(adapt(MODEL.format(before=before, after=after)), Kind.HAND)


@pytest.mark.parametrize(
    "after",
    [
        "train(0)",
        "if torch.cuda.is_available():\n    train(0)\nelse:\n    train(1)",
        "def run(**words):\n    train(1)\ntrain(0)",
    ],
)
def test_a_training_that_is_started_once_resumes(after):
    assert 'torch.save({"epoch"' in adapt(MODEL.format(before="", after=after)).text.replace("\n", "").replace("  ", "")


@pytest.mark.parametrize("library", ["torch", "tensorflow as tf", "keras", "mindspore", "jax"])
def test_plain_values_are_not_kept_beside_a_network_that_is_not(library):
    done = adapt(
        f"import {library}\nfrom nets import step\nseen = []\nfor epoch in range(9):\n    seen.append(step())\n"
    )
    reason = "no optimizer or training Cell" if library == "mindspore" else "is not visible here"
    assert reason in said(done, Kind.HAND) and "pickle" not in done.text


def test_modules_beside_those_of_the_optimizer_are_saved():
    done = adapt("""
        import torch
        class Critic(torch.nn.Module):
            pass
        model, critic = torch.nn.Linear(1, 1), Critic()
        learned = make(model)
        optimizer = torch.optim.SGD(learned.parameters(), 0.1)
        for epoch in range(9):
            model.zero_grad()
            learned(critic(model(1)))
            optimizer.step()
    """)
    for name in ("learned", "critic", "optimizer"):
        assert f'{name}.load_state_dict(resumed["{name}"])' in done.text, name


@pytest.mark.parametrize(
    "made",
    [
        "scaler = torch.cuda.amp.GradScaler() if fast else None",
        "scaler = None\nif fast:\n    scaler = torch.cuda.amp.GradScaler()",
    ],
)
def test_what_may_be_none_is_saved_only_when_it_is_there(made):
    done = adapt(
        "import torch\nfast = True\nmodel = torch.nn.Linear(1, 1)\n"
        f"optimizer = torch.optim.SGD(model.parameters(), 0.1)\n{made}\n"
        "for epoch in range(9):\n    if scaler:\n        scaler.step(optimizer)\n    optimizer.step()\n"
    )
    assert "scaler.state_dict() if scaler is not None else None" in done.text
    assert 'if scaler is not None:\n        scaler.load_state_dict(resumed["scaler"])' in done.text


MISSING = """
import torch
fast, other = True, 1
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
{made}
for epoch in range(9):
    {use}
        scaler.step(optimizer)
    optimizer.step()
"""


def test_what_is_there_under_a_condition_is_saved_under_it():
    made = "if fast:\n    scaler = torch.cuda.amp.GradScaler()"
    done = adapt(MISSING.format(made=made, use="if fast:"))
    assert "scaler.state_dict() if fast else None" in done.text
    assert 'if fast:\n        scaler.load_state_dict(resumed["scaler"])' in done.text


FIELDS = """
import torch
class Trainer:
    def __init__(self, model, fast):
        self.model, self.fast = model, fast
        self.optimizer = torch.optim.SGD(model.parameters(), 0.1)
        {made}
    def train(self):
        for epoch in range(9):
            if self.fast:
                self.scaler.step(self.optimizer)
            self.optimizer.step()
Trainer(torch.nn.Linear(1, 1), False).train()
"""


def test_a_field_that_only_a_branch_makes_is_asked_for_first():
    scaler = "self.scaler = torch.cuda.amp.GradScaler({})"
    done = adapt(FIELDS.format(made=f"if fast:\n            {scaler.format('')}"))
    assert 'self.scaler.state_dict() if hasattr(self, "scaler") else None' in done.text
    assert 'if hasattr(self, "scaler"):\n                self.scaler.load_state_dict(' in done.text
    both = f"if fast:\n            {scaler.format('1')}\n        else:\n            {scaler.format('2')}"
    for made in (scaler.format(""), both):
        assert "hasattr(self, " not in adapt(FIELDS.format(made=made)).text


def test_a_condition_about_something_else_is_no_sign_of_nothing():
    made = "if fast == ask():\n    scaler = torch.cuda.amp.GradScaler()\nelif other:\n    scaler = other"
    assert adapt(MISSING.format(made=made, use="if epoch % 2 == 0:")).is_complete


def test_the_scales_of_apex_are_saved():
    made = "from apex import amp\nmodel, optimizer = amp.initialize(model, optimizer)\nscaler = None"
    done = adapt(MISSING.format(made=made, use="if False:"))
    assert "amp.load_state_dict(resumed" in done.text


def test_a_value_that_is_only_handed_on_is_not_saved():
    text = """
        import torch
        def train(model, optimizer, rates, seen):
            seen.append(rates["loss"](model(1)))
            optimizer.step()
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        rates, seen = {"loss": lambda x: x}, []
        for epoch in range(9):
            train(model, optimizer, rates, seen)
    """
    done = adapt(text)
    assert 'resumed["seen"]' in done.text and 'resumed["rates"]' not in done.text


@pytest.mark.parametrize("after", ["try:\n    train(0)\nexcept RuntimeError:\n    train(1)"])
def test_a_second_try_is_the_same_training(after):
    assert adapt(MODEL.format(before="", after=after)).is_complete


SEVERAL = """
import torch
{start}
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(9):
    for batch in model.batches:
        optimizer.step()
"""


@pytest.mark.parametrize(
    "start",
    [
        'torch.distributed.init_process_group("gloo")',
        "import utils\nutils.init_distributed_mode(1)",
        "from project import setup\nsetup()",
        "import os\nlocal = os.environ['LOCAL_RANK']",
    ],
)
def test_of_several_processes_one_saves_wherever_they_are_started(start):
    text = adapt(SEVERAL.format(start=start)).text
    assert "saves_here = saves_here or torch.distributed.get_rank() == 0" in text
    assert "    if resume_dir and saves_here:\n        os.makedirs(resume_dir" in text
    assert "    if saves_here:\n        torch.set_rng_state(" in text


def test_processes_of_horovod_are_told_apart_by_it():
    text = adapt(SEVERAL.format(start="import horovod.torch as hvd\nhvd.init()")).text
    assert "saves_here = hvd.rank() == 0" in text


def test_a_process_that_can_only_be_alone_is_not_asked():
    done = adapt(SEVERAL.format(start="import torchvision, os"))
    assert "saves_here" not in done.text and "one process saves for all" not in said(done, Kind.DIFFERS)


def test_who_only_asks_for_other_processes_trains_alone():
    done = adapt("""
        import torch
        from torch.nn.parallel import DistributedDataParallel
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(9):
            optimizer.step()
            plain = model.module if isinstance(model, DistributedDataParallel) else model
    """)
    assert "one process saves for all" not in said(done, Kind.DIFFERS)


def test_a_model_that_is_spread_over_processes_is_refused():
    done = adapt("""
        import torch
        from torch.distributed.fsdp import fully_shard
        model = torch.nn.Linear(1, 1)
        fully_shard(model)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(9):
            optimizer.step()
    """)
    assert "each process holds a part of the model" in said(done, Kind.HAND)


def test_a_part_of_a_model_with_a_name_of_its_own_is_saved():
    done = adapt("""
        import torch
        from nets import load
        body = load().features
        head = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(list(body.parameters()) + list(head.parameters()), 0.1)
        every = list(body.parameters()) + list(head.parameters())
        second = torch.optim.SGD(every, 0.1)
        for epoch in range(9):
            head(body(1))
            second.step()
    """)
    assert 'body.load_state_dict(resumed["body"])' in done.text


@pytest.mark.parametrize("indent", ["if args.out:\n        ", ""])
def test_what_is_loaded_in_a_branch_and_made_anew_in_each_round_is_not_kept(indent):
    """Once the script failed on resume, because `checkpoint` has no value without --resume."""
    text = f"""
import argparse, torch
p = argparse.ArgumentParser()
p.add_argument("--resume", default="")
p.add_argument("--out", default="out")
args = p.parse_args()
model = torch.nn.Linear(1, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
if args.resume:
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
for epoch in range(9):
    optimizer.step()
    {indent}checkpoint = {{"model": model.state_dict()}}; torch.save(checkpoint, args.out + "/last.pth")
"""
    done = adapt(text)
    assert "goes on from its last checkpoint (epoch, model, optimizer)" in said(done, Kind.CHANGED)
    assert 'resumed["checkpoint"]' not in done.text


def test_an_environment_that_begins_anew_is_told():
    done = adapt(SEVERAL.format(start='import gym\nenv = gym.make("CartPole-v1")'))
    assert done.is_complete and "the environment begins anew in each stint" in said(done, Kind.DIFFERS)


def test_trainings_in_two_functions_have_two_checkpoints():
    done = adapt("""
        import torch
        def warm(model, optimizer):
            for epoch in range(2):
                for batch in model.batches:
                    optimizer.step()
        def train(model, optimizer):
            for epoch in range(9):
                for batch in model.batches:
                    optimizer.step()
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        warm(model, optimizer)
        train(model, optimizer)
    """)
    assert done.is_complete and '"resume.pt")' in done.text and '"resume2.pt")' in done.text


def test_options_that_are_called_opt_are_no_optimizer():
    done = adapt("""
        import argparse, torch
        from nets import train_epoch
        def train(opt):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), opt.lr)
            for epoch in range(opt.epochs):
                train_epoch(model, optimizer, opt)
        parser = argparse.ArgumentParser()
        parser.add_argument("--lr", type=float, default=0.1)
        parser.add_argument("--epochs", type=int, default=9)
        train(parser.parse_args())
    """)
    assert "(epoch, model, optimizer)" in said(done, Kind.CHANGED) and "opt.state_dict" not in done.text


def test_tensors_in_a_list_come_back_to_their_device():
    start = 'losses, device = [], "cuda"'
    text = SEVERAL.format(start=start).replace("optimizer.step()", "losses.append(optimizer.step())")
    text = adapt(text).text
    assert 'map_location=None if torch.cuda.is_available() else "cpu"' in text and "    del resumed\n" in text


def test_a_list_that_the_scripts_own_checkpoint_may_fill_is_kept():
    done = adapt("""
        import sys
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        losses, start = [], 0
        if len(sys.argv) > 1:
            state = torch.load(sys.argv[1])
            losses = state["losses"]
            start = state["epoch"]
        for epoch in range(start, 9):
            optimizer.step()
            losses.append(epoch)
    """)
    assert '"losses": losses' in done.text


@pytest.mark.parametrize(
    ("taken", "put_back"),
    [
        ("model.state_dict()", 'best = model.state_dict() if resumed["best"] else resumed["best"]'),
        ("copy.deepcopy(model.state_dict())", 'best = resumed["best"]'),
    ],
)
def test_weights_that_are_no_copy_are_those_of_the_model_again(taken, put_back):
    done = adapt(f"""
        import copy
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        best, low = None, 9.0
        for epoch in range(9):
            optimizer.step()
            if epoch < low:
                low = epoch
                best = {taken}
        model.load_state_dict(best)
    """)
    assert put_back in done.text


def test_trainings_that_share_the_file_of_their_best_weights_are_refused():
    done = adapt("""
        import torch

        def fit(fold):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            for epoch in range(9):
                optimizer.step()
                torch.save(model.state_dict(), "best.pth")
            model.load_state_dict(torch.load("best.pth"))
            return model

        for fold in range(4):
            torch.save(fit(fold), f"model_{fold}.pth")
    """)
    assert "each training loads a file behind its loop that the next one writes anew" in said(done, Kind.HAND)
