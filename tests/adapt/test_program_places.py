"""Places of programs: names that are only the end of a path, fields of several classes, lists kept beside the data."""

from __future__ import annotations

import pytest
from programs import Program

TRAIN = """
    import torch
    import rows as R
    import keep as K

    torch.manual_seed(1)
    train, test = R.Train(path="/mnt/rows/"), R.Test(kind="small")
    model = torch.nn.Linear(1, 1)
    model.name = "line"
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    K.load_state(model, file="last.pth")
    for epoch in range(3):
        for x, y in train:
            STEP
        K.save_state(model, epoch, file="last.pth")
        print("epoch", epoch, loss.item(), len(list(test)), flush=True)
"""
ROWS = """
    import os

    HERE = os.path.dirname(__file__)
    TEST = os.path.join(HERE, "test")

    class Train:
        def __init__(self, path="elsewhere"):
            self.path = path
        def __iter__(self):
            for at in range(2):
                name = "row %d.txt" % at
                name = os.path.join(self.path, name)
                yield tuple(float(each) for each in open(name).read().split())

    class Test:
        def __init__(self, base=TEST, kind="big"):
            self.path = os.path.join(base, kind)
        def __iter__(self):
            name = "row.txt"
            name = self.path + "/" + name
            return iter(open(name).read().split())
"""
KEEP = """
    import os
    import torch

    SAVED = os.path.join(os.path.dirname(__file__), "models")

    def save_state(model, epoch, folder=SAVED, file=None):
        folder = os.path.join(folder, model.name)
        try:
            os.mkdir(folder)
        except FileExistsError:
            pass
        if file is None:
            file = "state%d.pth" % epoch
        file = os.path.join(folder, file)
        torch.save(model.state_dict(), file)

    def load_state(model, folder=SAVED, file="state"):
        folder = os.path.join(folder, model.name)
        if file == "state":
            file += ".pth"
        file = os.path.join(folder, file)
        try:
            model.load_state_dict(torch.load(file))
        except Exception:
            return False
"""


def test_a_name_that_is_put_behind_a_folder_is_no_place_by_itself(tmp_path):
    program = Program(tmp_path / "code", train=TRAIN, rows=ROWS, keep=KEEP)
    data, out = tmp_path / "data", tmp_path / "out"
    (data / "small").mkdir(parents=True)
    (data / "small" / "row.txt").write_text("1 2")
    for at in range(2):
        (data / f"row {at}.txt").write_text(f"{at} {at + 1}")
    (tmp_path / "code" / "models").mkdir()
    program.adapt()
    out.mkdir()
    ran = program.run("--data_url", str(data), "--train_url", str(out))
    assert len(ran.lines) == 3, ran.error
    assert (out / "line" / "last.pth").is_file() and not program.files()


def _birds(used: str, cached: str, train: str = "Birds(root=ROOT)") -> dict[str, str]:
    return {
        "config": 'ROOT = "/home/me/birds/"\n',
        "train": f"from birds import Birds\nfrom config import ROOT\nprint({train}.first, flush=True)\n",
        "birds": f"""
            import os
            import pickle
            from config import ROOT

            def names(root):
                with open(os.path.join({used}, "images.txt")) as file:
                    return file.read().split()

            class Birds:
                def __init__(self, root):
                    self.root = root
                    path = os.path.join({used}, "names.pkl")
                    {cached}
                    self.first = open(os.path.join(self.root, "images", found[0])).read()
        """,
    }


DUMP = """with open(path, "wb") as file:
                            pickle.dump(found, file)"""
LOAD = """with open(path, "rb") as file:
                            found = pickle.load(file)"""


@pytest.mark.parametrize("used", ["ROOT", "root"])
@pytest.mark.parametrize(
    "cached",
    [
        f"""if not os.path.exists(path):
                        found = names({{used}})
                        {DUMP}
                    else:
                        {LOAD}""",
        f"""if os.path.isfile(path):
                        {LOAD}
                    else:
                        found = names({{used}})
                        {DUMP}""",
    ],
)
def test_a_list_that_is_kept_beside_the_data_leaves_the_data_what_it_is(used, cached, tmp_path):
    program = Program(tmp_path / "code", **_birds(used, cached.replace("{used}", used)))
    data = tmp_path / "data"
    (data / "images").mkdir(parents=True)
    (data / "images.txt").write_text("robin.txt wren.txt")
    (data / "images" / "robin.txt").write_text("a robin")
    done = program.adapt()
    assert any("is kept in the folder of the data" in each.message for each in done.findings)
    for _ in range(2):
        ran = program.run("--data_url", str(data), "--train_url", str(tmp_path / "out"))
        assert ran.lines == ["a robin"], ran.error
    assert (data / "names.pkl").is_file()


def test_a_path_that_is_filled_in_later_is_followed_to_its_folder(tmp_path):
    program = Program(
        tmp_path,
        config='SAVED = "kept"\n',
        train="""
            import os
            import config
            path = os.path.join(config.SAVED, "net")
            os.makedirs(path, exist_ok=True)
            path = os.path.join(path, "{epoch}.txt")
            for epoch in range(2):
                with open(path.format(epoch=epoch), "w") as file:
                    file.write("x")
        """,
    )
    done = program.adapt()
    assert not any("stays as it is" in each.message for each in done.findings)
    program.run("--train_url", str(tmp_path / "out"))
    assert {each for each in program.files() if "net" in each} == {"out/net/0.txt", "out/net/1.txt"}


CHOSEN = {
    "handed as a parameter": ("build(args.backbone, args.model_dir)", "def build(name, size):", "name", "size"),
    "handed by keyword to a class": (
        "Built(size=args.model_dir, name=args.backbone)",
        "class Built:\n    def __init__(self, name, size):\n        self.kind, self.size = name, size\n"
        "        self.choose()\n    def choose(self):",
        "self.kind.lower()", "self.size",
    ),
    "all arguments": ("build(args)", "def build(args):", "args.backbone", "args.model_dir"),
}  # fmt: skip


@pytest.mark.parametrize("shape", CHOSEN)
def test_an_option_that_another_file_compares_with_words_is_no_place(shape, tmp_path):
    call, opens, name, size = CHOSEN[shape]
    lead = "        " if opens.startswith("class") else "    "
    asked = [
        f"if {name} == 'resnet50':", "    print('fifty')", f"elif {name} == 'resnet18':", "    print('eighteen')",
        "else:", f"    print(open({name}).read())", f"print({{'small': 1, 'large': 2}}[{size}])",
    ]  # fmt: skip
    program = Program(
        tmp_path,
        models=opens + "\n" + "\n".join(lead + line for line in asked) + "\n",
        train=f"""
            import argparse
            from models import *
            parser = argparse.ArgumentParser()
            parser.add_argument("--backbone", default="resnet50", help="name of the backbone, or path to its weights")
            parser.add_argument("--model_dir", default="small")
            args = parser.parse_args()
            {call}
        """,
    )
    done = program.adapt()
    assert not any("backbone" in each.message or "model_dir" in each.message for each in done.findings)
    ran = program.run("--data_url", str(tmp_path), "--train_url", str(tmp_path / "out"))
    assert ran.lines == ["fifty", "1"], ran.error


def test_a_word_is_no_use_of_the_start_of_a_module(tmp_path):
    program = Program(
        tmp_path,
        rows="""
            def read(path):
                with open(path) as f:
                    return f.read()

            def main():
                print(read("/home/somebody/else/rows.csv"))

            if __name__ == "__main__":
                main()
        """,
        train="""
            from rows import read

            print("main", read("/home/me/rows.csv"))
        """,
    )
    done = program.adapt()
    assert not [each for each in done.by_hand if "unrelated places" in each.message]
    assert "CONTRACT" not in program.text("rows.py")
    assert "data_url" in program.text("train.py")


def test_what_a_library_calls_alike_says_nothing_of_a_method(tmp_path):
    """`torch.save(state, path)` is no call of the file's own `save(name, folder)`."""
    program = Program(
        tmp_path,
        nets="""
            import os
            import torch

            class Line(torch.nn.Linear):
                def save(self, name, folder="./models"):
                    os.makedirs(folder, exist_ok=True)
                    path = os.path.join(folder, name)
                    torch.save(self.state_dict(), path)

                def load(self, name, folder="./models"):
                    path = os.path.join(folder, name)
                    self.load_state_dict(torch.load(path, None))
        """,
        train="""
            import torch
            from nets import Line

            x, y = torch.Tensor([1.0]), torch.Tensor([2.0])
            model = Line(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            for epoch in range(3):
                STEP
        """,
    )
    program.adapt()
    assert program.text("nets.py").count('os.environ.get("CONTRACT_TRAIN_URL") or "./models"') == 2


def test_a_folder_of_weights_and_results_is_that_of_the_results(tmp_path):
    code, out = tmp_path / "code", tmp_path / "out"
    program = Program(
        code,
        config="""
            saved = "./models/"
            start = saved + "start.pth"
        """,
        train="""
            import config
            import torch

            print(torch.load(config.start))
            torch.save([2], "{}{}.pth".format(config.saved, "last"))
        """,
    )
    done = program.adapt()
    assert any("holds results, and weights" in each.message for each in done.findings)
    for folder in (code / "models", out):
        folder.mkdir()
        (folder / "start.pth").write_bytes(b"\x80\x04]\x94K\x01a.")  # [1], as pickle has it
    assert program.run("--train_url", str(out)).lines == ["[1]"]
    assert (out / "last.pth").exists() and not (code / "models/last.pth").exists()


@pytest.mark.parametrize(
    ("given", "is_replaced"),
    [('TOP + "/rows"', True), ("os.path.join(TOP, 'rows')", True), ("place", False)],
)
def test_what_is_not_read_elsewhere_is_fetched_as_before(tmp_path, given, is_replaced):
    program = Program(
        tmp_path,
        rows=f"""
            import os
            from somewhere import place
            from torchvision import datasets

            TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

            def rows():
                return datasets.MNIST(root={given}, download=True)
        """,
        train="""
            from rows import rows

            print(rows())
        """,
    )
    program.adapt()
    told = 'os.environ.get("CONTRACT_DATA_URL")'
    assert (f"root={told} or {given}, download=not {told}" in program.text("rows.py")) is is_replaced
    assert ("download=True" in program.text("rows.py")) is not is_replaced


def test_several_files_that_are_made_together_are_kept_beside_the_data(tmp_path):
    program = Program(
        tmp_path / "code",
        config="from pathlib import Path\nclass Config:\n    data_dir = Path('../input/rows/')\n    mode = 'train'\n",
        train="from config import Config\nfrom rows import prepare\nprint(*prepare(Config()), flush=True)\n",
        rows="""
            import os
            def prepare(config):
                if not os.path.exists(config.data_dir / f"{config.mode}.txt"):
                    files = sorted((config.data_dir / config.mode).glob("*.txt"))
                    found = [each.read_text() for each in files]
                    if config.mode == "train":
                        with open(config.data_dir / "train.txt", "w") as f:
                            f.write(found[0])
                        with open(config.data_dir / "valid.txt", "w") as f:
                            f.write(found[1])
                        return found
                with open(config.data_dir / "train.txt") as f:
                    first = f.read()
                with open(config.data_dir / "valid.txt") as f:
                    return [first, f.read()]
        """,
    )
    data = tmp_path / "data"
    (data / "train").mkdir(parents=True)
    (data / "train/a.txt").write_text("one")
    (data / "train/b.txt").write_text("two")
    program.adapt()
    for _ in range(2):
        ran = program.run("--data_url", str(data), "--train_url", str(tmp_path / "out"))
        assert ran.lines == ["one two"], ran.error
    assert (data / "valid.txt").read_text() == "two"


@pytest.mark.parametrize("before", ["", "*, ", "*rest, "])
def test_a_default_for_results_is_followed_wherever_it_stands_among_the_parameters(before, tmp_path):
    program = Program(
        tmp_path,
        train="from trainer import Trainer\nTrainer('a').save(3)\nTrainer('b').save(4)\n",
        trainer=f"""
            from pathlib import Path
            class Trainer:
                def __init__(self, name, {before}results="./results"):
                    self.name, self.results = name, Path(results)
                    self.results.mkdir(exist_ok=True)
                def save(self, step):
                    (self.results / f"{{self.name}}-{{step}}.txt").write_text("done")
        """,
    )
    program.adapt()
    program.run("--train_url", str(tmp_path / "out"))
    program.run()
    assert program.files() == {f"{folder}/{name}.txt" for folder in ("out", "results") for name in ("a-3", "b-4")}


def test_a_picture_is_drawn_beside_the_table_that_is_given(tmp_path):
    program = Program(
        tmp_path,
        train="""
            from pathlib import Path
            from curves import draw
            table = Path("runs") / "rows.csv"
            table.parent.mkdir(exist_ok=True)
            table.write_text("1\\n2\\n")
            draw(file=table)
        """,
        curves="""
            from pathlib import Path
            import matplotlib.pyplot as plt

            def draw(file="path/to/rows.csv", dir=""):
                folder = Path(file).parent if file else Path(dir)
                figure, axis = plt.subplots()
                figure.savefig(folder / "rows.png")
        """,
    )
    program.adapt()
    assert '(contract.train_url or "", "runs")) / "rows.csv"' in program.text("train.py")
    assert program.text("curves.py").count("savefig(folder / ") == 1
