"""What one file of a program runs, another has imported, made or named."""

from __future__ import annotations

import pytest
from programs import Program

KERAS = """
from {keras}.layers import Dense
from {keras}.models import Sequential

def build():
    model = Sequential([Dense(1)])
    model.compile("sgd", "mse")
    return model
"""
LOOP = """
import torch

def fit(model, rows):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for epoch in range(5):
        for x, y in rows:
            STEP
"""


def _told(done):
    return [finding.message for finding in done.findings]


def test_a_model_of_keras_goes_on_though_another_file_builds_it(tmp_path):
    train = 'from nets import build\nmodel = build()\nmodel.fit([1.0], epochs=9)\nmodel.save("m.keras")\n'
    for name in ("keras", "tensorflow.keras", "keras.api"):
        program = Program(tmp_path, train=train, nets=KERAS.format(keras=name))
        done = program.adapt()
        assert "resume_fit(model.fit, contract.train_url)([1.0], epochs=9)" in program.text("train.py")
        assert not done.by_hand and "trains in one call that cannot be continued" not in _told(done)


def test_a_fit_that_another_file_writes_is_none_of_keras(tmp_path):
    """Its class fits a model of Keras, and is no model itself: what goes on is the fit inside."""
    nets = KERAS.format(keras="keras") + (
        "\nclass Task:\n    def __init__(self):\n        self.model = build()\n\n"
        "    def fit(self, rows, epochs):\n        self.model.fit(rows, epochs=epochs)\n"
    )
    program = Program(tmp_path, train="from nets import Task\nTask().fit([1.0], epochs=9)\n", nets=nets)
    program.adapt()
    assert "Task().fit([1.0], epochs=9)" in program.text("train.py")
    assert "resume_fit(self.model.fit, " in program.text("nets.py")


def test_a_fit_of_another_library_is_none_of_keras_that_another_file_uses(tmp_path):
    train = "from forest import Forest\nfrom nets import build\nforest = Forest()\nforest.fit(1, 2, 3, 4)\nbuild()\n"
    program = Program(tmp_path, train=train, nets=KERAS.format(keras="keras"))
    program.adapt()
    assert "\nforest.fit(1, 2, 3, 4)\n" in program.text("train.py")


def test_public_names_of_keras_below_api_are_known(tmp_path):
    text = (
        "from keras.api.utils import image_dataset_from_directory\nimport keras\n"
        'rows = image_dataset_from_directory("./data/train/")\n'
        'keras.Sequential().fit(rows, epochs=3)\nopen("out.txt", "w").write("x")\n'
    )
    program = Program(tmp_path, train=text)
    program.adapt()
    assert "contract.data_url or './data/train'" in program.text("train.py").replace('"', "'")


def test_numbers_of_cuda_are_kept_wherever_it_is_named(tmp_path):
    train = """
        import torch
        from engine import fit

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        fit(torch.nn.Linear(1, 1).to(device), [])
    """
    program = Program(tmp_path, train=train, engine=LOOP)
    program.adapt()
    assert '"cuda_random": torch.cuda.get_rng_state_all()' in program.text("engine.py")
    plain = Program(tmp_path, train=train.replace('"cuda" if torch.cuda.is_available() else', ""), engine=LOOP)
    plain.adapt()
    assert "cuda_random" not in plain.text("engine.py")


def test_what_mindspore_draws_in_another_file_is_told(tmp_path):
    nets = """
        from mindspore import nn

        class Net(nn.Cell):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(p=0.5)
                self.dense = nn.Dense(1, 1)
    """
    train = """
        from mindspore import nn
        from nets import Net

        net = Net()
        optimizer = nn.SGD(net.trainable_params(), 0.1)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
        for epoch in range(5):
            step(1.0, 2.0)
    """
    told = _told(Program(tmp_path, train=train, nets=nets).adapt())
    assert any("MindSpore draws by itself (Dropout)" in each for each in told)


def test_what_several_processes_share_is_seen_in_any_file_that_is_run(tmp_path):
    train = "import torch\nfrom engine import fit\nfrom wrap import prepare\nfit(prepare(torch.nn.Linear(1, 1)), [])\n"
    wrap = "from torch.distributed.fsdp import fully_shard\n\ndef prepare(model):\n    return fully_shard(model)\n"
    done = Program(tmp_path, train=train, engine=LOOP, wrap=wrap).adapt()
    assert any("each process holds a part of the model (fully_shard)" in finding.message for finding in done.by_hand)


STARRED = """
from transformers import AutoModel, Trainer, TrainingArguments
import datasets

rows = datasets.load_dataset("conll2003")["train"]
model = AutoModel.from_pretrained("bert-base-uncased")
args = TrainingArguments("runs")
"""


def test_a_star_import_of_the_program_brings_the_names_of_libraries(tmp_path):
    train = "from {} import *\ntrainer = Trainer(model, args, train_dataset=rows)\ntrainer.train()\n"
    for files, name in (
        ({"setting": STARRED}, "setting"),
        ({"setting": STARRED, "every": "from setting import *\nREAD = 'data'\n"}, "every"),
        ({"conf__setting": STARRED, "conf____init__": ""}, "conf.setting"),
    ):
        program = Program(tmp_path / name, train=train.format(name), **files)
        done = program.adapt()
        assert "resume_train(trainer.train, contract.train_url)()" in program.text("train.py")
        assert not done.by_hand


def test_a_trainer_of_the_program_is_none_of_a_library_for_its_name(tmp_path):
    trainer = LOOP.replace("def fit(model, rows):", "class Trainer:\n    def __init__(self, model, args):\n"
        "        self.model = model\n\n    def train(self, rows=()):\n        model = self.model").replace(
        "\n    optimizer", "\n        optimizer").replace("\n    for", "\n        for").replace(
        "\n        for x", "\n            for x").replace("            STEP", "                STEP")  # fmt: skip
    train = """
        import torch
        from transformers import AutoConfig, TrainingArguments
        from trainer import Trainer

        trainer = Trainer(torch.nn.Linear(1, 1), args=TrainingArguments("runs"))
        trainer.train()
    """
    program = Program(tmp_path, train=train, trainer=trainer)
    program.adapt()
    assert "resume_train" not in program.text("train.py") and '"optimizer": optimizer' in program.text("trainer.py")
    made = "from transformers import Trainer as HF\n\nclass Trainer(HF):\n    pass\n\nread = open\n"
    program = Program(tmp_path, train=train, trainer=made)
    program.adapt()
    assert "resume_train(trainer.train, contract.train_url)()" in program.text("train.py")


GUARDS = {
    "an option": (
        """
            import os

            def check(args):
                if os.path.isdir(args.output_dir):
                    if len(os.listdir(args.output_dir)) > 0:
                        raise ValueError("there is something already")
        """,
        """
            import argparse
            import os
            import torch
            from checks import check

            parser = argparse.ArgumentParser()
            parser.add_argument("--output_dir", default="runs")
            args = parser.parse_args()
            check(args)
            os.makedirs(args.output_dir, exist_ok=True)
            torch.save(1, os.path.join(args.output_dir, "one.pt"))
            print("done")
        """,
    ),
    "a setting": (
        """
            import os
            import config

            def check():
                assert not os.path.exists(config.OUT_DIR), "there is something already"
        """,
        """
            import os
            import torch
            import config
            from checks import check

            check()
            os.makedirs(config.OUT_DIR, exist_ok=True)
            torch.save(1, os.path.join(config.OUT_DIR, "one.pt"))
            print("done")
        """,
    ),
}


@pytest.mark.parametrize("way", GUARDS)
def test_a_folder_that_exists_ends_no_training_whichever_file_minds_it(way, tmp_path):
    checks, train = GUARDS[way]
    program = Program(tmp_path / "code", train=train, checks=checks, config='OUT_DIR = "runs"\n')
    assert "exists: no longer when --train_url is given" in " ".join(_told(program.adapt()))
    results = tmp_path / "results"
    for _ in range(2):
        ran = program.run(f"--train_url={results}")
        assert ran.lines == ["done"] and not ran.code, ran.error
    assert (results / "one.pt").exists() and not program.files()
    assert program.run().lines == ["done"]
    again = program.run()
    assert again.code and "there is something already" in again.error


def test_dataclasses_of_another_file_have_the_fields_that_stand_there(tmp_path):
    classes = """
        from dataclasses import dataclass, field
        from transformers import TrainingArguments

        @dataclass
        class ModelArguments:
            model_name_or_path: str = field(default="some/bert")

        @dataclass
        class DataTrainingArguments:
            dataset_dir: str = field(default="data")

        @dataclass
        class OwnTrainingArguments(TrainingArguments):
            output_dir: str = "runs"
    """
    train = """
        from classes import DataTrainingArguments, ModelArguments, OwnTrainingArguments
        from datasets import load_from_disk
        from transformers import AutoModel, HfArgumentParser, Trainer

        quick = False
        if quick:
        \tprint("quick")

        def main():
            parser = HfArgumentParser((ModelArguments, DataTrainingArguments, OwnTrainingArguments))
            model_args, data_args, training_args = parser.parse_args_into_dataclasses()
            rows = load_from_disk(data_args.dataset_dir)
            model = AutoModel.from_pretrained(model_args.model_name_or_path)
            Trainer(model=model, args=training_args, train_dataset=rows).train()

        main()
    """
    program = Program(tmp_path, train=train, classes=classes)
    assert not program.adapt().by_hand
    text = program.text("train.py")
    for owner, name in (
        ("training_args.output_dir", "train_url"),
        ("data_args.dataset_dir", "data_url"),
        ("model_args.model_name_or_path", "pretrain_url"),
    ):
        assert f"    if contract.{name}:\n        {owner} = contract.{name}\n" in text
    assert text.count("output_dir = contract") == 1


def test_data_training_arguments_of_an_unseen_file_have_no_output_folder(tmp_path):
    train = """
        from elsewhere import DataTrainingArguments
        from transformers import HfArgumentParser, Trainer, TrainingArguments

        data_args, args = HfArgumentParser((DataTrainingArguments, TrainingArguments)).parse_args_into_dataclasses()
        Trainer(args=args).train()
    """
    program = Program(tmp_path, train=train)
    program.adapt()
    assert "data_args.output_dir" not in program.text("train.py")
    assert "\n    args.output_dir = contract.train_url\n" in program.text("train.py")


def test_a_loop_over_a_model_of_keras_needs_no_import_of_it(tmp_path):
    engine = """
        def run(model, rows):
            for epoch in range(5):
                for x, y in rows:
                    model.train_on_batch(x, y)
    """
    train = "from nets import build\nfrom engine import run\nfrom rows import load\nrun(build(), load())\n"
    rows = """
        import tensorflow as tf

        def load():
            return tf.data.Dataset.range(4).shuffle(4)
    """
    program = Program(tmp_path, train=train, engine=engine, nets=KERAS.format(keras="tensorflow.keras"), rows=rows)
    assert not program.adapt().by_hand
    text = program.text("engine.py")
    assert '"model": model' in text and "import tensorflow\n" in text
    assert "isinstance(resume_" in text and "tensorflow.data.Dataset" in text, "its order goes on, too"


def test_a_trainer_of_lightning_goes_on_though_another_file_makes_it(tmp_path):
    nets = "import lightning as L\n\ndef make():\n    return L.Trainer(max_epochs=3)\n"
    program = Program(tmp_path, train="from nets import make\ntrainer = make()\ntrainer.fit(1)\n", nets=nets)
    done = program.adapt()
    assert not done.by_hand and "resume_fit(trainer.fit, contract.train_url)(1)" in program.text("train.py")
    assert "import lightning.pytorch\n" in program.text("train.py")
    assert any("its logs and checkpoints stay where it puts them" in each for each in _told(done))


def test_a_second_adaptation_of_a_module_with_a_method_that_saves_changes_nothing(tmp_path):
    program = Program(
        tmp_path,
        train="""
            from nets import Net
            net = Net()
            net.train([1.0], [2.0])
            net.save("net.h5")
        """,
        nets="""
            from tensorflow import keras
            class Net:
                def __init__(self):
                    self.model = keras.Sequential([keras.layers.Dense(1)])
                    self.model.compile("sgd", "mse")
                def train(self, x, y):
                    self.model.fit(x, y, epochs=3)
                def save(self, file_name):
                    self.model.save(file_name)
        """,
    )
    program.adapt()  # twice: the second time changes nothing
    assert "def resume_fit" in program.text("nets.py")
