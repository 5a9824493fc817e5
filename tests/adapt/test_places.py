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


OWN_PICTURES = """
import glob
import imageio
import matplotlib.pyplot as plt
for epoch in range(3):
    plt.savefig("image_at_epoch_{:04d}.png".format(epoch))
anim_file = "all.gif"
with imageio.get_writer(anim_file, mode="I") as writer:
    for name in sorted(glob.glob("image*.png")):
        writer.append_data(imageio.imread(name))
"""


def test_a_pattern_that_finds_what_was_written_before_is_a_result():
    done = adapt(OWN_PICTURES)
    assert 'glob.glob(os.path.join(contract.train_url or "", "image*.png"))' in done.text
    assert 'anim_file = os.path.join(contract.train_url or "", "all.gif")' in done.text
    first = "import glob\nimport matplotlib.pyplot as plt\nfound = glob.glob('a/*.png')\nplt.savefig('b/x.png')\n"
    assert "contract.data_url or 'a'" in adapt(first).text


def test_a_folder_through_a_parameter_to_a_kin_of_save_pretrained_is_a_result():
    text = """
    def keep(model, folder):
        model.save_pretrained_merged(folder, None, save_method="merged_16bit")
    keep(1, "model_sft")
    """
    assert 'keep(1, contract.train_url or "model_sft")' in adapt(text).text


def test_what_is_taken_from_a_configuration_is_replaced_wherever_it_is_taken():
    text = """
    import torch
    from parts import flags, publish, restore
    cfg = flags()
    if cfg.out_dir is None:
        raise ValueError("out_dir must be set")
    state = restore(cfg.out_dir, 1)
    torch.save(state, cfg.out_dir + "/m.pth")
    publish(cfg.out_dir)
    print(cfg.out_dir)
    """
    done = adapt(text).text
    assert "restore(contract.train_url or cfg.out_dir, 1)" in done and "print(cfg.out_dir)" in done
    assert "publish(contract.train_url or cfg.out_dir)" in done
    assert "if (contract.train_url or cfg.out_dir) is None" in done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('pd.read_csv("C:/me/d/x.csv")', 'os.path.join(contract.data_url or "C:/me/d", "x.csv")'),
        ('net.save("C:/me/x.h5", 1)', 'net.save(os.path.join(contract.train_url or "C:/me", "x.h5"), 1)'),
        ('np.savetxt("D:/o/x.txt", 1)', 'os.path.join(contract.train_url or "D:/o", "x.txt")'),
        ('frame.to_csv("/kaggle/working/x.csv")', 'os.path.join(contract.train_url or "/kaggle/working", "x.csv")'),
        ('np.load(Path.home() / "d" / "x.npy")', 'Path(os.path.join(contract.data_url, "x.npy")) if contract.data_url'),
        ('np.load(os.path.join(os.path.expanduser("~"), "x.npy"))', 'os.path.join(contract.data_url, "x.npy") if'),
        ('np.save(os.environ["HOME"] + "/x.npy", 1)', "np.save(os.path.join(contract.train_url, os.path.basename("),
        ('load_img("data/a b.jpg")', 'os.path.join(contract.data_url or "data", "a b.jpg")'),
    ],
)
def test_roots_drives_and_homes_give_way(before, after):
    head = (
        "import os\nfrom pathlib import Path\nimport numpy as np\nimport pandas as pd\n"
        "from keras.utils import load_img\nfrom parts import net\nframe = pd.DataFrame()\n"
    )
    assert after in adapt(head + before + "\n").text


LISTS = """
import os
import numpy as np
def load(paths):
    return [np.load(path).sum() for path in paths]
FOLDERS = ["data_a", "data_b"]
FILES = {"x": "data_a/x.npy", "y": "data_b/y.npy"}
for folder in FOLDERS:
    print(sorted(os.listdir(folder)))
for name, path in FILES.items():
    print(name, np.load(path).sum())
for number, path in enumerate(("data_a/x.npy", "data_b/y.npy")):
    print(number, np.load(path).sum())
for name in ["x.npy"]:
    print(name, np.load("data_a/" + name).sum())
print(load(["data_a/x.npy", "data_b/y.npy"]), np.load(FILES["y"]).sum(), os.listdir(FOLDERS[1]))
"""


def test_places_in_lists_and_dictionaries_follow_the_option(tmp_path):
    for place in ("here", "data"):
        for folder, name in (("data_a", "x"), ("data_b", "y")):
            (tmp_path / place / folder).mkdir(parents=True)
            np.save(tmp_path / place / folder / f"{name}.npy", np.ones(3))
    (tmp_path / "empty").mkdir()
    done = adapt(LISTS)
    before = play(LISTS, tmp_path / "here")
    assert play(done.text, tmp_path / "here") == before
    after = play(done.text, tmp_path / "empty", f"--data_url={tmp_path / 'data'}")
    assert after.output == before.output


def test_a_name_that_also_goes_elsewhere_keeps_its_value(tmp_path):
    text = """
import numpy as np
for name in ["x.npy", "y.npy"]:
    np.save("out_" + name, np.load(name))
"""
    for place in ("here", "data"):
        (tmp_path / place).mkdir()
        for name in ("x", "y"):
            np.save(tmp_path / place / f"{name}.npy", np.ones(3))
    (tmp_path / "results").mkdir()
    (tmp_path / "empty").mkdir()
    done = adapt(text).text
    places = f"--data_url={tmp_path / 'data'}", f"--train_url={tmp_path / 'results'}"
    assert not play(done, tmp_path / "empty", *places).files
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["out_x.npy", "out_y.npy"]
    assert len(play(done, tmp_path / "here").files) == 4


OWN_FUNCTIONS = """
import os
import numpy as np
def versioned(path):
    return os.path.join(path, "v2")
def made(path):
    os.makedirs(path, exist_ok=True)
    return path
def read(path):
    path = os.path.expanduser(path)
    return np.load(path)
path = "data/base"
path = versioned(path)
x = np.load(os.path.join(path, "x.npy"))
y = read("data/y.npy")
out = made("results")
np.save(out + "/z.npy", x + y)
"""


def test_paths_are_followed_through_functions_that_give_them_back(tmp_path):
    for place in (tmp_path / "here" / "data", tmp_path / "data"):
        (place / "base" / "v2").mkdir(parents=True)
        np.save(place / "base" / "v2" / "x.npy", np.ones(3))
        np.save(place / "y.npy", np.ones(3))
    (tmp_path / "results").mkdir()
    (tmp_path / "empty").mkdir()
    done = adapt(OWN_FUNCTIONS).text
    assert "results/z.npy" in play(done, tmp_path / "here").files
    places = f"--data_url={tmp_path / 'data'}", f"--train_url={tmp_path / 'results'}"
    assert not play(done, tmp_path / "empty", *places).files
    assert np.load(tmp_path / "results" / "z.npy").sum() == 6


def test_a_folder_of_results_is_handed_to_other_files_as_such():
    text = """
    import os
    from tools import Writer, note
    os.makedirs("output", exist_ok=True)
    note("output", 3)
    writer = Writer("output")
    open("output/x.txt", "w").close()
    """
    done = adapt(text).text
    assert 'note(contract.train_url or "output", 3)' in done and 'Writer(contract.train_url or "output")' in done
    done = adapt(text + 'if writer.kind == "output":\n        note(1)\n').text
    assert 'note("output", 3)' in done


def test_temporary_files_stay():
    text = """
    import os, tempfile
    import numpy as np
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file.name, 1)
    folder = tempfile.mkdtemp()
    np.save(os.path.join(folder, "x.npy"), 1)
    """
    done = adapt(text)
    assert "np.save(file.name, 1)" in done.text and 'np.save(os.path.join(folder, "x.npy"), 1)' in done.text
    assert "file.name" not in said(done, Kind.DIFFERS)


def test_an_option_for_a_cache_is_no_place_of_data():
    options = 'p.add_argument("--data_dir", default="~/cache")'
    done = adapt(PARSER.format(options) + "from tools import fetch\nfetch('x', cache_dir=args.data_dir)\n")
    assert "args.data_dir =" not in done.text


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ('load_dataset("data", size=10)', 'load_dataset(contract.data_url or "data", size=10)'),
        ('Birds.from_folder(FogDataset("data"))', 'FogDataset(contract.data_url or "data")'),
        ('load_dataset("train")', 'load_dataset("train")'),
        ('tf.data.experimental.save(1, "out/test")', 'save(1, contract.train_url or "out/test")'),
        ('Encoder.load_parts("start.bin", 1)', 'load_parts(contract.pretrain_url or "start.bin", 1)'),
        ('load_names("words.json")', 'load_names("words.json")'),
        ("load_names(save_dir=config.save_dir)", "save_dir=contract.train_url or config.save_dir)"),
        ('load_names(log_dir="logs")', 'load_names(log_dir=contract.train_url or "logs")'),
    ],
)
def test_readers_of_other_files_get_the_place(line, after):
    head = "import tensorflow as tf\nfrom parts import Birds, Encoder, FogDataset, config, load_dataset, load_names\n"
    assert after in adapt(head + line + "\n").text


def test_a_picture_that_is_drawn_is_no_candidate_for_data():
    done = adapt("from parts import fit, plot_history\nplot_history(fit(), 'training_curves.png')\n")
    assert "nothing reads --data_url: no place of data is visible" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "place",
    [
        '"./.gitignore"', '"requirements.txt"', '"./requirements/dev.txt"', '"./README.rst"', '"VERSION"', '"net.py"',
        'os.path.join(HERE, "requirements.txt")', 'HERE + "/LICENSE"', 'os.path.join("scripts", "run.sh")',
        '"./Dockerfile"', '"../setup.cfg"', 'os.path.join(HERE, "net.yaml")',
    ],
)  # fmt: skip
def test_what_belongs_to_the_code_is_no_data(place):
    head = "import os\nimport numpy as np\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
    text = adapt(f'{head}said = open({place}).read()\nx = np.load("./rows/x.npy")\n').text
    assert f"open({place})" in text
    assert 'os.path.join(contract.data_url or "./rows", "x.npy")' in text


def test_what_is_joined_to_here_is_the_place():
    done = adapt("""
        import os
        import numpy as np
        folder = os.path.join(".", "rows")
        x = np.load(os.path.join(".", "rows", "x.npy")) + np.load(os.path.join(folder, "y.npy"))
        np.save(os.path.join("./", "out", "z.npy"), x)
    """)
    assert 'folder = os.path.join(".", contract.data_url or "rows")' in done.text
    assert 'np.load(os.path.join(".", contract.data_url or "rows", "x.npy"))' in done.text
    assert 'np.save(os.path.join("./", contract.train_url or "out", "z.npy"), x)' in done.text


def test_a_result_that_the_environment_may_place_takes_its_folder_along():
    done = adapt("""
        import os
        import torch
        from nets import net
        NET = os.environ.get("NET", "saved/net.pth")
        WORDS = os.getenv("WORDS", "saved/words.txt")
        os.makedirs(os.path.dirname(NET), exist_ok=True)
        torch.save(net, NET)
        open(WORDS, "w").write("a")
    """)
    assert 'NET = os.environ.get("NET", os.path.join(contract.train_url or "saved", "net.pth"))' in done.text
    assert 'WORDS = os.getenv("WORDS", os.path.join(contract.train_url or "saved", "words.txt"))' in done.text


@pytest.mark.parametrize(
    ("call", "after"),
    [
        (
            'data.TabularDataset.splits(path="rows", train="a.csv", format="csv", fields=[])',
            'path=contract.data_url or "rows"',
        ),
        ('datasets.SST.splits(data.Field(), data.Field(), root=".data")', 'root=contract.data_url or ".data"'),
        ('datasets.AG_NEWS(root=".data", split="train")', 'root=contract.data_url or ".data"'),
        ('data.TabularDataset(path="rows/a.csv", format="csv", fields=[])', 'contract.data_url or "rows", "a.csv"'),
    ],
)
def test_sets_of_torchtext_are_data(call, after):
    assert after in adapt(f"from torchtext import data, datasets\nrows = {call}\n").text
