"""Modules that need the contract's places before the script has parsed its arguments."""

from __future__ import annotations

import pytest
from programs import POINTS, Program

TRAIN = """
    import argparse
    import torch
    {imports}
    def main(args):
        {rows}
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(args.epochs):
            for x, y in rows:
                STEP
            print("epoch", epoch, loss.item())
        torch.save(model.state_dict(), "model.pt")
    {above}
    if __name__ == "__main__":
        parser = argparse.ArgumentParser()
        parser.add_argument("--epochs", type=int, default=3)
        main(parser.parse_args())
"""
READ = """
    import csv
    def read(name):
        where = "data/points.csv"
        print("read for", name)
        return [[float(each) for each in row] for row in csv.reader(open(where))]
"""
SHAPES = {
    "a function that its own module calls": (
        {"imports": "import rows as given", "rows": "rows = given.read('training')", "above": ""},
        {"rows": READ + "    first = read('import')\n"},
    ),
    "a function that another module calls when it is imported": (
        {"imports": "from shown import count, read", "rows": "rows = read('training')", "above": "print(count)"},
        {"rows": READ, "shown": "    from rows import read\n    count = len(read('counting'))\n"},
    ),
    "an object that is made when its module is imported": (
        {"imports": "from rows import given", "rows": "rows = given.points", "above": ""},
        {"rows": """
            import csv
            class Points:
                def __init__(self):
                    self.points = self.read()
                def read(self):
                    return [[float(each) for each in row] for row in csv.reader(open("data/points.csv"))]
            given = Points()
        """},
    ),
    "a function that the script calls above its parser": (
        {"imports": "from rows import read", "rows": "pass", "above": "rows = read('all')"},
        {"rows": READ},
    ),
}  # fmt: skip


def must_know_its_places(program, tmp_path):
    """It does what it did where its data lie beside it, and where the options say."""
    (program.folder / "data").mkdir()
    (program.folder / "data" / "points.csv").write_text(POINTS)
    expected = program.run()
    assert expected.code == 0, expected.error
    program.adapt()
    plain = program.run()
    assert plain.lines == expected.lines, plain.error

    (program.folder / "data").rename(tmp_path / "given")
    there = program.run("--data_url", str(tmp_path / "given"), "--train_url", str(tmp_path / "results"))
    assert there.lines == expected.lines, there.error
    assert (tmp_path / "results" / "model.pt").exists()


@pytest.mark.parametrize("shape", SHAPES)
def test_places_are_known_when_a_module_is_imported(shape, tmp_path):
    words, modules = SHAPES[shape]
    program = Program(tmp_path / "code", train=TRAIN.format(**words), **modules)
    must_know_its_places(program, tmp_path)


WITHIN = """
    import argparse
    from rows import read
    def main():
        parser = argparse.ArgumentParser()
        parser.add_argument("--name", default="training")
        args = parser.parse_args()
        print(len(read(args.name)))
    main()
"""


@pytest.mark.parametrize(
    "train",
    [TRAIN.format(imports="from rows import read", rows="rows = read('training')", above=""), WITHIN],
    ids=["what the parser gives is handed on", "a function that parses first"],
)
def test_what_is_called_behind_the_parser_leaves_that_as_it_is(train, tmp_path):
    program = Program(tmp_path, train=train, rows=READ)
    program.adapt()
    assert "contract_parser" not in program.text("train.py")


BELOW_LINES = """
    import os
    import sys
    import torch

    here = os.path.dirname(os.path.abspath(__file__))
    if here.endswith("examples"):
        sys.path.append(os.path.dirname(here))
        os.chdir(os.path.dirname(here))

    from rows import given

    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        for x, y in given.points:
            STEP
        print("epoch", epoch, loss.item())
    torch.save(model.state_dict(), "model.pt")
"""


def test_an_import_may_stand_below_lines_that_are_none(tmp_path):
    modules = SHAPES["an object that is made when its module is imported"][1]
    program = Program(tmp_path / "code", train=BELOW_LINES, **modules)
    must_know_its_places(program, tmp_path)
