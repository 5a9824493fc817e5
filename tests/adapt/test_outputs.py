"""However a script spells the places of its results: the same without the contract's folder, and below it with it."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
from checked import adapt, said
from recorded import run_recorded

from outlast.migrate.engine import Kind

HEAD = """
import argparse, os, time
from pathlib import Path
import torch
net, epoch, i, best = torch.nn.Linear(1, 1), 3, 1, 0.5
"""

#: one script each, between lines of `--`
SPELLINGS = [
    spelling
    for path in sorted((Path(__file__).parent / "spellings").glob("*.txt"))
    for spelling in path.read_text(encoding="utf-8").rstrip().split("\n--\n")
]


def rooms(tmp_path):
    """Two homes that have every folder that the scripts find there, one that has none, and results that nobody made."""
    for name in ("before", "after"):
        for folder in ("ckpt", "out/a", "out/b", "out/deep", "models/unet", "a", "b", "runs", "logs", "images"):
            (tmp_path / name / "code" / folder).mkdir(parents=True)
        (tmp_path / name / "model").mkdir()
        (tmp_path / name / "models").mkdir()
    (tmp_path / "empty").mkdir()
    return tmp_path / "before" / "code", tmp_path / "after" / "code", tmp_path / "empty", tmp_path / "results"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_results_lie_where_they_lay_and_with_the_option_below_it(spelling, tmp_path):
    before, after, empty, results = rooms(tmp_path)
    text = HEAD + spelling + "\n"
    done = adapt(text)
    first = run_recorded(text, before)
    assert first.paths
    again = run_recorded(done.text, after)
    assert [str(path).replace(str(after), str(before)) for path in again.paths] == first.paths, done.text
    moved = run_recorded(done.text, empty, f"--train_url={results}")
    assert len(moved.paths) == len(first.paths)
    for path in moved.paths:
        whole = os.path.normpath(empty / path)
        assert whole.startswith(str(results) + os.sep) or whole == str(results), done.text
    assert not moved.missing, done.text
    assert not list(empty.iterdir())
    assert len({os.path.normpath(path) for path in moved.paths}) == len(
        {os.path.normpath(path) for path in first.paths}
    )


TWICE = """
p = argparse.ArgumentParser()
p.add_argument("--prefix", default="m")
args = p.parse_args()
if best > 1:
    stem = os.path.basename(args.prefix)
else:
    stem = args.prefix
torch.save(net, stem + ".pth")
"""


@pytest.mark.parametrize("spelling", [TWICE, next(each for each in SPELLINGS if "weights=None" in each)])
def test_a_relative_folder_is_joined_once(spelling, tmp_path):
    (tmp_path / "results").mkdir()
    done = adapt(HEAD + spelling + "\n")
    for path in run_recorded(done.text, tmp_path, "--train_url=results").paths:
        assert Path(path).parts.count("results") == 1, done.text


#: what cannot be told is said
TOLD = [
    ("def keep(net, path):\n    torch.save(net, path)\nkeep(net, torch.path())", "path"),
    ("from parts import where\ntorch.save(net, where())", "where()"),
    ("for path in torch.paths():\n    torch.save(net, path)", "path"),
    (
        'for out in torch.paths():\n    os.makedirs(out)\n    os.chmod(out, 7)\n    torch.save(net, out + "/m.pth")',
        "out stays as it is",
    ),
]


@pytest.mark.parametrize(("spelling", "words"), TOLD)
def test_what_cannot_be_told_is_said(spelling, words):
    done = adapt(HEAD + textwrap.dedent(spelling) + "\n")
    assert words in said(done, Kind.DIFFERS) + said(done, Kind.HAND)


def test_a_path_that_grows_one_way_or_another_lies_in_the_folder_that_is_made():
    spelling = """
    def keep():
        path = "runs/" + name
        if not os.path.exists(path):
            os.makedirs(path)
        if best:
            path += "/" + name + "_best.pth"
        else:
            path += "/" + name + ".pth"
        torch.save(net, path)
    if __name__ == "__main__":
        name = time.strftime("%H")
        keep()
    """
    done = adapt(HEAD + textwrap.dedent(spelling))
    assert "nothing here makes it" not in said(done, Kind.CHANGED)
