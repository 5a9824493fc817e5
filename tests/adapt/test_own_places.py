"""Places and options in ways of ordinary scripts that once were adapted wrongly."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HEAD = "import argparse, os, numpy as np, torch\np = argparse.ArgumentParser()\n{}\nargs = p.parse_args()\n"


def test_a_stem_is_no_folder():
    option = 'p.add_argument("--save", default="out/last")'
    done = adapt(HEAD.format(option) + 'torch.save({}, args.save + ".pt")\n')
    assert "args.save = os.path.join(args.train_url, os.path.basename(os.path.normpath(args.save)))" in done.text


def test_a_required_file_is_not_called_like_the_data_folder():
    done = adapt(HEAD.format('p.add_argument("--table", required=True)') + "np.load(args.table)\n")
    assert '"--data_url", required' not in done.text
    assert "args.table = os.path.join(args.data_url, os.path.basename(os.path.normpath(args.table)))" in done.text
    assert "--table follows --data_url by its last name, and must still be given" in said(done, Kind.DIFFERS)


def test_several_weights_are_not_all_the_same():
    options = 'p.add_argument("--g", default="")\np.add_argument("--d", default="")'
    done = adapt(HEAD.format(options) + "torch.load(args.g)\ntorch.load(args.d)\n")
    assert "= args.pretrain_url" not in done.text and "--g, --d each take weights" in said(done, Kind.DIFFERS)


def test_an_option_that_is_a_path_stays_one():
    option = 'from pathlib import Path\np.add_argument("--out", type=Path, default="out")'
    done = adapt(HEAD.format(option) + 'np.save(args.out / "x.npy", 1)\n')
    assert "args.out = Path(args.train_url)" in done.text


def test_subcommands_leave_the_contract_to_a_parser_of_its_own():
    done = adapt("""
        import argparse, os
        p = argparse.ArgumentParser()
        train = p.add_subparsers().add_parser("train")
        train.add_argument("--dataroot", required=True)
        args = p.parse_args()
        print(os.listdir(args.dataroot))
    """)
    assert "contract, sys.argv[1:] = " in done.text and "required=not contract.data_url" in done.text
    assert "args.dataroot = contract.data_url" in done.text


def test_a_choice_of_two_ways_to_parse_is_understood():
    done = adapt("""
        import argparse, os
        def options(known=False):
            p = argparse.ArgumentParser()
            p.add_argument("--data_dir", default="data")
            return p.parse_known_args()[0] if known else p.parse_args()
        def run(**words):
            opt = options(True)
        opt = options()
        print(os.listdir(opt.data_dir))
    """)
    assert "    if args.data_url:\n        args.data_dir = args.data_url\n    return args\n" in done.text


def test_a_command_line_that_a_library_reads_does_not_see_the_contract():
    done = adapt("from pytorch_lightning.cli import LightningCLI\nx = 1\nLightningCLI()\n")
    assert "contract, sys.argv[1:] = " in done.text


def test_a_download_goes_on_where_its_place_is_not_the_contracts():
    text = "from sets import Birds\nwhere = home()\nb = Birds(where, download=True)\n"
    assert "download=True" in adapt(text).text
    assert "Birds downloads its data" in said(adapt(text, "xihe"), Kind.HAND)


@pytest.mark.parametrize(
    ("flag", "new"),
    [
        ("FETCH", "not contract.data_url and FETCH"),
        ("FETCH or MORE", "not contract.data_url and (FETCH or MORE)"),
        ("not OFF", "not contract.data_url and not OFF"),
        ("OFF", "OFF"),
        ("False", "False"),
    ],
)
def test_nothing_is_downloaded_where_a_setting_asks_for_it(flag, new):
    text = "from torchvision import datasets\nFETCH = MORE = True\nOFF = False\n"
    done = adapt(text + f'datasets.MNIST("m", download={flag})\n')
    assert f"download={new})" in done.text
    is_asked = "MNIST is not downloaded when --data_url is given" in said(done, Kind.CHANGED)
    assert is_asked is ("contract" in new)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('datasets.MNIST(root=".", download=True)',
         'datasets.MNIST(root=contract.data_url or ".", download=not contract.data_url)'),
        ('Birds(root="~/sets", download=True)',
         'Birds(root=contract.data_url or "~/sets", download=not contract.data_url)'),
        ('tasks("birds", root="~/sets")', 'tasks("birds", root=contract.data_url or "~/sets")'),
        ("imdb.load_data(num_words=9)",
         "load_delivered(imdb.load_data, contract.data_url)(num_words=9)"),
        ('get_file("a.txt", "http://h/a.txt")',
         '(os.path.join(contract.data_url, "a.txt") if contract.data_url else get_file("a.txt", "http://h/a.txt"))'),
        ('np.save("o/{}.npy".format(1), 1)', 'np.save(os.path.join(contract.train_url or "o", "{}.npy".format(1)), 1)'),
        ("np.save(os.path.join(PLACE, 'x.npy'), 1)", "np.save(os.path.join(contract.train_url or PLACE, 'x.npy'), 1)"),
        ('ModelCheckpoint("net", "ckpt", 1)', 'ModelCheckpoint("net", contract.train_url or "ckpt", 1)'),
    ],
)  # fmt: skip
def test_a_place_is_found_where_it_stands(before, after):
    head = (
        "import os\nimport numpy as np\nfrom torchvision import datasets\nfrom keras.datasets import imdb\n"
        "from keras.utils import get_file\nfrom mindspore.train.callback import ModelCheckpoint\n"
        "from sets import Birds, tasks, PLACE\nx = 1\n"
    )
    assert after in adapt(head + before + "\n").text.splitlines()


def test_a_folder_with_a_percent_sign_is_no_format(tmp_path):
    done = adapt('import numpy as np\nfor n in (1, 2):\n    np.save("out/x_%d.npy" % n, n)\n')
    folder = tmp_path / "100% {new}"
    folder.mkdir()
    exec(
        compile(
            done.text.replace("parse_known_args()", f"parse_known_args(['--train_url', {str(folder)!r}])"), "s", "exec"
        ),
        {},
    )
    assert sorted(path.name for path in folder.iterdir()) == ["x_1.npy", "x_2.npy"]


def test_a_list_beside_the_code_may_travel_with_it_where_data_lies_elsewhere():
    option = 'p.add_argument("--data_dir", default="d")'
    done = adapt(HEAD.format(option) + 'names = open("names.json").read()\nprint(os.listdir(args.data_dir))\n')
    assert '"names.json" is looked for in --data_url, then where it was' in said(done, Kind.CHANGED)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.save('%i_a.npy' % 1, 1)", "np.save(os.path.join(contract.train_url or '', '%i_a.npy' % 1), 1)"),
        ("np.save(os.path.join(os.getcwd(), 'o', 'a.npy'), 1)",
         "np.save(os.path.join(contract.train_url or os.getcwd(), 'o', 'a.npy'), 1)"),
        ("get_file('a.gz', origin='http://h/a')",
         "(os.path.join(contract.data_url, \"a.gz\") if contract.data_url else get_file('a.gz', "
         "origin='http://h/a'))"),
        ("get_file(origin='http://h/a.txt?raw=1')",
         "(os.path.join(contract.data_url, \"a.txt\") if contract.data_url else get_file("
         "origin='http://h/a.txt?raw=1'))"),
        ("get_file('a.tar.gz', origin='http://h/a')",
         "get_delivered(get_file, contract.data_url)('a.tar.gz', origin='http://h/a')"),
    ],
)  # fmt: skip
def test_more_places_are_found_where_they_stand(before, after):
    head = "import os\nimport numpy as np\nfrom keras.utils import get_file\nx = 1\n"
    assert after in adapt(head + before + "\n").text.splitlines()


def test_a_dictionary_called_like_options_holds_no_options():
    text = 'import argparse, numpy as np\nopt = {"m": "net"}\nnp.save(opt["m"] + ".npy", 1)\n'
    assert "or opt" not in adapt(text).text


@pytest.mark.parametrize(
    "call", ['h5py.File("o/x.h5", "w")', 'gzip.open("o/x.gz", mode="wb")', 'tf.io.gfile.GFile("o/x", "w")']
)
def test_what_is_opened_to_be_written_is_a_result(call):
    done = adapt(f"import gzip, h5py\nimport tensorflow as tf\nf = {call}\n")
    assert 'os.path.join(contract.train_url or "o", ' in done.text


def test_a_home_folder_alone_is_no_data():
    text = 'from os.path import expanduser\nfrom sets import Birds\nBirds(root=expanduser("~"){}, download=True)\n'
    assert 'Birds(root=expanduser("~"), download=True)' in adapt(text.format("")).text
    below = 'Birds(root=contract.data_url or expanduser("~") + "/b", download=not contract.data_url)'
    assert below in adapt(text.format(' + "/b"')).text


def test_the_flag_of_its_own_resume_is_no_input_that_must_be_passed():
    text = """
        import argparse, os, torch
        def get_args():
            p = argparse.ArgumentParser()
            p.add_argument("--resume", default="")
            p.add_argument("--output-dir", default=".")
            return p.parse_args()
        def main(args):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            start_epoch = 0
            if args.resume:
                state = torch.load(args.resume)
                model.load_state_dict(state["model"])
                start_epoch = state["epoch"] + 1
            for epoch in range(start_epoch, 9):
                optimizer.step()
                torch.save({"model": model.state_dict(), "epoch": epoch}, os.path.join(args.output_dir, "last.pth"))
        main(get_args())
    """
    done = adapt(text)
    assert done.is_complete and "--resume=PATH goes on as before" in said(done, Kind.KEPT)


def test_a_file_that_click_has_a_default_for_follows_the_output_folder():
    text = """
        import click, torch
        @click.command()
        @click.option("--lr", default=0.1)
        @click.option("--out", default="results/model.pt")
        def train(lr, out):
            torch.save(lr, out)
        train()
    """
    done = adapt(text)
    assert "--out follows --train_url" in said(done, Kind.CHANGED)
    assert "out = os.path.join(train_url, os.path.basename(os.path.normpath(out)))" in done.text


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("np.load('rows/all/a/x.npy')\nnp.load('rows/all/b/x.npy')", "stands for rows/all, not for a folder above it"),
        ("np.load('../rows/all/x.npy')", "stands for ../rows/all, not for a folder above it"),
        ("np.load('rows/a/x.npy')\nnp.load('rows/b/x.npy')", ""),
        ("[np.load('rows/all/' + each) for each in os.listdir('rows/all/')]", ""),
        ("np.load('rows/x.npy')", ""),
    ],
)
def test_which_of_several_folders_above_the_data_is_meant_is_told(lines, told):
    found = said(adapt(f"import os\nimport numpy as np\n{lines}\n"), Kind.DIFFERS)
    assert (f"--data_url {told}" in found) if told else ("stands for" not in found)
