"""Scripts whose loop the Trainer of transformers owns."""

from __future__ import annotations

import enum
import sys
import types
from pathlib import Path

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

HUGGING = """
from transformers import {names}
arguments = TrainingArguments({folder}num_train_epochs=3)
trainer = {maker}(model=model, args=arguments)
{train}
"""


WRAPPED = "resume_train(trainer.train, contract.train_url)"


@pytest.mark.parametrize("maker", ["Trainer", "Seq2SeqTrainer", "MyTrainer"])
@pytest.mark.parametrize("folder", ['output_dir="out", ', '"out", '])
def test_a_trainer_goes_on_from_its_last_whole_checkpoint(maker, folder):
    names = f"{maker}, TrainingArguments"
    done = adapt(HUGGING.format(names=names, maker=maker, folder=folder, train="trainer.train()"))
    assert done.is_complete and "goes on from the last checkpoint" in said(done, Kind.CHANGED)
    assert "train_loss, which its Trainer tells at the end, leaves out the stints before" in said(done, Kind.DIFFERS)
    assert 'contract.train_url or "out"' in done.text
    assert f"\n{WRAPPED}()\n" in done.text
    assert '"checkpoint-[0-9]*", "trainer_state.json"' in done.text


@pytest.mark.parametrize(
    "train",
    [
        "trainer.train(resume_from_checkpoint=where)",
        "last = get_last_checkpoint(arguments.output_dir)\ntrainer.train(last)",
        "if where: trainer.train()",
        "result = trainer.train()",
    ],
)
def test_a_trainer_that_was_told_where_to_go_on_is_told_better(train):
    text = HUGGING.format(names="Trainer, TrainingArguments", maker="Trainer", folder='output_dir="out", ', train=train)
    done = adapt(text)
    assert train.replace("trainer.train", WRAPPED) in done.text and done.is_complete


def test_trainings_that_follow_each_other_have_checkpoints_of_their_own():
    text = HUGGING.format(names="Trainer, TrainingArguments", maker="Trainer", folder="", train="trainer.train()\n" * 2)
    done = adapt(text)
    assert 'contract.train_url, "resume-1")()' in done.text and 'contract.train_url, "resume-2")()' in done.text


def test_a_trainer_of_folds_is_refused():
    train = "for fold in range(5):\n    trainer.train()"
    done = adapt(HUGGING.format(names="Trainer, TrainingArguments", maker="Trainer", folder="", train=train))
    assert "more than once" in said(done, Kind.HAND) and "resume_train" not in done.text


@pytest.mark.parametrize(
    ("head", "makes"),
    [
        ("from trl import SFTTrainer, SFTConfig", "SFTTrainer(model, args=SFTConfig('o')).train()"),
        ("from transformers import Trainer", "class T(Trainer):\n    pass\nT(model).train()"),
        ("from transformers import Trainer", "def get():\n    return Trainer(model)\nt = get()\nt.train()"),
        ("from transformers import TrainingArguments\nfrom mine import QATrainer", "QATrainer(args=arguments).train()"),
        ("from transformers import Trainer", "cls = Trainer if model else None\nt = cls(model)\nt.train()"),
    ],
)
def test_a_trainer_is_found_by_its_class(head, makes):
    done = adapt(f"{head}\nfrom here import model, arguments\n{makes}\n")
    assert done.text.count("resume_train(") == 2


@pytest.mark.parametrize("package", ["pytorch_accelerated", "setfit", ".training"])
def test_a_trainer_of_another_package_is_not_taken_for_that_of_transformers(package):
    done = adapt(f"from transformers import AutoModel\nfrom {package} import Trainer\nt = Trainer(net)\nt.train()\n")
    assert "resume_train" not in done.text and not done.is_complete


def test_a_class_of_the_script_called_trainer_is_its_own():
    done = adapt("from transformers import AutoModel\nclass Trainer:\n    def train(self): pass\nTrainer().train()\n")
    assert "resume_train" not in done.text


class _Arguments(types.SimpleNamespace):
    """Training arguments that keep their strategy as transformers does."""


class _Strategy(enum.Enum):
    NO = "no"
    EPOCH = "epoch"


class _Trainer:
    def __init__(self, args):
        self.args = args

    def train(self, resume_from_checkpoint=None):
        first = 0
        if resume_from_checkpoint:
            first = int((Path(resume_from_checkpoint) / "trainer_state.json").read_text())
        for epoch in range(first, 4):
            print("epoch", epoch)
            if self.args.save_strategy is _Strategy.EPOCH:
                folder = Path(self.args.output_dir, f"checkpoint-{epoch + 1}")
                folder.mkdir(parents=True)
                (folder / "trainer_state.json").write_text(str(epoch + 1))


def test_a_folder_of_weights_is_nothing_to_go_on_from(tmp_path, monkeypatch):
    """`elif os.path.isdir(name): checkpoint = name`, and the name is where the contract brings weights."""
    package = types.ModuleType("transformers")
    package.Trainer = _Trainer
    package.AutoModel = types.SimpleNamespace(from_pretrained=lambda name: print(name))
    package.TrainingArguments = lambda output_dir: _Arguments(output_dir=output_dir, save_strategy=_Strategy.EPOCH)
    monkeypatch.setitem(sys.modules, "transformers", package)
    text = adapt(
        "import os\nfrom transformers import AutoModel, Trainer, TrainingArguments\n"
        "arguments = TrainingArguments(output_dir='out')\nname = 'some/bert'\nmodel = AutoModel.from_pretrained(name)\n"
        "checkpoint = name if os.path.isdir(name) else None\n"
        "Trainer(args=arguments).train(resume_from_checkpoint=checkpoint)\n"
    ).text
    for folder in ("out", "weights", "earlier"):
        (tmp_path / folder).mkdir()
    (tmp_path / "earlier" / "trainer_state.json").write_text("2")
    whole = [f"epoch {at}" for at in range(4)]
    asked = play(text, tmp_path, "--train_url=out", "--pretrain_url=earlier", kill_after=2)
    assert asked.output.splitlines() == ["earlier", *whole[2:3]]
    argv = ["--train_url=out", "--pretrain_url=weights"]
    assert play(text, tmp_path, *argv, kill_after=3).output.splitlines() == ["weights", *whole[:2]]
    assert play(text, tmp_path, *argv).output.splitlines() == ["weights", *whole[1:]]


@pytest.mark.parametrize("place", ["OUTLAST_CHECKPOINT", "--train_url", ""])
def test_killed_it_goes_on_although_it_was_told_not_to_save(tmp_path, monkeypatch, place):
    package = types.ModuleType("transformers")
    package.Trainer = _Trainer
    package.TrainingArguments = lambda output_dir: _Arguments(output_dir=output_dir, save_strategy=_Strategy.NO)
    monkeypatch.setitem(sys.modules, "transformers", package)
    text = adapt(
        "from transformers import Trainer, TrainingArguments\n"
        "arguments = TrainingArguments(output_dir='./')\n"
        "Trainer(args=arguments).train()\nprint(arguments.output_dir)\n"
    ).text
    keeps = tmp_path / "keeps"
    keeps.mkdir()
    env = {place: str(keeps)} if place.isupper() else {}
    argv = [f"{place}={keeps}"] if place.startswith("--") else []
    whole = [*(f"epoch {at}" for at in range(4)), str(keeps) if argv else "./"]
    (keeps / "checkpoint-9").mkdir()  # cut off
    assert play(text, tmp_path, *argv, env=env, kill_after=3).output.splitlines() == whole[:3]
    assert play(text, tmp_path, *argv, env=env).output.splitlines() == whole[2 if place else 0 :]
    assert bool(list(tmp_path.rglob("trainer_state.json"))) == bool(place)


PARSED = """
import sys
from dataclasses import dataclass, field
from typing import Optional
from transformers import AutoModel, HfArgumentParser, Trainer, TrainingArguments
@dataclass
class Extra:
    model_path: Optional[str] = field(default=None)
    data_dir: str = "data"
    size: int = 3
{parser}
model = AutoModel.from_pretrained(extra.model_path)
open(training.output_dir + "/notes.txt", "w").close()
Trainer(model=model, args=training).train()
"""


@pytest.mark.parametrize(
    "parser",
    [
        "extra, training = HfArgumentParser((Extra, TrainingArguments)).parse_args_into_dataclasses()",
        "parser = HfArgumentParser([Extra, TrainingArguments])\n"
        "if len(sys.argv) == 2:\n    extra, training = parser.parse_json_file(sys.argv[1])\n"
        "else:\n    extra, training = parser.parse_args_into_dataclasses()",
    ],
)
def test_fields_of_dataclasses_follow_the_contract(parser):
    done = adapt(PARSED.format(parser=parser))
    assert done.is_complete
    assert "if contract.train_url:\n    training.output_dir = contract.train_url\n" in done.text
    assert "if contract.data_url:\n    extra.data_dir = contract.data_url\n" in done.text
    assert "if contract.pretrain_url:\n    extra.model_path = contract.pretrain_url\n" in done.text
    assert 'sys.argv += ["--output_dir", contract.train_url]' in done.text, "some versions insist on it"
    assert done.text.index("sys.argv[1:] = ") < done.text.index("HfArgumentParser(")


def test_a_parser_of_trl_is_known_too():
    done = adapt(
        "from trl import SFTConfig, SFTTrainer, TrlParser, ModelConfig\n"
        "config, model = TrlParser((SFTConfig, ModelConfig)).parse_args_and_config()\n"
        "SFTTrainer(args=config).train()\n"
    )
    assert "config.output_dir = contract.train_url" in done.text and done.is_complete


ACCELERATED = """
import torch
from accelerate import Accelerator{more}
accelerator = Accelerator()
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
model, optimizer = accelerator.prepare(model, optimizer)
for epoch in range(3):
    accelerator.backward(model(data).mean())
    optimizer.step()
    optimizer.zero_grad()
"""


def test_accelerate_may_spread_a_model_by_settings_that_are_not_seen():
    done = adapt(ACCELERATED.format(more=""))
    assert done.is_complete and "not with FSDP or DeepSpeed in accelerate" in said(done, Kind.DIFFERS)
    done = adapt(ACCELERATED.format(more=", FullyShardedDataParallelPlugin"))
    assert "save with accelerator.save_state and load_state" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "prepared",
    [
        "model, optimizer, sheduler = accelerator.prepare(model, optimizer, sheduler)",
        "model, optimizer = accelerator.prepare(model, optimizer)\nsheduler = accelerator.prepare(sheduler)",
        "model, optimizer, warm = accelerator.prepare(model, optimizer, sheduler)",
    ],
)
def test_a_scheduler_is_known_by_what_made_it_though_accelerate_has_wrapped_it(prepared):
    name = "warm" if "warm" in prepared else "sheduler"
    made = "sheduler = torch.optim.lr_scheduler.LinearLR(optimizer)\n"
    text = ACCELERATED.format(more="").replace(
        "model, optimizer = accelerator.prepare(model, optimizer)", made + prepared
    )
    text = text.replace("    optimizer.zero_grad()", f"    optimizer.zero_grad()\n    {name}.step()")
    done = adapt(text)
    assert f'"{name}": {name}.state_dict()' in done.text and "starts anew" not in said(done, Kind.DIFFERS)


def test_what_a_script_calls_glob_stays_what_it_is():
    head = "from glob import glob\n"
    text = HUGGING.format(
        names="Trainer, TrainingArguments", maker="Trainer", folder='"out", ', train="trainer.train()"
    )
    done = adapt(head + text + 'print(glob("out/*"))\n')
    assert "\nimport glob\n" not in done.text
    assert 'importlib.import_module("glob").glob(' in done.text
