"""What is said where nothing follows an option of the contract: what may be its place, by role and with its line."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

TRAIN = """
import argparse
from elsewhere import DATA_DIR, config, train
parser = argparse.ArgumentParser()
{0}
args = parser.parse_args()
{1}
"""
#: option, code, what is said of the data, what is said of the results
CASES = {
    "an option with several values": (
        'parser.add_argument("--path", nargs=1, help="folder with pictures")', "train(args.path[0])",
        "what is done with --path (line 5) is not understood", "what is done with --path (line 5) is not understood",
    ),
    "what must be given": (
        'parser.add_argument("--source", required=True)', "train(args.source)",
        "what is done with --source (line 5) is not understood", "where the results go is not visible",
    ),
    "keywords": (
        "", 'train(input_file="words.txt2", output_file="vectors2")',
        "what is done with 'words.txt2' (line 7) is not understood",
        "what is done with 'vectors2' (line 7) is not understood",
    ),
    "names of files": (
        "", 'train.report("trained.html")', "no place of data is visible",
        "what is done with 'trained.html' (line 7) is not understood",
    ),
    "values of another file": (
        "", "train(DATA_DIR / args.name, model_file=config.model_file)",
        "what is done with DATA_DIR / args.name (line 7) is not understood",
        "what is done with config.model_file (line 7) is not understood",
    ),
    "a place for results does not stand for the data": (
        'parser.add_argument("--path_output", default="out", help="path to output folder")', "train(args)",
        "no place of data is visible", "what is done with --path_output (line 5) is not understood",
    ),
    "devices and code are no places": (
        'parser.add_argument("--device", default="/gpu:0")\n'
        'parser.add_argument("--custom_module_file", default=None)',
        "train(args)", "no place of data is visible", "where the results go is not visible",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_may_be_a_place_is_named_by_its_role(case):
    option, code, data, results = CASES[case]
    told = [each.message for each in adapt(TRAIN.format(option, code)).findings if each.kind is Kind.DIFFERS]
    assert any(each.startswith("nothing reads --data_url: ") and data in each for each in told), told
    assert any(each.startswith("nothing is written to --train_url: ") and results in each for each in told), told
    assert not any("--device" in each or "--custom_module_file" in each for each in told)


def test_options_are_spelled_as_on_the_command_line():
    done = adapt(TRAIN.format('parser.add_argument("--masks-path", required=True)', "train(args.masks_path)"))
    assert "--masks-path stays as it is and must be given" in said(done, Kind.DIFFERS)
    assert "-- --masks-path=PATH" in said(done, Kind.DIFFERS)


def test_what_gives_way_where_it_is_used_does_not_stay():
    done = adapt("""
        import argparse
        import pathlib
        import torch

        def train(cfg, model):
            pathlib.Path(cfg.save_dir).mkdir(parents=True, exist_ok=True)
            torch.save(model, pathlib.Path(cfg.save_dir) / "m.pt")

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--save-dir", default="./checkpoints")
            parser.add_argument("--input", default=pathlib.Path("input/polite.jpg"), type=pathlib.Path)
            args = parser.parse_args()
            print(open(args.input).read())
            train(make(args), torch.nn.Linear(1, 1))
    """)
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_results_are_not_named_as_places_of_data():
    done = adapt("""
        from tools import MetricsLogger, show, fit
        from params import street_path
        MetricsLogger("metrics.csv")
        show("training_curves.png")
        fit(3, street_path)
    """)
    told = [each.message for each in done.findings if "--data_url" in each.message and each.kind is Kind.DIFFERS]
    assert told == ["nothing reads --data_url: what is done with street_path (line 6) is not understood"]


def test_an_option_that_is_compared_with_words_is_no_place():
    done = adapt("""
        import argparse
        from torchvision import datasets
        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", required=True, help="mnist | folder")
        parser.add_argument("--masks-path", help="folder with the masks")
        parser.add_argument("--data-root", default="rows")
        args = parser.parse_args()
        if args.masks_path == "none" or args.masks_path.startswith("http"):
            args.masks_path = None
        if args.kind in ("mnist", "emnist"):
            rows = datasets.MNIST(args.data_root)
        elif args.kind == "folder":
            rows = datasets.ImageFolder(args.data_root)
    """)
    assert "--masks-path stays as it is" in said(done, Kind.DIFFERS) and "--kind" not in said(done, Kind.DIFFERS)


def test_an_option_that_is_on_or_a_number_at_first_is_no_place():
    done = adapt("""
        import argparse
        import torch
        from net import model, train
        parser = argparse.ArgumentParser()
        parser.add_argument("--out", default=True, help="save the model or not")
        parser.add_argument("--log-file", default=1)
        args = parser.parse_args()
        train(model, args.log_file)
        if args.out:
            torch.save(model.state_dict(), "model.pt")
    """)
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_names_inside_of_archives_are_no_places():
    done = adapt("""
        import tarfile
        import zipfile
        with tarfile.open("data/all.tar.gz") as tar:
            rows = tar.extractfile("all/rows.txt").read()
        more = zipfile.ZipFile("data/more.zip")
        last = more.read("more/last.txt")
        with zipfile.ZipFile("data/more.zip") as archive, archive.open("more/rows.txt") as file:
            first = file.read()
        info = zipfile.ZipFile("data/more.zip").getinfo("more/info.txt")
    """)
    assert "stays as it is" not in said(done, Kind.DIFFERS)
    assert done.text.count('os.path.join(contract.data_url or "data", ') == 4


def test_a_place_that_nobody_reads_is_not_spoken_of():
    done = adapt(
        """
        import numpy as np

        PICTURES = "/home/me/pictures"
        ROWS = "/home/me/rows"
        print(np.load(ROWS + "/x.npy").sum())
        """
    )
    assert "pictures" not in said(done, Kind.DIFFERS) and "data_url" in done.text


def test_how_names_of_files_end_is_no_place():
    option = 'parser.add_argument("--img_ext", default=".png")'
    assert "img_ext" not in said(adapt(TRAIN.format(option, "train(args.img_ext)")), Kind.DIFFERS)


def test_a_tuple_with_a_telling_name_saves_nothing():
    done = adapt("""
from collections import namedtuple
SavedStep = namedtuple("SavedStep", ["loss", "rate"])
steps = []
for epoch in range(3):
    steps.append(SavedStep(epoch, 0.1))
print(steps)
""")
    assert "the script saves nothing" in said(done, Kind.DIFFERS)


def test_a_text_is_no_place_where_one_is_filled_in_before_it():
    done = adapt("""
        import argparse
        import torch
        from elsewhere import show
        parser = argparse.ArgumentParser()
        parser.add_argument("--into", default=".", help="folder for results")
        args = parser.parse_args()
        net = torch.nn.Linear(1, 1)
        path = "{}/net.pth".format(args.into)
        torch.save(net.state_dict(), path)
        torch.save(net.state_dict(), "%s/net_%d.pth" % (args.into, 1))
        show("%s/shown.png" % show.place)
    """)
    assert "net" not in said(done, Kind.DIFFERS) and "args.into = args.train_url" in done.text
    assert "'%s/shown.png' stays as it is" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("names", ['["rows_{}.hd5f".format(i) for i in "ab"]', '["rows_a.hd5f", "rows_b.hd5f"]'])
def test_names_of_files_in_a_list_are_no_nothing(names, tmp_path):
    entry = f"from rows import Rows\nnames = {names}\nRows(names)\n"
    rows = (
        "import h5py\nclass Rows:\n    def __init__(self, files):\n        print([h5py.File(each) for each in files])\n"
    )
    done = Program(tmp_path, entry="main.py", main=entry, rows=rows).adapt()
    told = " / ".join(each.message for each in done.findings)
    assert "no place of data is visible" not in told and "'rows_" in told


def test_who_shows_the_settings_of_another_file_reads_no_options(tmp_path):
    train = """
        import argparse
        import numpy as np
        from conf import settings
        parser = argparse.ArgumentParser()
        parser.add_argument("-teacher", default="", help="name of folder with model")
        args = parser.parse_args()
        print(vars(settings), np.load("rows/a.npy"))
    """
    for shown, is_told in (("settings", False), ("args", True)):
        program = Program(
            tmp_path / shown, train=train.replace("vars(settings)", f"vars({shown})"), conf="settings = 1"
        )
        told = [each.message for each in program.adapt().findings]
        assert any("-teacher stays as it is" in each for each in told) is is_told


@pytest.mark.parametrize(
    "line", ["print('saved {}'.format('/last.pt'))", "logging.info('{}: {}'.format(9, '/a/last.pt'))"]
)
def test_what_is_only_said_is_no_place(line):
    done = adapt(f"import logging\nimport numpy as np\nrows = np.load('sets/rows.npy')\n{line}\n")
    assert "stays as it is" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(("line", "is_told"), [("", False), ("keep(prefix)\n", True)])
def test_a_place_that_only_unread_names_are_made_of_needs_no_word(line, is_told):
    done = adapt(
        "import os\nimport numpy as np\nfrom here import keep\n\nrows = np.load('rows/x.npy')\n"
        f"folder = './checkpoints'\nprefix = os.path.join(folder, 'net')\n{line}np.save('out/y.npy', rows)\n"
    )
    assert ("'./checkpoints' stays as it is" in said(done, Kind.DIFFERS)) is is_told


@pytest.mark.parametrize("place", ['"../rows"', '"../rows/names.txt"', 'os.path.join("../rows", "x")'])
def test_a_place_that_gives_way_already_is_no_leftover(place):
    once = adapt(f"import os\nimport torchvision\nrows = torchvision.datasets.ImageFolder({place})\n", "modelarts")
    assert "data_url or" in once.text
    twice = adapt(once.text, "modelarts")
    assert twice.text == once.text and "stays as it is" not in said(twice, Kind.DIFFERS)


SAVES = """
    os.chdir("..")
    os.makedirs(out, exist_ok=True)
    torch.save([1], os.path.join(out, "net.pth"))
"""


@pytest.mark.parametrize(("head", "end"), [
    ('import click\n@click.command()\n@click.option("--out", default="runs")\ndef main(out):', "main()\n"),
    ('import typer\ndef main(out: str = "runs"):', "typer.run(main)\n"),
])  # fmt: skip
def test_an_option_that_follows_already_is_no_leftover(head, end):
    once = adapt(f"import os\nimport torch\n{head}{SAVES}{end}")
    assert "out = train_url" in once.text
    assert "stays as it is" not in said(adapt(once.text), Kind.DIFFERS)
