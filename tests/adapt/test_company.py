"""Places that a script is told and places that are written in it, together; options that it sets itself."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

READ = """
import os
import numpy as np
from readers import RowDataset
"""


@pytest.fixture
def readers(monkeypatch):
    """A module that the adaptation does not see."""
    module = types.ModuleType("readers")
    module.RowDataset = lambda path: print(float(np.load(f"{path}/x.npy")))
    settings = types.ModuleType("told")
    settings.TRAIN_DIR = "rows/train"
    monkeypatch.setitem(sys.modules, "readers", module)
    monkeypatch.setitem(sys.modules, "told", settings)


def put(folder):
    """Two folders of data, which hold different numbers."""
    for at, name in enumerate(("train", "val")):
        (folder / name).mkdir(parents=True)
        np.save(folder / name / "x.npy", np.float64(at))
    return folder


TOLD = {
    "a constant of another file": "import told\ntrain = RowDataset(told.TRAIN_DIR)",
    "a start of a path": "import told\ntrain = RowDataset(told.TRAIN_DIR + '/')",
    "an option": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--train', default='rows/train')\n"
    "args = p.parse_args()\ntrain = RowDataset(args.train)",
    "a configuration": "import json\ncfg = json.loads(open('told.json').read())\ntrain = RowDataset(cfg['train_dir'])",
}


@pytest.mark.parametrize("way", TOLD)
def test_a_folder_that_is_told_and_one_that_is_written_stay_two(way, readers, tmp_path):
    text = READ + TOLD[way] + "\nval = RowDataset('rows/val')\n"
    done = adapt(text)
    for name in ("before", "given"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "told.json").write_text('{"train_dir": "rows/train"}')
    put(tmp_path / "before" / "rows")
    assert play(done.text, tmp_path / "before").output == "0.0\n1.0\n"
    folder = str(put(tmp_path / "data"))
    assert play(done.text, tmp_path / "given", "--data_url", folder).output == "0.0\n1.0\n"


def test_a_folder_below_that_of_an_option_goes_with_it(readers, tmp_path):
    options = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--root', default='./rows')\n"
    text = READ + options + "args = p.parse_args()\nRowDataset(args.root + '/train')\nRowDataset('./rows/val')\n"
    folder = str(put(tmp_path / "data"))
    assert play(adapt(text).text, tmp_path, "--data_url", folder).output == "0.0\n1.0\n"


OPTIONS = """
import argparse, os
import numpy as np
p = argparse.ArgumentParser()
p.add_argument("--save_path", default="ckpt")
p.add_argument("--kind", default="plain")
args = p.parse_args()
"""
SAVE = "os.makedirs(args.save_path, exist_ok=True)\n{0}np.save(os.path.join(args.save_path, 'w.npy'), 1)\n"
SET = {
    "at the start": "if __name__ == '__main__':\n    args.save_path = './'\n    " + SAVE.format("    "),
    "in a function": "def save():\n    " + SAVE.format("    ") + "args.save_path = 'w/'\nsave()\n",
    "by a condition": "if args.kind == 'plain':\n    args.save_path = 'runs/' + args.kind\n" + SAVE.format(""),
    "by another condition": "if args.kind != 'plain':\n    args.save_path = 'runs/' + args.kind\n" + SAVE.format(""),
    "where it is none": "if args.save_path is None:\n    args.save_path = './runs'\n" + SAVE.format(""),
}


@pytest.mark.parametrize("way", SET)
def test_an_option_that_the_script_sets_itself_is_placed_where_it_is_set(way, tmp_path):
    text = OPTIONS + SET[way]
    done = adapt(text)
    folders = [tmp_path / name for name in ("before", "plain", "given", "out")]
    for folder in folders:
        folder.mkdir()
    before, plain, given, out = folders
    assert play(done.text, plain).files.keys() == play(text, before).files.keys()
    play(done.text, given, "--train_url", str(out))
    assert not list(given.rglob("*.npy")) and list(out.rglob("w.npy"))
    assert "nothing here makes it" not in said(done, Kind.CHANGED)


def test_data_that_a_condition_chooses_is_found_by_its_folder(readers, tmp_path):
    text = (
        READ
        + """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--kind", default="val")
p.add_argument("--data_dir", default=None)
args = p.parse_args()
if args.kind == "train":
    args.data_dir = "./rows/train"
elif args.kind == "val":
    args.data_dir = "./rows/val"
RowDataset(args.data_dir)
"""
    )
    folder = str(put(tmp_path / "data"))
    assert play(adapt(text).text, tmp_path, "--data_url", folder).output == "1.0\n"


def test_the_one_folder_that_a_condition_chooses_may_be_the_contracts(readers, tmp_path):
    text = (
        READ
        + """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--kind", default="b")
p.add_argument("--data_dir", default="")
args = p.parse_args()
if args.kind == "a":
    args.data_dir = "./rows_a"
else:
    args.data_dir = "./rows_b"
RowDataset(args.data_dir)
"""
    )
    put(tmp_path / "data")
    assert play(adapt(text).text, tmp_path, "--data_url", str(tmp_path / "data" / "val")).output == "1.0\n"


RESOLVED = {
    "in one expression": "    return path if path.is_absolute() else ROOT / path",
    "in another order": "    return ROOT / path if not path.is_absolute() else path",
    "in two steps": "    if path.is_absolute():\n        return path\n    return ROOT / path",
}


@pytest.mark.parametrize("way", RESOLVED)
def test_options_that_are_files_are_found_by_their_names_in_whatever_way_they_are_resolved(way, readers, tmp_path):
    text = f"""
import argparse
from pathlib import Path
import numpy as np
from readers import RowDataset
ROOT = Path.cwd()
def resolve(value):
    path = Path(value)
{RESOLVED[way]}
p = argparse.ArgumentParser()
p.add_argument("--train-data", default="rows/train.npy")
p.add_argument("--val-data", default="rows/val.npy")
p.add_argument("--output-dir", default="out")
args = p.parse_args()
train, val, out = resolve(args.train_data), resolve(args.val_data), resolve(args.output_dir)
out.mkdir(exist_ok=True)
print(train.name, val.name, train.parent.name)
RowDataset(csv_file=str(train))
RowDataset(csv_file=str(val))
np.save(out / "w.npy", 1)
"""
    sys.modules["readers"].RowDataset = lambda csv_file: print(csv_file)
    done = adapt(text)
    assert "where it comes from is not visible" not in said(done, Kind.DIFFERS)
    out = tmp_path / "results"
    shown = play(done.text, tmp_path, "--data_url", "/there", "--train_url", str(out)).output
    assert shown == "train.npy val.npy there\n/there/train.npy\n/there/val.npy\n"
    assert (out / "w.npy").exists() and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "is_folder"),
    [
        ("Path to .a2m or .parquet file", False),
        ("csv file with the rows", False),
        ("folder with one file for each class", True),
        ("where the data is", True),
    ],
)
def test_help_says_that_an_option_is_a_file(words, is_folder):
    done = adapt(f"""
        import argparse
        from readers import RowDataset
        p = argparse.ArgumentParser()
        p.add_argument("--data-dir", required=True, help="{words}")
        args = p.parse_args()
        RowDataset(args.data_dir)
    """).text
    assert ("args.data_dir = args.data_url" in done) == is_folder
    assert ("os.path.basename" in done) != is_folder
