"""Places in every spelling: beside others, below the code, in a configuration; and what is left is named."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.adapt import CONTRACTS, adapt_text
from outlast.migrate.engine import Kind

PARSER = "import argparse, os\nimport numpy as np\np = argparse.ArgumentParser()\n{}\nargs = p.parse_args()\n"


def test_what_lies_beside_data_is_data():
    done = adapt("""
        import os
        from readers import Streets
        images = "streets/images"
        labels = "streets/labels"
        print(os.listdir(images))
        data = Streets(labels, index="streets/index.csv")
    """).text
    for name in ("images", "labels", "index.csv"):
        assert f'os.path.join(contract.data_url or "streets", "{name}")' in done


def test_what_lies_beside_results_is_not():
    text = 'import os\nimport numpy as np\nx = np.load("run/x.npy")\ny = "run/y.npy"\nnp.save("run/w.npy", x)\n'
    assert 'y = "run/y.npy"' in adapt(text).text


def test_options_that_lie_in_a_folder_stay_in_it():
    options = 'p.add_argument("--data", default="./data")\np.add_argument("--words", default="./data/en/words.txt")'
    done = adapt(PARSER.format(options) + 'np.load(os.path.join(args.data, "x.npy"))\nopen(args.words)\n').text
    assert "args.words = os.path.join(args.data_url, os.path.relpath(args.words, args.data))\n    args.data =" in done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('np.load(HERE / "d" / "x.npy")', 'Path(os.path.join(contract.data_url, "x.npy")) if contract.data_url'),
        ('D = HERE / "d"\nnp.load(D / "x.npy")', 'D = Path(contract.data_url) if contract.data_url else HERE / "d"'),
        ('O = os.path.join(BASE, "o")\nnp.save(O + "/x.npy", 1)', 'O = contract.train_url or os.path.join(BASE, "o")'),
        ('np.load(os.path.join(BASE, "x.npy"))', 'os.path.join(contract.data_url, "x.npy") if contract.data_url'),
        ("os.listdir(r'D:\\data\\streets')", "os.listdir(contract.data_url or r'D:\\data\\streets')"),
        ("np.load(r'D:\\data\\x.npy')", 'np.load(os.path.join(contract.data_url, "x.npy") if contract.data_url else r'),
        ('np.load(cfg["d"]["x"])', 'os.path.join(contract.data_url, os.path.basename(os.path.normpath(cfg["d"]'),
        ('os.listdir(cfg["d"])', 'os.listdir(contract.data_url or cfg["d"])'),
    ],
)  # fmt: skip
def test_places_that_are_not_plain_literals_follow_the_option(before, after):
    head = (
        "import os, yaml\nimport numpy as np\nfrom pathlib import Path\nHERE = Path(__file__).resolve().parent\n"
        "BASE = os.path.dirname(os.path.abspath(__file__))\ncfg = yaml.safe_load(open('config.yaml'))\n"
    )
    if "cfg[" in before:
        head = head.replace("from pathlib import Path\nHERE = Path(__file__).resolve().parent\n", "")
    assert after in adapt(head + before + "\n").text


def test_a_folder_of_a_configuration_that_is_written_and_read_holds_results():
    done = adapt("""
        import os, torch
        import config
        torch.save(1, os.path.join(config.SAVED, "a.pth"))
        torch.load(os.path.join(config.SAVED, "a.pth"))
    """).text
    assert done.count("contract.train_url or config.SAVED") == 2 and "pretrain_url" not in done


def test_settings_are_no_data():
    head = "from pathlib import Path\nROOT = Path(__file__).parent\n"
    for default in ('"config/coco.data"', 'ROOT / "data/coco.yaml"'):
        text = head + PARSER.format(f'p.add_argument("--data", default={default})')
        assert "args.data =" not in adapt(text + "from tools import load_dataset_config\nopen(args.data)\n").text


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ('p.add_argument("--data-root", default="d")', "data_root"),
        ('p.add_argument("--dataset_path")', "dataset_path"),
        ('p.add_argument("--output-dir", default="o")', "output_dir"),
        ('p.add_argument("--checkpoint_dir", default="o")', "checkpoint_dir"),
        ('p.add_argument("--logdir", default="o")', "logdir"),
        ('p.add_argument("--results", default="results")', "results"),
        ('p.add_argument("--train_file", default="d/train.txt")', "train_file"),
    ],
)
def test_an_option_that_goes_out_of_sight_is_known_by_its_name(options, name):
    done = adapt(PARSER.format(options) + "from tools import train\ntrain(args)\n")
    assert f"    args.{name} = " in done.text
    assert "saves nothing" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "line", ['p.add_argument("--data", default="cifar10")', 'p.add_argument("--output", default="json")']
)
def test_a_choice_is_no_place(line):
    done = adapt(PARSER.format(line) + "from tools import train\ntrain(args)\n")
    assert "    args." not in done.text


def test_whatever_looks_like_a_place_and_is_not_wired_is_named():
    options = 'p.add_argument("--msa", required=True)\np.add_argument("--masks_path", required=True)'
    done = adapt(PARSER.format(options) + 'from tools import fit\nfit(args.masks_path, "d/x.csv")\n')
    told = said(done, Kind.DIFFERS)
    assert "--masks_path stays as it is and must be given" in told and "'d/x.csv' stays as it is" in told
    assert "not visible" not in told and "nothing reads --data_url: what is done with --masks_path (line 5)" in told


def test_results_that_code_elsewhere_writes_are_not_denied():
    done = adapt(PARSER.format("") + "from tools import train\ntrain(args)\n")
    assert "where the results go is not visible" in said(done, Kind.DIFFERS)
    assert "the script saves nothing" in said(adapt("x = 1\nprint(x)\n"), Kind.DIFFERS)
    shown = (
        "import matplotlib.pyplot as plt\ndef store(x):\n    f, axis = plt.subplots(2)\n    axis.plot(x)\nstore(1)\n"
    )
    assert "the script saves nothing" in said(adapt(shown), Kind.DIFFERS)
    solid = "from mpl_toolkits.mplot3d import Axes3D\n" + shown
    assert "the script saves nothing" in said(adapt(solid), Kind.DIFFERS)
    assert "saves nothing" not in said(adapt("import figures\nfigures.plot_all(3)\n"), Kind.DIFFERS)


def test_a_helper_elsewhere_that_saves_is_followed():
    options = 'p.add_argument("--output-dir", default="o")'
    done = adapt(
        PARSER.format(options) + 'import utils\nutils.save_on_master(1, os.path.join(args.output_dir, "m.pth"))\n'
    )
    assert "if args.train_url:\n    args.output_dir = args.train_url" in done.text


def test_imports_that_come_later_are_made_where_they_are_needed(tmp_path):
    text = "import os\nprint(1)\nimport argparse\nimport numpy as np\nprint(np.load('d/x.npy').sum())\n"
    (tmp_path / "d").mkdir()
    np.save(tmp_path / "d" / "x.npy", np.ones(2))
    assert play(adapt(text).text, tmp_path).output == "1\n2.0\n"


def test_a_byte_order_mark_stays(tmp_path):
    text = "\ufeffimport numpy as np\nx = np.load('d/x.npy')\nfor epoch in range(3):\n    x = x + 1\n"
    done = adapt_text(text, CONTRACTS["modelarts"])
    assert done.text.startswith("\ufeffimport") and "range(first_epoch, 3)" in done.text
    (tmp_path / "x.py").write_text(done.text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "py_compile", "x.py"], cwd=tmp_path, check=True, timeout=60)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('fetch_openml("mnist_784", version=1)', 'fetch_openml("mnist_784", version=1, data_home=contract.data_url)'),
        ('tfds.load("mnist", split="train")', 'tfds.load("mnist", split="train", data_dir=contract.data_url)'),
        ('load_dataset("imdb", split="train")', 'load_dataset(contract.data_url or "imdb", split="train")'),
        ('load_dataset("csv", data_files={"a": "d/a.csv"})', '{"a": os.path.join(contract.data_url or "d", "a.csv")}'),
        ('kagglehub.dataset_download("a/b")', 'contract.data_url or kagglehub.dataset_download("a/b")'),
        ('Planetoid("d/cora", "Cora")', 'Planetoid(contract.data_url or "d/cora", "Cora")'),
    ],
)
def test_data_sets_of_libraries_can_be_an_input(before, after):
    head = (
        "import kagglehub\nfrom sklearn.datasets import fetch_openml\nimport tensorflow_datasets as tfds\n"
        "from datasets import load_dataset\nfrom torch_geometric.datasets import Planetoid\n"
    )
    done = adapt(head + f"x = {before}\n", "xihe")
    assert after in done.text and "network" not in said(done, Kind.HAND)


def test_several_data_sets_are_not_one_folder():
    text = 'from datasets import load_dataset\na = load_dataset("imdb")\nb = load_dataset("glue", "mrpc")\n'
    assert said(adapt(text, "xihe"), Kind.HAND).count("there is no network") == 2


def test_what_another_contract_passes_is_an_option_like_others():
    options = 'p.add_argument("--output_path", default="o")'
    done = adapt(PARSER.format(options) + 'np.save(os.path.join(args.output_path, "x.npy"), 1)\n')
    assert "args.output_path = args.train_url" in done.text


def test_what_sounds_like_saving_takes_only_places():
    text = 'from tools import dump_graph, save_plot\ndump_graph("main/loss")\nsave_plot("plots/a.png")\n'
    done = adapt(text).text
    assert 'dump_graph("main/loss")' in done and 'contract.train_url or "plots"' in done


def test_options_for_inputs_belong_together():
    options = 'p.add_argument("--input_wavs_dir", default="l/wavs")\np.add_argument("--input_file", default="l/a.txt")'
    done = adapt(PARSER.format(options) + "from tools import fit\nfit(args)\n").text
    assert "    args.input_wavs_dir = os.path.join(args.data_url" in done and "    args.input_file = os" in done


def test_the_help_of_an_option_tells_that_it_is_a_place():
    options = 'p.add_argument("--msa", required=True, help="alignment file")\np.add_argument("--config", default="c")'
    done = adapt(PARSER.format(options) + "from tools import fit\nfit(args.msa)\nopen(args.config)\n")
    assert "--msa stays as it is and must be given" in said(done, Kind.DIFFERS)
    assert "args.config =" not in done.text


def test_names_of_a_configuration_tell_data_from_weights_and_settings():
    done = adapt("""
        import torch, yaml
        from settings import paths, run
        from tools import save_checkpoint
        graph = torch.load(paths.GRAPH_DATA)
        words = yaml.safe_load(open(run.parent / "options.yaml"))
        save_checkpoint(run.logdir, 1)
    """).text
    assert "pretrain_url" not in done and "os.path.join(contract.data_url, os.path.basename(" in done
    assert 'run.parent / "options.yaml"' in done and "contract.train_url or run.logdir" in done


@pytest.mark.parametrize(
    "line", ['files = glob.glob("../in/scans/*/*/a.npy")', 'p = "../in/scans/*/*/a.npy"\nfiles = glob.glob(p)']
)
def test_a_pattern_is_divided_before_what_it_leaves_open(line):
    done = adapt(f"import glob\n{line}\n")
    assert 'os.path.join(contract.data_url or "../in/scans", "*/*/a.npy")' in done.text


def test_an_option_for_a_cache_is_no_place_of_data():
    options = 'p.add_argument("--data_dir", default="~/cache")'
    done = adapt(PARSER.format(options) + "from tools import fetch\nfetch('x', cache_dir=args.data_dir)\n")
    assert "args.data_dir =" not in done.text
