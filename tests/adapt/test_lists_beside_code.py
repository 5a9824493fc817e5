"""Lists of words that lie beside the code, while the data lies elsewhere: they may travel with either."""

from __future__ import annotations

import pytest
from programs import Program

SHAPES = {
    "in the module that reads the data": {
        "train": """
            from rows import Rows
            print(Rows("./sets").sum())
        """,
        "rows": """
            import json, os
            class Rows:
                def __init__(self, root):
                    names = "./classes.json"
                    assert os.path.exists(names), names
                    with open(names) as file:
                        self.scale = json.load(file)["scale"]
                    with open(os.path.join(root, "rows", "a.csv")) as lines:
                        self.values = [float(line) for line in lines]
                def sum(self):
                    return sum(self.values) * self.scale
        """,
    },
    "handed to that": {
        "train": """
            import argparse
            from rows import Rows
            parser = argparse.ArgumentParser()
            parser.add_argument("--data-path", default="./sets")
            args = parser.parse_args()
            names = "./classes.json"
            print(Rows(args.data_path, names=names).sum())
        """,
        "rows": """
            import json, os
            class Rows:
                def __init__(self, root, names):
                    self.scale = json.load(open(names, "r"))["scale"]
                    with open(os.path.join(root, "rows", "a.csv")) as lines:
                        self.values = [float(line) for line in lines]
                def sum(self):
                    return sum(self.values) * self.scale
        """,
    },
    "an option beside that of the data": {
        "train": """
            import argparse, json, os
            parser = argparse.ArgumentParser()
            parser.add_argument("--data-path", default="/home/me/sets", help="folder with the rows")
            parser.add_argument("--names-path", default="./classes.json")
            args = parser.parse_args()
            if args.data_path == "/home/me/sets":
                args.data_path = "sets"
            with open(args.names_path, "r") as file:
                scale = json.load(file)["scale"]
            with open(os.path.join(args.data_path, "rows", "a.csv")) as lines:
                print(sum(float(line) for line in lines) * scale)
        """,
    },
}


@pytest.mark.parametrize("shape", list(SHAPES)[:2])
@pytest.mark.parametrize("is_brought", [False, True])
def test_a_list_beside_the_code_is_found_whichever_it_travels_with(shape, is_brought, tmp_path):
    program = _program(tmp_path, shape, is_brought)
    before = program.run()
    program.adapt()
    assert before.lines == program.run().lines == ["3.0"], before.error
    ran = program.run(f"--data_url={tmp_path / 'brought'}")
    assert ran.lines == (["700.0"] if is_brought else ["7.0"]), ran.error


@pytest.mark.parametrize("is_brought", [False, True])
def test_an_option_for_such_a_list_leaves_the_whole_folder_to_the_data(is_brought, tmp_path):
    program = _program(tmp_path, "an option beside that of the data", is_brought)
    told = {each.message for each in program.adapt().findings}
    assert "--data-path follows --data_url" in told
    assert "--names-path is looked for in --data_url, then where it was" in told
    ran = program.run(f"--data_url={tmp_path / 'brought'}")
    assert ran.lines == (["700.0"] if is_brought else ["7.0"]), ran.error


def test_the_only_file_of_a_script_is_its_data(tmp_path):
    program = Program(tmp_path / "code", train='print(len(open("./words.txt").read()))\n')
    program.adapt()
    assert 'os.path.join(contract.data_url or ".", "words.txt")' in program.text("train.py")


FOLDERS = {
    "a list in a folder of the code, and lists of the data": """
        words = "words/classes.txt"
        with open("names.txt") as file:
            names = file.readlines()
        print(len(names), len(open(words).read()))
    """,
    "a list in a folder of the code, and a folder of the data": """
        import os
        words = "words/classes.txt"
        print(len(os.listdir("rows")), len(open(words).read()))
    """,
    "a folder beside the code, and an option for the data": """
        import argparse, os
        parser = argparse.ArgumentParser()
        parser.add_argument("--data-path", default="/home/me/rows")
        args = parser.parse_args()
        if args.data_path == "/home/me/rows":
            args.data_path = "rows"
        def count(folder):
            return sum(len(open(os.path.join(folder, name)).read()) for name in os.listdir(folder))
        print(len(os.listdir(args.data_path)), count("./words"))
    """,
    "a picture of the code as an option": """
        import argparse, os
        import numpy as np
        parser = argparse.ArgumentParser()
        parser.add_argument("--rows", default="rows", help="folder with the data")
        parser.add_argument("--style-image", default="words/style.png", help="path to the picture")
        args = parser.parse_args()
        print(len(os.listdir(args.rows)), len(np.fromfile(args.style_image, dtype="uint8")))
    """,
}


@pytest.mark.parametrize("shape", FOLDERS)
def test_what_lies_in_a_folder_of_the_code_is_found_there(shape, tmp_path):
    program = Program(tmp_path / "code", train=FOLDERS[shape])
    for place in ("code", "brought"):
        (tmp_path / place / "rows").mkdir(parents=True)
        (tmp_path / place / "names.txt").write_text("a\n" if place == "code" else "a\nb\n")
        for at in range(1 if place == "code" else 2):
            (tmp_path / place / f"rows/{at}").write_text("")
    (tmp_path / "code/words").mkdir()
    name = "style.png" if "picture" in shape else "classes.txt"
    (tmp_path / f"code/words/{name}").write_text("hen")
    before = program.run()
    program.adapt()
    assert before.lines == program.run().lines == ["1 3"], before.error
    brought = tmp_path / ("brought/rows" if "option" in shape else "brought")
    ran = program.run(f"--data_url={brought}")
    assert ran.lines == ["2 3"], ran.error


def test_lists_of_one_folder_are_the_data(tmp_path):
    text = 'print(len(open("data/a.txt").read()), len(open("data/b.txt").read()))\n'
    program = Program(tmp_path / "code", train=text)
    program.adapt()
    assert 'os.path.join(contract.data_url or "data", "a.txt")' in program.text("train.py")


def _program(tmp_path, shape: str, is_brought: bool) -> Program:
    program = Program(tmp_path / "code", **SHAPES[shape])
    (tmp_path / "code/sets/rows").mkdir(parents=True)
    (tmp_path / "brought/rows").mkdir(parents=True)
    (tmp_path / "code/sets/rows/a.csv").write_text("1\n2\n")
    (tmp_path / "brought/rows/a.csv").write_text("3\n4\n")
    (tmp_path / "code/classes.json").write_text('{"scale": 1.0}')
    if is_brought:
        (tmp_path / "brought/classes.json").write_text('{"scale": 100.0}')
    return program


@pytest.mark.parametrize("is_brought", [False, True])
def test_a_list_among_the_modules_is_found_whichever_it_travels_with(is_brought, tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
            import argparse
            from data.rows import total
            parser = argparse.ArgumentParser()
            parser.add_argument("--data-path", default="./sets")
            args = parser.parse_args()
            print(total(args.data_path))
        """,
        data__rows="""
            import os
            def total(root):
                with open("data/scale.txt") as file:
                    scale = float(file.read())
                with open(os.path.join(root, "rows", "a.csv")) as lines:
                    return sum(float(line) for line in lines) * scale
        """,
    )
    (tmp_path / "code/data/scale.txt").write_text("1")
    for folder in ("code/sets", "brought"):
        (tmp_path / folder / "rows").mkdir(parents=True)
        (tmp_path / folder / "rows/a.csv").write_text("3\n")
    if is_brought:
        (tmp_path / "brought/scale.txt").write_text("100")
    program.adapt()
    assert program.run().lines == ["3.0"]
    ran = program.run(f"--data_url={tmp_path / 'brought'}")
    assert ran.lines == (["300.0"] if is_brought else ["3.0"]), ran.error
