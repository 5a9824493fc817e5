"""Settings that a script reads from a file, and that modules of the program use."""

from __future__ import annotations

import textwrap

import pytest
from programs import Program

SETTINGS = {
    "the whole": ("Rows(cfg)", "cfg", 'cfg["data"]["root"]'),
    "a part": ('Rows(cfg["data"])', "part", 'part["root"]'),
}


@pytest.mark.parametrize("way", SETTINGS)
def test_settings_that_only_modules_use_are_set_where_the_script_reads_them(way, tmp_path):
    call, name, used = SETTINGS[way]
    code = tmp_path / "code"
    program = Program(
        code,
        train=f"""
            import json
            from rows import Rows, save
            cfg = json.loads(open("settings/config.json").read())
            rows = {call}
            print(rows.first)
            save(cfg, rows.first)
        """,
        rows=f"""
            import os
            class Rows:
                def __init__(self, {name}):
                    self.first = open(os.path.join({used}, "x.csv")).readline().strip()
            def save(settings, text):
                os.makedirs(settings["out"], exist_ok=True)
                with open(os.path.join(settings["out"], "w.txt"), "w") as file:
                    file.write(text)
        """,
    )
    (code / "settings").mkdir()
    (code / "settings" / "config.json").write_text('{"data": {"root": "rows"}, "out": "runs"}')
    for folder, text in ((code / "rows", "old"), (tmp_path / "data", "new")):
        folder.mkdir()
        (folder / "x.csv").write_text(text)
    before = program.run()
    program.adapt()
    assert program.run().lines == before.lines == ["old"]
    out = tmp_path / "out"
    given = program.run("--data_url", str(tmp_path / "data"), "--train_url", str(out))
    assert given.lines == ["new"] and (out / "w.txt").read_text() == "new", given.error


def test_settings_that_become_fields_are_set_behind_that(tmp_path):
    """`config["root"]` as it was read, `config.root` as modules ask for it."""
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            import json
            from rows import first_row

            class AttrDict(dict):
                __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

            def main():
                with open("config.json") as file:
                    config = json.load(file)
                config = AttrDict(config)
                print(first_row(config))

            main()
        """,
        rows="""
            import os
            def first_row(config):
                return open(os.path.join(config.root, "x.csv")).readline().strip()
        """,
    )
    (code / "config.json").write_text('{"root": "rows"}')
    for folder, text in ((code / "rows", "old"), (tmp_path / "data", "new")):
        folder.mkdir()
        (folder / "x.csv").write_text(text)
    program.adapt()
    assert program.run().lines == ["old"]
    given = program.run("--data_url", str(tmp_path / "data"))
    assert given.lines == ["new"], given.error


def test_a_setting_of_a_module_that_cannot_be_set_is_named(tmp_path):
    program = Program(
        tmp_path,
        train="from rows import Rows\nfrom elsewhere import read_settings\ncfg = read_settings()\nRows(cfg)\n",
        rows="""
            class Rows:
                def __init__(self, cfg):
                    self.first = open(cfg.data.root + "/x.csv").readline()
        """,
    )
    told = [each.message for each in program.adapt().findings]
    assert "cfg.data.root stays as it is: where it comes from is not visible" in told


def test_settings_that_files_import_give_way_where_they_are_used(tmp_path):
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            import os
            from rows import read
            from told import cfg
            os.makedirs(cfg["out"], exist_ok=True)
            with open(os.path.join(cfg["out"], "w.txt"), "w") as file:
                file.write(read())
            print(read())
        """,
        told="""
            import json
            with open("config.json") as file:
                cfg = json.load(file)
        """,
        rows="""
            import os
            from told import cfg
            def read():
                return open(os.path.join(cfg["data"]["root"], "x.csv")).readline().strip()
        """,
    )
    (code / "config.json").write_text('{"data": {"root": "rows"}, "out": "runs"}')
    for folder, text in ((code / "rows", "old"), (tmp_path / "data", "new")):
        folder.mkdir()
        (folder / "x.csv").write_text(text)
    program.adapt()
    assert program.run().lines == ["old"]
    given = program.run("--data_url", str(tmp_path / "data"), "--train_url", str(tmp_path / "out"))
    assert given.lines == ["new"] and (tmp_path / "out" / "w.txt").exists(), given.error


@pytest.mark.parametrize("contract", ["modelarts", "xihe"])
def test_options_that_another_file_has_by_its_settings_are_left_to_it(contract, tmp_path):
    """As models are published for ModelArts: settings of a file become options, and MoXing copies what they name."""
    program = Program(
        tmp_path,
        settings="""
            import argparse
            import yaml
            parser = argparse.ArgumentParser()
            for key, value in yaml.safe_load(open("settings.yaml")).items():
                parser.add_argument("--" + key, type=type(value), default=value)
            config = parser.parse_args()
        """,
        copying="""
            from settings import config
            def copied(train):
                def run():
                    import moxing as mox
                    if config.enable_modelarts:
                        mox.file.copy_parallel(config.data_url, config.data_path)
                    train()
                    if config.enable_modelarts:
                        mox.file.copy_parallel(config.out, config.train_url)
                return run
        """,
        train="""
            import numpy as np
            from settings import config
            from copying import copied
            @copied
            def train():
                x, w = np.load(config.data_path + "/x.npy"), 0
                for epoch in range(4):
                    w += x.mean()
                np.save(config.out + "/w.npy", w)
            train()
        """,
    )
    done = program.adapt(contract)
    told = " / ".join(f"{finding.message} {finding.advice}" for finding in done.findings)
    assert "copied only where enable_modelarts is set" in told and "--enable_modelarts=True" in told
    assert "OUTLAST_CHECKPOINT" in program.text("train.py") and '"--data_url"' not in program.text("train.py")
    assert ('"--output_path"' in program.text("train.py")) is (contract == "xihe")
    assert ("nothing is written to --output_path" in told) is (contract == "xihe")


NODE = """
class Node(dict):
    def __getattr__(self, name):
        return self[name]
    def __setattr__(self, name, value):
        assert not self.get("is_frozen"), name
        self[name] = value
    def merge_from_file(self, name):
        for line in open(name):
            section, key, value = line.split()
            self[section][key] = value
    def freeze(self):
        self["is_frozen"] = True
    def defrost(self):
        self["is_frozen"] = False
_C = Node()
_C.DATA = Node()
_C.DATA.ROOT = ""
_C.RUN = Node()
_C.RUN.OUTPUT_DIR = ("runs")
"""
MERGED = {
    "in the script": (
        """
            if os.path.exists("rows.cfg"):
                cfg.merge_from_file("rows.cfg")
            cfg.freeze()
        """,
        "",
    ),
    "by a function of another file": (
        'update_config(cfg, "rows.cfg")',
        """
            def update_config(cfg, name):
                cfg.merge_from_file(name)
                cfg.freeze()
        """,
    ),
}


@pytest.mark.parametrize("way", MERGED)
def test_settings_that_a_file_is_merged_into_are_set_behind_that(way, tmp_path):
    code = tmp_path / "code"
    here, there = (textwrap.dedent(each).strip() for each in MERGED[way])
    program = Program(
        code,
        train=(
            "import os\nfrom defaults import _C as cfg\nfrom defaults import *\nfrom rows import keep\n"
            f"def main():\n{textwrap.indent(here, '    ')}\n    keep(cfg)\nmain()\n"
        ),
        defaults=NODE + there + "\n",
        rows="""
            import os
            def keep(cfg):
                text = open(os.path.join(cfg.DATA.ROOT, "x.csv")).readline().strip()
                print(text)
                os.makedirs(cfg.RUN.OUTPUT_DIR, exist_ok=True)
                with open(os.path.join(cfg.RUN.OUTPUT_DIR, "w.txt"), "w") as file:
                    file.write(text)
        """,
    )
    (code / "rows.cfg").write_text("DATA ROOT rows\nRUN OUTPUT_DIR results\n")
    for folder, text in ((code / "rows", "old"), (tmp_path / "data", "new")):
        folder.mkdir()
        (folder / "x.csv").write_text(text)
    program.adapt()
    assert program.run().lines == ["old"] and "results/w.txt" in program.files()
    given = program.run("--data_url", str(tmp_path / "data"), "--train_url", str(tmp_path / "out"))
    assert given.lines == ["new"] and (tmp_path / "out" / "w.txt").exists(), given.error


def test_data_below_the_home_of_whoever_starts_it_are_named(tmp_path):
    program = Program(
        tmp_path,
        train="from rows import read\nprint(read())\n",
        places='import os\nHOME = os.path.expanduser("~")\n',
        rows="""
            import os
            from places import HOME
            ROWS = os.path.join(HOME, "data/rows/")
            def read():
                return open(os.path.join(ROWS, "names.txt")).read()
        """,
    )
    told = [each.message for each in program.adapt().findings]
    said = 'os.path.join(HOME, "data/rows/") stays as it is: it lies below the home of whoever starts it'
    assert said in told


def test_options_that_are_put_behind_a_root_follow_the_contract_themselves(tmp_path):
    code = tmp_path / "code"
    program = Program(
        code,
        opts="""
            import argparse
            from pathlib import Path
            def parse_opts():
                parser = argparse.ArgumentParser()
                parser.add_argument("--root", default=None, type=Path)
                parser.add_argument("--video_path", default=None, type=Path, help="directory of videos")
                parser.add_argument("--names", default=None, type=Path, help="file with names")
                parser.add_argument("--result_path", default=None, type=Path)
                return parser.parse_args()
        """,
        rows="""
            import json
            from pathlib import Path
            class VideoDataset:
                def __init__(self, root_path, names_path, place=lambda root, name: root / name):
                    with names_path.open("r") as file:
                        names = json.load(file)
                    self.all = [place(root_path, name) for name in names]
            def get_set(videos, names):
                return VideoDataset(videos, names)
        """,
        train="""
            from opts import parse_opts
            from rows import get_set
            def get_opt():
                opt = parse_opts()
                if opt.root is not None:
                    opt.video_path = opt.root / opt.video_path
                    opt.names = opt.root / opt.names
                    opt.result_path = opt.root / opt.result_path
                return opt
            opt = get_opt()
            found = [path.read_bytes().decode() for path in get_set(opt.video_path, opt.names).all]
            (opt.result_path / "found.txt").write_text(str(found))
            print(found)
        """,
    )
    for folder, text in ((code / "home", "old"), (tmp_path / "data", "new")):
        (folder / "videos").mkdir(parents=True)
        (folder / "videos" / "a").write_text(text)
        (folder / "names.json").write_text('["a"]')
    own = ("--root", "home", "--video_path", "videos", "--names", "names.json", "--result_path", ".")
    program.adapt()
    assert program.run(*own).lines == ["['old']"]
    (tmp_path / "out").mkdir()
    given = ("--data_url", str(tmp_path / "data"), "--train_url", str(tmp_path / "out"))
    ran = program.run(*given, "--video_path", "videos", "--names", "names.json")
    assert ran.lines == ["['new']"] and (tmp_path / "out" / "found.txt").exists(), ran.error


@pytest.mark.parametrize(("frozen", "is_set"), [("", True), ("(frozen=True)", False)])
def test_settings_that_a_file_fills_are_set_behind_it(tmp_path, frozen, is_set):
    program = Program(
        tmp_path,
        config=f"""
            import json
            from dataclasses import dataclass

            @dataclass{frozen}
            class Config:
                out: str = "runs/a.txt"

            def load():
                with open("config.json") as file:
                    return Config(**json.load(file))
        """,
        train="""
            from config import load

            cfg = load()
            with open(cfg.out, "w") as file:
                file.write("x")
        """,
    )
    (tmp_path / "config.json").write_text('{"out": "there.txt"}')
    program.adapt()
    assert ("contract.train_url" in program.text("train.py").partition("cfg = load()")[2]) is is_set
    if is_set:
        program.run("--train_url", str(tmp_path / "results"))
        assert (tmp_path / "results/there.txt").exists()


def test_what_a_module_saves_below_a_folder_is_read_there(tmp_path):
    program = Program(
        tmp_path,
        keeping="""
            import os
            import torch

            class Keep:
                def __init__(self, folder="./", name="best.pth"):
                    self.path = os.path.join(folder, name)

                def save(self, value):
                    torch.save(value, self.path)
        """,
        train="""
            import torch
            from keeping import Keep

            Keep().save([1])
            print(torch.load("best.pth"))
        """,
    )
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "results"))
    assert ran.lines == ["[1]"] and (tmp_path / "results/best.pth").exists(), ran.error
