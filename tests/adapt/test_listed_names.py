"""Files whose names stand in a file of the data: they are found in the contract's folder, wherever they lay before."""

from __future__ import annotations

import json

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
