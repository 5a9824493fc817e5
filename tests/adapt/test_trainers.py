"""Scripts whose loop the Trainer of transformers owns."""

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
