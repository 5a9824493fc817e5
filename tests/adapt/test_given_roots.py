"""Data sets that look into a folder which another file of the program gives them."""

from __future__ import annotations

import pytest
from programs import Program

from outlast.migrate.engine import Kind


@pytest.mark.parametrize("contract", ["modelarts", "xihe"])
@pytest.mark.parametrize("root", ["root=root", "root"])
def test_a_data_set_whose_folder_is_handed_in_downloads_only_what_is_not_there(root, contract, tmp_path):
    program = Program(
        tmp_path / "code",
        train='from rows import load\nprint(load(root="./sets"))\n',
        rows=f"""
            from torchvision.datasets import CIFAR10
            def load(root, train=True):
                return CIFAR10({root}, train=train, download=True)
        """,
    )
    done = program.adapt(contract)
    told = [each for each in done.findings if "download" in each.message]
    assert not any(each.kind is Kind.HAND for each in told)
    assert not any("not visible" in each.message for each in told)


ROWS = """
    import os
    class Rows:
        def __init__(self, top, year="2012", kind=None, name="train.txt"):
            {root}
            with open(os.path.join(self.root, "sets", name)) as lines:
                self.values = [float(line) for line in lines]
"""
ROOTS = {
    "one": 'self.root = os.path.join(top, "rows", year)',
    "either": """if "rows" in top:
                self.root = os.path.join(top, year)
            else:
                self.root = os.path.join(top, "rows", f"{year}")""",
}


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("handed", ["TOP", "args.data_path"])
def test_beside_the_folder_of_a_data_set_the_name_of_a_list_in_it_stays_a_name(root, handed, tmp_path):
    train = f"""
        import argparse
        from rows import Rows
        parser = argparse.ArgumentParser()
        parser.add_argument("--data-path", default="./")
        args = parser.parse_args()
        TOP = "./"
        print(sum(Rows({handed}, "2012", None, "train.txt").values))
        print(sum(Rows({handed}, "2012", None, "val.txt").values))
    """
    program = Program(tmp_path / "code", train=train, rows=ROWS.format(root=ROOTS[root]))
    for folder, value in ((tmp_path / "code", 1), (tmp_path / "brought", 5)):
        (folder / "rows/2012/sets").mkdir(parents=True)
        for name in ("train", "val"):
            (folder / f"rows/2012/sets/{name}.txt").write_text(f"{value}\n{value}\n")
    before = program.run()
    program.adapt()
    assert before.lines == program.run().lines == ["2.0", "2.0"]
    ran = program.run(f"--data_url={tmp_path / 'brought'}")
    assert ran.lines == ["10.0", "10.0"], ran.error


def test_a_field_that_begins_with_one_of_two_parameters_tells_nothing_of_either(tmp_path):
    program = Program(
        tmp_path / "code",
        train='from rows import Rows\nRows("./", "words")\n',
        rows="""
            import os
            class Rows:
                def __init__(self, top, other):
                    if top:
                        self.root = os.path.join(other, "a")
                    else:
                        self.root = os.path.join(top, "b")
                    print(os.path.exists(os.path.join(self.root, "x.txt")))
        """,
    )
    program.adapt()
    assert 'Rows("./", "words")' in program.text("train.py")
