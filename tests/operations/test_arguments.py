"""Options read from a script's source."""

from __future__ import annotations

import pytest

from outlast.operations.arguments import accepted_by, option_names, refused

STRICT = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--data_url", type=str)
parser.add_argument("-b", "--batch_size", default=4)
parser.add_argument("positional")
args = parser.parse_args()
"""


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "train.py"
        path.write_text(text)
        return path

    return write


def test_a_strict_script_refuses_what_it_does_not_know(script):
    names = ["data_url", "train_url", "batch_size", "num_gpus", "b"]
    assert refused(script(STRICT), names) == ["train_url", "num_gpus"]


def test_a_unique_beginning_is_understood_as_argparse_does(script):
    path = script(STRICT.replace("# more", ""))
    assert refused(path, ["data", "batch"]) == []
    both = script(STRICT.replace('parser.add_argument("positional")', 'parser.add_argument("--data_dir")'))
    assert refused(both, ["data"]) == ["data"]


@pytest.mark.parametrize(
    "text",
    [
        STRICT.replace("parse_args()", "parse_known_args()[0]"),
        "import sys\nprint(sys.argv)\n",
        "from options import build\nargs = build().parse_args()\n",
        STRICT.replace('"--data_url"', "NAME"),
        "this is not python (",
        "import click\n",
    ],
    ids=["lenient", "no parser", "parser from elsewhere", "computed", "broken", "another library"],
)
def test_nothing_is_said_against_options_when_it_cannot_be_known(script, text):
    assert refused(script(text), ["anything"]) == []


def test_a_missing_script_refuses_nothing(tmp_path):
    assert not accepted_by(tmp_path / "none.py").strict


def test_names_are_taken_from_whole_words_only():
    argv = ["python", "boot.py", "--data_url=s3://b/d/", "--flag", "value", "--x=a=b", "-y=1"]
    assert list(option_names(argv)) == ["data_url", "x"]
