"""Programs whose options, settings and modules are told elsewhere: parsers that insist, names that are put together."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import POINTS, Program

from outlast.migrate.engine import Kind

OPTIONS = """
    import argparse, os

    class Options:
        def initialize(self, parser):
            parser.add_argument("--dataroot", required=True, help="path to the data")
            parser.add_argument("--saved", default="saved", help="models are saved here")
            parser.add_argument("--model", default="plain")
            return parser
        def gather(self):
            parser = self.initialize(argparse.ArgumentParser())
            opt = parser.parse_args()
            print("asked for", opt.model)
            self.parser = parser
            return parser.parse_args()
        def parse(self):
            opt = self.gather()
            os.makedirs(opt.saved, exist_ok=True)
            return opt
"""
MODELS = """
    import importlib

    def find(kind):
        name = "kinds." + kind + "_model"
        lib = importlib.import_module(name)
        for each, found in vars(lib).items():
            if each.lower() == kind + "model":
                return found

    def create(opt):
        made = find(opt.model)
        return made(opt)
"""
BASE = """
    import os
    import torch

    class BaseModel:
        def __init__(self, opt):
            self.opt, self.seen = opt, 0
        def save(self, epoch):
            torch.save(self.net.state_dict(), os.path.join(self.opt.saved, "net%d.pth" % epoch))
"""
PLAIN = """
    import torch
    from kinds.base_model import BaseModel

    class PlainModel(BaseModel):
        def __init__(self, opt):
            super().__init__(opt)
            self.net = torch.nn.Linear(1, 1)
            self.optimizer = torch.optim.SGD(self.net.parameters(), 0.01)
        def step(self, x, y):
            model, optimizer = self.net, self.optimizer
            STEP
            self.seen += 1
            self.loss = loss.item() + self.seen
"""
TRAIN = """
    import os
    import torch
    from models import create
    from options import Options

    torch.manual_seed(3)
    opt = Options().parse()
    model = create(opt)
    rows = [[float(x) for x in line.split(",")] for line in open(os.path.join(opt.dataroot, "points.csv"))]
    for epoch in range(4):
        for x, y in rows:
            model.step(x, y)
        model.save(epoch)
        print("epoch", epoch, model.loss, flush=True)
"""


def test_a_program_that_finds_its_model_by_a_name_goes_on_and_need_not_be_told_its_data_twice(tmp_path):
    code, data = tmp_path / "code", tmp_path / "data"
    program = Program(
        code, train=TRAIN, options=OPTIONS, models=MODELS, kinds__base_model=BASE, kinds__plain_model=PLAIN
    )
    data.mkdir()
    (data / "points.csv").write_text(POINTS)
    before = program.run("--dataroot", str(data))
    assert len(before.lines) == 5, before.error
    done = program.adapt()
    assert not [each for each in done.findings if each.kind is Kind.HAND], done.findings
    assert program.run("--dataroot", str(data)).lines == before.lines
    assert "the following arguments are required: --dataroot" in program.run().error
    for at in range(1, 4):
        out = tmp_path / f"out{at}"
        given = "--data_url", str(data), "--train_url", str(out)
        program.run(*given, until=f"epoch {at}")
        again = program.run(*given)
        assert again.lines[1:] == before.lines[-len(again.lines) + 1 :], again.error
        assert (out / "net3.pth").is_file()


def test_of_several_classes_that_a_name_may_lead_to_none_is_taken(tmp_path):
    other = PLAIN.replace("PlainModel", "OtherModel")
    program = Program(
        tmp_path, train=TRAIN, options=OPTIONS, models=MODELS, kinds__base_model=BASE, kinds__plain_model=PLAIN,
        kinds__other_model=other,
    )  # fmt: skip
    done = program.adapt()
    assert [each for each in done.findings if each.kind is Kind.HAND]
    assert "resume_dir" not in program.text("train.py")


def test_data_that_a_function_of_another_file_reads_or_else_prepares_stay_data(tmp_path):
    program = Program(
        tmp_path,
        places="""
            import os

            ROOT = "./.data"
            ROWS = os.path.join(ROOT, "rows.pkl")
            ANEW = False
        """,
        rows="""
            import pickle

            def rows(path, anew=False):
                if anew:
                    found = list(range(9))
                    keep(found, path)
                else:
                    found = get(path)
                return found

            def keep(found, path):
                with open(path, "wb") as file:
                    pickle.dump(found, file)

            def get(path):
                with open(path, "rb") as file:
                    return pickle.load(file)
        """,
        train="""
            from places import *
            from rows import rows

            print(sum(rows(ROWS, ANEW)))
        """,
    )  # fmt: skip
    program.adapt()
    assert 'ROOT = os.environ.get("CONTRACT_DATA_URL") or "./.data"' in program.text("places.py")


def test_all_values_of_one_key_in_the_settings_of_another_file_follow(tmp_path):
    program = Program(
        tmp_path,
        settings="""
            class Settings:
                def __init__(self):
                    self.sets = {"train": {"data_root": "/sets/a"}, "test": {"data_root": "/sets/b"}}
                def all(self):
                    return vars(self)
        """,
        rows="""
            import os

            class Rows:
                def __init__(self, cfg):
                    self.names = os.listdir(cfg["data_root"])
        """,
        train="""
            from rows import Rows
            from settings import Settings

            sets = Settings().all()["sets"]
            print(Rows(sets["train"]).names, Rows(sets["test"]).names)
        """,
    )  # fmt: skip
    program.adapt()
    assert program.text("settings.py").count("CONTRACT_DATA_URL") == 2


def test_a_default_of_an_option_that_must_be_given_is_never_used():
    done = adapt(
        """
        import argparse
        import os

        parser = argparse.ArgumentParser()
        parser.add_argument("--root", default="sets/a", required=True, help="folder with the pictures")
        args = parser.parse_args()
        print(os.listdir(args.root))
        """
    )
    assert "default=None, required=False" in done.text
    assert "elif args.root is None:" in done.text


def test_a_dot_before_a_place_does_not_lead_astray():
    done = adapt(
        """
        import argparse
        import os
        import numpy as np

        parser = argparse.ArgumentParser()
        parser.add_argument("--out", default="out")
        parser.add_argument("--rows", default="rows")
        args = parser.parse_args()
        os.makedirs(f"./{args.out}", exist_ok=True)
        print(os.listdir(args.rows))
        rows = np.load("./" + args.rows + "/x.npy")
        for at in range(3):
            np.save(f"./{args.out}/{at}.npy", rows)
            print(f"./{at}")
        """
    )
    assert "os.makedirs(f\"{os.path.join('.', args.out)}\", exist_ok=True)" in done.text
    assert 'np.load(os.path.join(".", args.rows) + "/x.npy")' in done.text
    assert "np.save(f\"{os.path.join('.', args.out)}/{at}.npy\", rows)" in done.text
    assert 'print(f"./{at}")' in done.text


def test_settings_in_a_folder_of_settings_travel_with_the_code_whatever_their_name():
    done = adapt(
        """
        import argparse
        import json

        parser = argparse.ArgumentParser()
        parser.add_argument("--model", default="small")
        args = parser.parse_args()
        with open(f"./nets/configs/{args.model}.json") as file:
            print(json.load(file))
        """
    )
    assert 'open(f"./nets/configs/{args.model}.json")' in done.text
    assert "travels with the code" in said(done, Kind.KEPT)


@pytest.mark.parametrize("made", ["Path(args.net_dir).joinpath(args.name)", "Path(args.net_dir) / args.name"])
def test_a_field_that_has_the_name_of_the_option_it_is_made_of_follows_it(made, tmp_path):
    solver = f"""
from pathlib import Path
import torch

class Solver:
    def __init__(self, args):
        self.net_dir = {made}
        if not self.net_dir.exists():
            self.net_dir.mkdir(parents=True)
        self.model = torch.nn.Linear(1, 1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.01)

    def train(self):
        model, optimizer = self.model, self.optimizer
        for epoch in range(2):
            for x, y in [(0.5, 1.0)]:
                STEP
            print(epoch, flush=True)
            torch.save(model.state_dict(), self.net_dir.joinpath("last.pt"))
"""
    train = """
    import argparse
    from solver import Solver

    parser = argparse.ArgumentParser()
    parser.add_argument("--net_dir", default="nets")
    parser.add_argument("--name", default="main")
    Solver(parser.parse_args()).train()
    """
    program = Program(tmp_path / "code", train=train, solver=solver)
    done = program.adapt()
    assert "--net_dir follows --train_url" in said(done, Kind.CHANGED)
    assert program.run(f"--train_url={tmp_path / 'out'}").lines == ["0", "1"]
    assert (tmp_path / "out" / "main" / "last.pt").exists() and not (tmp_path / "code" / "nets").exists()
