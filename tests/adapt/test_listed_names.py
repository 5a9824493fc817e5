"""Files whose names stand in a file of the data: they are found in the contract's folder, wherever they lay before."""

from __future__ import annotations

import json
import textwrap

import numpy as np
import pytest
from checked import adapt
from programs import Program
from stage import play

HEAD = "import csv, json, os\nimport numpy as np\n"
SHAPES = {
    "a list": 'names = json.load(open("sets/names.json"))\nprint(sum(np.load(name).sum() for name in names))\n',
    "a function": """
def read(path):
    return np.load(path).sum()
names = []
with open("sets/names.json") as file:
    names = json.load(file)
print(sum([read(names[at]) for at in range(2)]))
""",
    "a class": """
class Rows:
    def __init__(self, index):
        self.names = json.load(open(index))
    def __getitem__(self, at):
        return np.load(self.names[at]).sum()
rows = Rows("sets/names.json")
print(rows[0] + rows[1])
""",
    "lines": """
total = 0
with open("sets/names.txt") as file:
    for line in file.read().splitlines():
        total += np.load(line).sum()
print(total)
""",
    "pairs": """
class Rows:
    def __init__(self, index):
        self.pairs = []
        for at, name in enumerate(json.load(open(index))):
            self.pairs.append((name, at))
    def __getitem__(self, at):
        name, label = self.pairs[at]
        return np.load(name).sum()
rows = Rows("sets/names.json")
print(rows[0] + rows[1])
""",
    "handed out in pairs": """
def pairs(index):
    found = []
    for at, name in enumerate(json.load(open(index))):
        found.append((name, at))
    while True:
        for at in range(len(found)):
            yield found[at]
def read(path):
    return np.load(path).sum()
some, total = pairs("sets/names.json"), 0
for at in range(2):
    path, label = next(some)
    total += read(path)
print(total)
""",
    "open files": """
total = 0
for name in json.load(open("sets/names.json")):
    with open(name, "rb") as file:
        total += np.load(file).sum()
print(total)
""",
    "columns": """
total = 0
with open("sets/names.txt") as file:
    for row in csv.reader(file):
        total += np.load(row[0]).sum()
print(total)
""",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lay", ["D:/rows/sets", "/srv/rows/sets", "sets"])
def test_what_a_list_names_is_found_in_the_folder_of_the_data(shape, lay, tmp_path):
    given, empty = tmp_path / "given", tmp_path / "empty"
    empty.mkdir()
    for part, size in (("one", 1), ("two", 2)):
        (given / part).mkdir(parents=True)
        np.save(given / part / "a.npy", np.ones(size))
    names = [f"{lay}/one/a.npy", f"{lay}/two/a.npy"]
    (given / "names.json").write_text(json.dumps(names))
    (given / "names.txt").write_text("\n".join(names) + "\n")
    done = adapt(HEAD + SHAPES[shape])
    assert play(done.text, empty, f"--data_url={given}").output == "3.0\n"


def test_what_lies_elsewhere_is_read_there(tmp_path):
    given, own = tmp_path / "given", tmp_path / "own.npy"
    given.mkdir()
    np.save(own, np.ones(3))
    (given / "names.json").write_text(json.dumps([str(own)]))
    assert play(adapt(HEAD + SHAPES["a list"]).text, tmp_path, f"--data_url={given}").output == "3.0\n"


@pytest.mark.parametrize(
    "script",
    [
        'for name in os.listdir("rows"):\n    np.load("rows/" + name)\n',
        'names = json.load(open("names.json"))\nfor name in names:\n    np.load(os.path.join("rows", name))\n',
        'for name in ["rows/a.npy", "rows/b.npy"]:\n    np.load(name)\n',
        "def read(path):\n    return np.load(path)\n",
        'import glob\nfor name in glob.glob("rows/*.npy"):\n    np.load(name)\n',
    ],
)
def test_names_that_the_script_puts_together_itself_are_left_to_their_folder(script):
    assert "find_below" not in adapt(HEAD + script).text


def test_a_list_that_another_file_reads_is_known_too(tmp_path):
    program = Program(
        tmp_path,
        rows="import numpy as np\nclass Rows:\n    def __init__(self, table):\n        self.table = table\n"
        '    def __getitem__(self, at):\n        row = self.table[at]\n        return np.load(row["path"]).sum()\n',
        train="""
            import csv
            from rows import Rows
            print(Rows(list(csv.DictReader(open("data/table.csv"))))[0])
        """,
    )
    (tmp_path / "in/files").mkdir(parents=True)
    (tmp_path / "in/table.csv").write_text("path\n/home/me/data/files/a.npy\n")
    np.save(tmp_path / "in/files/a.npy", np.ones(3))
    program.adapt()
    assert program.run("--data_url", str(tmp_path / "in")).lines == ["3.0"]


LINES = {
    "cut where they are read": """
        def __getitem__(self, at):
            words = self.lines[at % self.count].split(";")[1].split()
            return np.load(words[0]).sum()
""",
    "gathered, and made an array of": """
            self.paths, self.kinds = [], []
            self.read()
            self.paths = np.array(self.paths, dtype=object)

        def __getitem__(self, at):
            some = self.paths[np.array([True] * self.count)]
            return np.load(some[at]).sum()

        def read(self):
            for line in self.lines:
                words = line.split(";")
                self.paths.append(words[1].split()[0])
                self.kinds.append(int(words[0]))
""",
}


@pytest.mark.parametrize("shape", LINES)
def test_lines_that_another_file_cuts_into_words_are_known(shape, tmp_path):
    head = """
    import numpy as np
    class Rows:
        def __init__(self, lines):
            self.lines = lines
            self.count = len(lines)
    """
    program = Program(
        tmp_path / "code",
        rows=textwrap.dedent(head).rstrip() + "\n" + textwrap.indent(textwrap.dedent(LINES[shape]).rstrip(), "    "),
        train="""
            from rows import Rows
            table = "rows.txt"
            with open(table, encoding="utf-8") as file:
                lines = file.readlines()
            print(Rows(lines[:1])[0])
        """,
    )
    (tmp_path / "in/files").mkdir(parents=True)
    (tmp_path / "in/rows.txt").write_text("0;/home/me/data/files/a.npy\n")
    np.save(tmp_path / "in/files/a.npy", np.ones(3))
    program.adapt()
    ran = program.run("--data_url", str(tmp_path / "in"))
    assert ran.lines == ["3.0"], ran.error


def test_a_function_that_is_a_default_is_called_by_who_takes_it(tmp_path):
    program = Program(
        tmp_path / "code",
        rows="""
            import os
            import numpy as np
            def read_one(path):
                return np.load(path)
            class Rows:
                def __init__(self, root, loader=read_one):
                    self.paths = [os.path.join(root, "a", name) for name in os.listdir(os.path.join(root, "a"))]
                    self.loader = loader
                def __getitem__(self, at):
                    return self.loader(self.paths[at]).sum()
        """,
        train="""
            import argparse
            from rows import Rows
            parser = argparse.ArgumentParser()
            parser.add_argument("--root", default="./rows")
            args = parser.parse_args()
            print(Rows(args.root)[0])
        """,
    )
    (tmp_path / "in/a").mkdir(parents=True)
    np.save(tmp_path / "in/a/a.npy", np.ones(3))
    program.adapt()
    ran = program.run("--data_url", str(tmp_path / "in"))
    assert ran.lines == ["3.0"], ran.error
