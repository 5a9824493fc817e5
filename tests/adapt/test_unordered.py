"""Sets of texts: what a script numbers by their order is the same in each stint."""

import os
import subprocess
import sys

import pytest
from checked import adapt_plainly, said
from programs import Program

from outlast.migrate.engine import Kind

_LOOP = "\ntotal = 0\nfor epoch in range(3):\n    total += epoch\n"
_FIT = (
    "from tensorflow import keras\nfrom tensorflow.keras.preprocessing.text import one_hot\n"
    "model = keras.Sequential([])\nmodel.compile()\n"
)
_WORDS = "text = 'the quick brown fox jumps over the lazy dog and runs away from the sleeping bear'\n"


def lines(folder, text, **environ):
    (folder / "script.py").write_text(text)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"} | environ
    done = subprocess.run([sys.executable, "script.py"], cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "found = list(set(text.split()))",
        "words = text.split()\nwords = set(words)\nfound = {word: at for at, word in enumerate(words)}",
        "words = set()\nfor word in text.split():\n    words.add(word)\nfound = [word for word in words]",
        "words = set(text.split()) - {'fox'}\nfound = {}\nfor word in words:\n    found[word] = len(found)",
        "found = sorted(set(text.split()), key=len)",
        "found = list(zip({*text.split()}, range(99)))",
        "found = tuple({(one, one) for one in text.split()} | {('a', 'b')})",
        "class Words:\n    def __init__(self):\n        self.all = set(text.split())\n"
        "        self.ids = dict((word, at) for at, word in enumerate(self.all))\nfound = Words().ids",
        "def find(text):\n    kinds = set()\n    kinds.update(text.split())\n    return len(text), kinds\n"
        "size, kinds = find(text)\nclass Rows:\n    def __init__(self, words, kinds):\n"
        "        self.ids = {word: at for at, word in enumerate(kinds)}\nfound = Rows(text, kinds).ids",
    ],
)  # fmt: skip
def test_texts_have_one_order_in_each_start(tmp_path, code):
    script = f"{_WORDS}{code}\nprint(found)\nprint(len(found))"
    done = adapt_plainly(script + _LOOP)
    assert "has another order in each start" in said(done, Kind.CHANGED)
    before = {lines(tmp_path, script) for _ in range(4)}
    after = {lines(tmp_path, done.text) for _ in range(4)}
    assert (len(before) > 1, len(after)) == (True, 1)
    assert {found.splitlines()[-1] for found in before | after} == {next(iter(after)).splitlines()[-1]}


def test_numbers_and_a_fixed_key_keep_their_order(tmp_path):
    script = f"{_WORDS}found = list(set(rows))\nprint(found)\n"
    rows = "rows = [900, 8, 1, 77, 16]\n"
    assert lines(tmp_path, adapt_plainly(rows + script + _LOOP).text) == lines(tmp_path, rows + script)
    rows = "rows = text.split()\n"
    script = f"{_WORDS}{rows}found = list(set(rows))\nprint(found)\n"
    done = adapt_plainly(script + _LOOP)
    assert lines(tmp_path, done.text, PYTHONHASHSEED="3") == lines(tmp_path, script, PYTHONHASHSEED="3")


@pytest.mark.parametrize(
    "code",
    [
        "found = sorted(list(set(text)))",
        "found = len(list(set(text)))",
        "found = list(set(text))\nfound.sort()",
        "found = list(set(range(9)))",
        "words = set(text)\nfound = 'a' in words",
        "words = set(text)\nwords = sorted(words)\nfound = list(words)",
        "for word in set(text):\n    print(word)",
        "found = any(word for word in set(text))",
        "def set(rows):\n    return rows\nfound = list(set(text))",
        "def find(text):\n    return set(text), text.split()\n_, words = find(text)\nfound = list(words)",
        "def number(words):\n    return list(words)\nfound = number(set(text)), number(text.split())",
    ],
)
def test_what_has_an_order_or_needs_none_is_left_alone(code):
    assert "in_order" not in adapt_plainly(_WORDS + code + _LOOP).text


def test_what_rounds_and_what_follows_them_go_through_is_left_alone():
    done = adapt_plainly(
        f"{_WORDS}total = []\nfor epoch in range(3):\n    total += list(set(text))\nrest = list(set(text))\n"
    )
    assert "OUTLAST_CHECKPOINT" in done.text
    assert "in_order" not in done.text


@pytest.mark.parametrize("contract", ["modelarts", "plain"])
def test_a_module_numbers_its_words_in_one_order(tmp_path, contract):
    program = Program(
        tmp_path / "code",
        words="""
            def numbered(text):
                return {word: at for at, word in enumerate(set(text.split()))}

            def kinds(text):
                return len(text), {*text.split()}

            class Rows:
                def __init__(self, kinds, size):
                    self.ids = list(kinds)
        """,
        train="""
            import torch
            from words import Rows, kinds, numbered

            size, found = kinds("one two three four five six seven eight nine")
            print(Rows(found, size=size).ids, numbered("one two three four five six seven eight nine"), flush=True)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(3):
                for x, y in [(0.5, 1.0)]:
                    STEP
        """,
    )
    assert len({program.run().lines[0] for _ in range(4)}) > 1
    program.adapt(contract)
    assert len({program.run().lines[0] for _ in range(4)}) == 1
    assert program.text("words.py").count("import os") == 1


@pytest.mark.parametrize(
    ("code", "is_told"),
    [
        ("rows = [hash(word) % 9 for word in 'a b'.split()]", True),
        (_FIT + "model.fit(one_hot('a b', 9), epochs=3)\n", True),
        (_FIT + "model.fit(rows, epochs=3)\none_hot('a b', 9)\n", False),
        (_FIT + "model.fit(keras.preprocessing.text.hashing_trick('a b', 9, 'md5'), epochs=3)\n", False),
        ("class Row:\n    def __hash__(self):\n        return hash(self.name)\nrows = 3", False),
        ("def unused(word):\n    return hash(word)\nrows = 3", False),
    ],
)
def test_numbers_from_a_hash_are_told(code, is_told):
    done = adapt_plainly(code + ("" if "fit" in code else _LOOP))
    assert "OUTLAST_CHECKPOINT" in done.text
    assert ("gives texts another number in each start" in said(done, Kind.DIFFERS)) is is_told
