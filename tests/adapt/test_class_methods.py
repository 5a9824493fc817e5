"""Paths that a method of the class itself takes: `Words.load(path)`."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt
from programs import Program

WORDS = """
import csv

class Words:
    def __init__(self, rows):
        self.rows = rows

    @classmethod
    def load(cls, path, limit=10):
        with open(path, newline="") as file:
            return cls(list(csv.reader(file))[:limit])
"""


def test_it_is_followed_in_the_same_file():
    done = adapt(WORDS + 'TABLE = "lists/words.csv"\nwords = Words.load(TABLE)\n')
    assert 'TABLE = os.path.join(contract.data_url or "lists", "words.csv")' in done.text


@pytest.mark.parametrize("call", ["Words.load(TABLE)", "Words.load(limit=1, path=TABLE)", "words.Words.load(TABLE)"])
def test_it_is_followed_into_another_file(tmp_path, call):
    code, data = tmp_path / "code", tmp_path / "data"
    train = f'import words\nfrom words import Words\nTABLE = "words.csv"\nprint({call}.rows)\n'
    program = Program(code, words=WORDS, train=textwrap.dedent(train))
    program.adapt()
    data.mkdir()
    (data / "words.csv").write_text("a,b\n")
    assert program.run("--data_url", str(data)).lines == ["[['a', 'b']]"]
