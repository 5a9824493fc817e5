"""Scripts whose loop a Trainer owns: of transformers and of Lightning."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HUGGING = """
from transformers import {names}
arguments = TrainingArguments({folder}num_train_epochs=3)
trainer = {maker}(model=model, args=arguments)
{train}
"""

LIGHTNING = """
{imports}
data = make()
trainer = {trainer}
trainer.fit({given})
"""


@pytest.mark.parametrize("maker", ["Trainer", "Seq2SeqTrainer", "MyTrainer"])
@pytest.mark.parametrize("folder", ['output_dir="out", ', '"out", '])
def test_a_trainer_goes_on_from_its_last_whole_checkpoint(maker, folder):
    names = f"{maker}, TrainingArguments"
    done = adapt(HUGGING.format(names=names, maker=maker, folder=folder, train="trainer.train()"))
    assert done.is_complete and "goes on from the last checkpoint" in said(done, Kind.CHANGED)
    assert 'contract.train_url or "out"' in done.text
    assert "trainer.train(resume_from_checkpoint=resume_from)" in done.text
    assert '"checkpoint-[0-9]*", "trainer_state.json"' in done.text


@pytest.mark.parametrize(
    ("train", "kind", "words"),
    [
        ("trainer.train(resume_from_checkpoint=where)", Kind.DIFFERS, "saves and resumes by itself"),
        ("for fold in range(5):\n    trainer.train()", Kind.HAND, "more than once"),
        ("trainer.train()\ntrainer.train()", Kind.DIFFERS, "saves and resumes by itself"),
        ("last = get_last_checkpoint(arguments.output_dir)\ntrainer.train(last)", Kind.KEPT, "goes on from the last"),
    ],
)
def test_a_trainer_that_cannot_be_told_is_left_alone(train, kind, words):
    text = HUGGING.format(names="Trainer, TrainingArguments", maker="Trainer", folder='output_dir="out", ', train=train)
    done = adapt(text)
    assert words in said(done, kind)
    assert "resume_from " not in done.text


@pytest.mark.parametrize(
    ("imports", "trainer", "callbacks"),
    [
        ("import lightning as L", "L.Trainer(max_epochs=3)", "L.pytorch.callbacks.Checkpoint"),
        ("import pytorch_lightning as pl", "pl.Trainer()", "pl.callbacks.Checkpoint"),
        ("import lightning.pytorch as pl", "pl.Trainer(max_epochs=3,)", "pl.callbacks.Checkpoint"),
        ("from lightning import Trainer", "Trainer(max_epochs=3)", "lightning.pytorch.callbacks.Checkpoint"),
        ("from pytorch_lightning import Trainer", "Trainer(max_epochs=3)", "pytorch_lightning.callbacks.Checkpoint"),
    ],
)
@pytest.mark.parametrize("given", ["Net(), data", "Net(), data,", "model=Net()"])
def test_lightning_gets_a_callback_and_the_folder_for_its_results(imports, trainer, callbacks, given):
    done = adapt(LIGHTNING.format(imports=imports, trainer=trainer, given=given))
    assert done.is_complete and f"class SaveResume({callbacks}):" in done.text
    assert "default_root_dir=contract.train_url" in done.text
    assert "ckpt_path=resume_path if resume_dir and os.path.exists(resume_path) else None" in done.text
    assert "saves nothing" not in said(done, Kind.DIFFERS)


def test_the_folder_that_lightning_was_given_stays_by_hand():
    trainer = 'L.Trainer(default_root_dir="runs")'
    done = adapt(LIGHTNING.format(imports="import lightning as L", trainer=trainer, given="Net()"))
    assert 'default_root_dir=contract.train_url or "runs"' in done.text


@pytest.mark.parametrize("given", ['Net(), ckpt_path="last"', "Net(), **more"])
def test_lightning_that_was_told_where_to_go_on_is_left_alone(given):
    done = adapt(LIGHTNING.format(imports="import lightning as L", trainer="L.Trainer()", given=given))
    assert "Lightning saves and resumes by itself" in said(done, Kind.DIFFERS) and "SaveResume" not in done.text


def test_every_source_of_random_numbers_goes_into_the_checkpoint():
    text = LIGHTNING.format(
        imports="import random, lightning as L, numpy as np", trainer="L.Trainer()", given="Net(np.random.rand(3))"
    )
    done = adapt(text)
    assert (
        '"torch_random": torch.get_rng_state(), "numpy_random": np.random.get_state(), "random": random.getstate()'
        in (done.text)
    )
    assert 'np.random.set_state(self.random["numpy_random"])' in done.text and "import torch" in done.text
