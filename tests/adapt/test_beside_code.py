"""A folder of data beside the code that has a name: that folder is the contract's, wherever its name is joined."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

HEAD = """
import os
from glob import glob
HERE = os.path.dirname(__file__)
FOLDER = "rows"
"""
READ = {
    "what is found there is joined again": """
        for kind in sorted(os.listdir(os.path.join(HERE, FOLDER))):
            for name in sorted(glob(os.path.join(HERE, FOLDER + "/" + kind + "/*.txt"))):
                print(kind, open(os.path.join(HERE, name)).read())
    """,
    "names that are filled in": """
        for kind in sorted(os.listdir(os.path.join(HERE, FOLDER))):
            for number in range(2):
                print(kind, open(os.path.join(HERE, f"{FOLDER}/{kind}/{number}.txt")).read())
    """,
}


def _fill(folder):
    for kind in ("a", "b"):
        (folder / kind).mkdir(parents=True)
        for number in range(2):
            (folder / kind / f"{number}.txt").write_text(f"{kind}{number}")


@pytest.mark.parametrize("shape", READ)
def test_a_named_folder_beside_the_code_gives_way(shape, tmp_path):
    code = tmp_path / "code"
    _fill(code / "rows")
    text = HEAD + textwrap.dedent(READ[shape])
    done = adapt(text)
    start = f"__file__ = {str(code / 'script.py')!r}\n"
    lines = play(start + text, tmp_path).output
    assert lines.count("\n") == 4 and play(start + done.text, tmp_path).output == lines

    (code / "rows").rename(tmp_path / "given")
    assert play(start + done.text, tmp_path, f"--data_url={tmp_path / 'given'}").output == lines
    assert play(start + done.text, tmp_path, "--data_url=given").output == lines, "it need not be absolute"
    assert '"rows" can be replaced by --data_url' in said(done, Kind.CHANGED)


@pytest.mark.parametrize(
    "more",
    [
        'print(open(os.path.join(HERE, "labels.csv")).read())',
        'print("reading", FOLDER)',
        'print(open(os.path.join(HERE, LABELS, "all.csv")).read())\nLABELS = "labels"',
    ],
)
def test_where_the_name_is_not_all_it_is_said_what_the_folder_must_hold(more):
    done = adapt(f"{HEAD}{textwrap.dedent(READ['names that are filled in'])}\n{more}\n")
    assert 'FOLDER = "rows"\n' in done.text
    assert "--data_url must hold the folder rows" in said(done, Kind.DIFFERS)


def test_a_named_file_beside_the_code_lies_in_the_folder():
    done = adapt('import os\nNAME = "rows.csv"\nprint(open(os.path.join(os.path.dirname(__file__), NAME)).read())\n')
    assert "os.path.join(contract.data_url or os.path.dirname(__file__), NAME)" in done.text
    assert "must hold" not in said(done, Kind.DIFFERS)
