"""What looks like a path and is none, and paths that are spelled in unusual ways."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind


def test_a_function_of_the_script_takes_the_model_that_it_saves():
    done = adapt("""
        import os
        from gan import nets
        place = os.path.join(os.path.dirname(__file__), "trained")
        def save_model(model):
            model.save(place)
        generator = nets.generator
        save_model(generator)
    """)
    assert "    model.save(place)" in done.text and "generator = nets.generator\n" in done.text
    assert "place = contract.train_url or" in done.text or "contract.train_url" in done.text.split("place = ")[1]


def test_a_function_of_another_file_takes_the_model_too():
    done = adapt("from tools import save_model\nimport nets\nnet = nets.best\nsave_model(net)\n")
    assert "net = nets.best\n" in done.text


def test_a_method_that_saves_takes_the_place():
    done = adapt("import xgboost\nbooster = xgboost.Booster()\nbooster.save_model('b.json')\n")
    assert "booster.save_model(os.path.join(contract.train_url or '', 'b.json'))" in done.text


def test_an_f_string_that_nothing_is_filled_into_is_a_text():
    plain = """
        import os
        import matplotlib.pyplot as plt
        def show(rows):
            folder = os.path.join(os.path.dirname(__file__), "./out/")
            plt.savefig(os.path.join(folder, f"{len(os.listdir(folder))}.png"))
        show([1])
    """
    done = adapt(plain.replace('"./out/"', 'f"./out/"'))
    assert done.text.replace('f"./out/"', '"./out/"') == adapt(plain).text
    assert 'folder = os.path.join(contract.train_url, "") if contract.train_url else' in done.text


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("pd.ExcelFile('rows/a.xlsx')", "pd.ExcelFile(os.path.join(contract.data_url or 'rows', 'a.xlsx'))"),
        ("keras.utils.text_dataset_from_directory('rows/en')",
         "keras.utils.text_dataset_from_directory(contract.data_url or 'rows/en')"),
        ("tflearn.DNN(net, tensorboard_dir='logs')",
         "tflearn.DNN(net, tensorboard_dir=contract.train_url or 'logs')"),
        ("keras.utils.plot_model(net)",
         'keras.utils.plot_model(net, to_file=os.path.join(contract.train_url or "", "model.png"))'),
        ("keras.utils.plot_model(net, 'net.png')",
         "keras.utils.plot_model(net, os.path.join(contract.train_url or '', 'net.png'))"),
    ],
)  # fmt: skip
def test_calls_that_read_and_write_are_known(line, after):
    assert after in adapt(f"import keras, tflearn\nimport pandas as pd\nnet = 1\n{line}\n").text


def test_a_folder_that_is_made_for_the_very_file_is_made():
    text = """
        import logging, os
        def log_to(stamp):
            path = "runs/{}/train.log".format(stamp)
            MAKE
            logging.getLogger().addHandler(logging.FileHandler(path))
        log_to(str(3))
    """
    assert "nothing here makes it" in said(adapt(text.replace("MAKE", "pass")), Kind.CHANGED)
    made = adapt(text.replace("MAKE", "os.makedirs(os.path.dirname(path), exist_ok=True)"))
    assert "nothing here makes it" not in said(made, Kind.CHANGED)


@pytest.mark.parametrize("path", ['f"{args.name}{args.save_path}"', "args.name + args.save_path"])
def test_an_option_that_only_ends_a_name_is_no_place_of_its_own(path):
    done = adapt(f"""
        import argparse
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--save_path", default="_net.pth")
        parser.add_argument("--name", default="small")
        args = parser.parse_args()
        torch.save(torch.nn.Linear(3, 1), {path})
    """)
    assert f'os.path.join(args.train_url or "", {path})' in done.text and "args.save_path =" not in done.text
    assert "--save_path" not in said(done, Kind.DIFFERS)


def test_a_table_within_a_file_has_a_name_and_no_place():
    done = adapt("""
        import os
        import h5py
        from torchvision.datasets import ImageFolder
        rows = ImageFolder(os.path.join("/srv/pictures", "train"))
        with h5py.File("rows.hd5f", "w") as file:
            file.create_dataset("data", data=[len(rows)])
    """)
    assert 'file.create_dataset("data", data=[len(rows)])' in done.text
    assert 'os.path.join(contract.data_url or "/srv/pictures", "train")' in done.text
    assert "unrelated places" not in said(done, Kind.HAND)


def test_a_table_of_another_kind_is_still_read_from_its_place():
    done = adapt('from rows import create_dataset\nrows = create_dataset("data/train")\n')
    assert "contract.data_url" in done.text.split("create_dataset(")[1]


def test_settings_that_are_handed_on_as_one_are_no_path(tmp_path):
    program = Program(
        tmp_path,
        train="""
            import torch
            from keep import save_checkpoint
            from settings import read

            cfg = read()
            torch.manual_seed(1)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(3):
                x, y = 1.0, 2.0
                STEP
                if cfg.checkpoint.patience > epoch:
                    save_checkpoint(cfg.checkpoint, model)
        """,
        keep="""
            import os
            import torch

            def save_checkpoint(cfg, model):
                os.makedirs(cfg.save_dir, exist_ok=True)
                torch.save(model.state_dict(), os.path.join(cfg.save_dir, "last.pt"))
        """,
        settings="""
            from argparse import Namespace

            def read():
                return Namespace(checkpoint=Namespace(save_dir="kept", patience=5))
        """,
    )
    program.adapt()
    assert "save_checkpoint(cfg.checkpoint, model)" in program.text("train.py")
    assert "if cfg.checkpoint.patience > epoch:" in program.text("train.py")
