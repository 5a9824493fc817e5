"""Trainings that an Engine of Ignite runs: what is saved at the end of each epoch, and what is refused."""

from __future__ import annotations

import pytest
from checked import adapt as adapt_for_a_platform
from checked import adapt_plainly as adapt
from checked import said
from programs import Program
from stage import read

from outlast.migrate.engine import Kind

HEAD = """
import torch
from ignite.engine import Engine, Events
from ignite.handlers import EarlyStopping, ModelCheckpoint
class Critic(torch.nn.Module):
    pass
model = torch.nn.Linear(1, 1)
critic = Critic()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
"""


def test_an_engine_is_saved_with_what_it_trains():
    done = adapt(read("torch_ignite"))
    assert done.is_complete
    for name in ("model", "optimizer", "trainer"):
        assert f'{name}.load_state_dict(resumed["{name}"])' in done.text
    assert "if engine.state.epoch < engine.state.max_epochs:" in done.text, "an engine that is done begins anew"
    assert "trainer.add_event_handler(Events.EPOCH_COMPLETED, save_resume)\n    trainer.run(" in done.text


def test_what_goes_along_is_saved_and_what_cannot_be_is_told():
    done = adapt(
        HEAD + "trainer = Engine(step)\nstopping = EarlyStopping(3, score, trainer)\n"
        "trainer.add_event_handler(Events.COMPLETED, ModelCheckpoint('o', score_function=score))\n"
        "trainer.run(data, 9)\n"
    )
    for name in ("model", "critic", "optimizer", "lr_scheduler", "stopping", "trainer"):
        assert f'{name}.load_state_dict(resumed["{name}"])' in done.text, name
    assert "ModelCheckpoint starts anew" in said(done, Kind.DIFFERS) and "EarlyStopping" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ("trainer = Engine(step)\ntrainer.run(data)\n", "an Engine of Ignite runs the training"),
        ("trainer = Engine(step)\ntrainer.run(data, 9)\ntrainer.run(data, 9)\n", "an Engine of Ignite runs"),
        ("def go(trainer):\n    trainer.run(data, max_epochs=9)\ngo(Engine(step))\n", "is not made in the function"),
        ("def go():\n    trainer = Engine(step)\n    trainer.run(data, 9)\ngo()\n", "model and optimizer are not in"),
        ("trainer = Engine(step)\nfor fold in range(3):\n    trainer.run(data, max_epochs=9)\n", "more than once"),
    ],
)  # fmt: skip
def test_an_engine_that_is_not_certain_is_refused(tail, reason):
    done = adapt(HEAD + tail)
    assert reason in said(done, Kind.HAND) and "OUTLAST" not in done.text


@pytest.mark.parametrize(
    ("saver", "expected"),
    [
        ("DiskSaver('kept')", "DiskSaver(contract.train_url or 'kept', require_empty=not (os"),
        ("ModelCheckpoint('kept', 'net')", "(contract.train_url or 'kept', 'net', require_empty=not (os"),
        ("Checkpoint({}, 'kept')", "DiskSaver(contract.train_url or 'kept', create_dir=True, require_empty=not ("),
        (
            "Checkpoint({}, DiskSaver('kept', require_empty=False))",
            "DiskSaver(contract.train_url or 'kept', require_empty=False))\n",
        ),
    ],
)
def test_its_own_checkpoints_lie_in_the_output_folder_and_may_be_there_already(saver, expected):
    text = HEAD.replace("import EarlyStopping", "import Checkpoint, DiskSaver, EarlyStopping")
    done = adapt_for_a_platform(f"{text}trainer = Engine(step)\nsaver = {saver}\ntrainer.run(data, 9)\n")
    assert expected in done.text and done.is_complete


def test_one_that_saves_already_is_told_to_load():
    done = adapt(HEAD + "ModelCheckpoint('o', 'net')\ntrainer = Engine(step)\ntrainer.run(data)\n")
    assert "load what its Checkpoint handler saved last" in said(done, Kind.HAND)


ENGINES = """
    import torch
    from ignite.engine import Engine, Events
    def make(model, optimizer):
        def update(engine, batch):
            model.train()
            optimizer.step()
        return Engine(update)
    def fit(config, model, loader, optimizer, scheduler):
        trainer = make(model, optimizer)
        @trainer.on(Events.EPOCH_STARTED)
        def adjust(engine):
            scheduler.step()
        trainer.run(loader, max_epochs=config.epochs)
    def fit_with_centers(config, model, centers, loader, optimizer, optimizer_centers):
        trainer = make(model, optimizer)
        trainer.run(loader, max_epochs=config.epochs)
"""
STARTS = {
    "one or the other": """
        if config.kind == "plain":
            fit(config, model, loader, optimizer, scheduler)
        else:
            fit_with_centers(config, model, centers, loader, optimizer, optimizer_centers)
    """,
    "both": """
        fit(config, model, loader, optimizer, scheduler)
        fit_with_centers(config, model, centers, loader, optimizer, optimizer_centers)
    """,
}


@pytest.mark.parametrize("start", STARTS)
def test_engines_that_functions_make_of_what_they_are_handed(start, tmp_path):
    lines = [line[8:] for line in STARTS[start].splitlines()]
    head = "from parts import centers, config, loader, model, optimizer, optimizer_centers, scheduler"
    train = "\n".join([head, "from engines import fit, fit_with_centers", *lines])
    program = Program(tmp_path, train=train, engines=ENGINES)
    done = program.adapt("plain")
    text = program.text("engines.py")
    if start == "both":
        assert any("an Engine of Ignite" in each.message for each in done.by_hand) and "OUTLAST" not in text
        return
    assert not done.by_hand
    assert text.count('["given"]') == text.count(".add_event_handler(Events.EPOCH_COMPLETED, save_resume") == 2
    assert "dict(config=config, model=model, centers=centers, loader=loader, optimizer=optimizer, " in text
    assert any("(model, optimizer, scheduler, trainer)" in each.message for each in done.findings)
