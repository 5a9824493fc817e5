"""What takes all parsed arguments together, and does not know the contract's."""

from __future__ import annotations

import pytest
from checked import adapt
from stage import play

#: What takes the arguments all together, with what it prints
WHOLES = {
    "a constructor": "hyper = {}\nfor key, value in vars(args).items():\n    hyper[key] = value\nprint(sorted(hyper))",
    "a copy": "copied = argparse.Namespace(**vars(args))\nprint(copied)",
    "a name": "name = '_'.join(f'{k}{v}' for k, v in sorted(args.__dict__.items()))\nprint(name)",
    "a file": "text = json.dumps(vars(args))\nprint(text)",
    "a tracker": "class Config(dict):\n    def update(self, given):\n        print(vars(given))\nConfig().update(args)",
    "a text": "name = str(args)\nprint(len(name))",
}


@pytest.mark.parametrize("way", WHOLES)
def test_what_takes_all_arguments_together_does_not_meet_new_ones(way, tmp_path):
    text = f"""
import argparse, json
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=8)
args = parser.parse_args()
{WHOLES[way]}
np.save("net.npy", np.zeros(args.hidden))
"""
    done = adapt(text)
    before = play(text, _folder(tmp_path / "before"))
    assert play(done.text, _folder(tmp_path / "plain")).output == before.output
    (tmp_path / "out").mkdir()
    given = play(done.text, _folder(tmp_path / "given"), "--data_url", ".", "--train_url", str(tmp_path / "out"))
    assert given.output == before.output and (tmp_path / "out" / "net.npy").exists()


def _folder(path):
    path.mkdir()
    return path


@pytest.mark.parametrize("line", ["lr = vars(args)['hidden']", "lr = vars(args).get('hidden')"])
def test_one_argument_of_all_is_asked_of_the_parser_that_is_there(line):
    text = f"""
import argparse
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("--hidden", type=int, default=8)
args = parser.parse_args()
{line}
np.save("net.npy", np.zeros(args.hidden))
"""
    assert "contract" not in adapt(text).text
