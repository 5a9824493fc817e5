"""What a path is for: inputs are not mistaken for results, results not for inputs, words not for places."""

from __future__ import annotations

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

HEAD = "import argparse, glob, os\nimport h5py, pandas as pd\nimport numpy as np\nimport torch\nname = 'a'\n"
PARSER = "p = argparse.ArgumentParser()\n{}\nargs = p.parse_args()\n"


@pytest.mark.parametrize(
    "body",
    [
        'torch.save(1, f"ckpt/{name}.pth")\ntorch.load("ckpt/best.pth")\n',
        'torch.save(1, f"best_{name}.pth")\ntorch.load("best_1.pth")\n',
        'os.makedirs("ckpt")\nfrom tools import fit\nfit(1)\ntorch.load("ckpt/best.pth")\n',
        'if os.path.exists("ckpt/last.pth"):\n    torch.load("ckpt/last.pth")\ntorch.save(1, f"ckpt/{name}.pth")\n',
        'def f():\n    torch.save(1, "ckpt/%s.pth" % name)\ndef g():\n    torch.load("ckpt/best.pth")\nf()\ng()\n',
        'np.save(f"out/{name}.npy", 1)\nfiles = glob.glob("out/*.npy")\n',
    ],
)
def test_what_the_script_has_written_before_is_no_input(body):
    done = adapt(HEAD + body)
    assert "pretrain_url" not in done.text and "contract.data_url" not in done.text
    assert done.text.count("contract.train_url or") >= 2


@pytest.mark.parametrize(
    "body",
    [
        'torch.load("ckpt/start.pth")\ntorch.save(1, f"ckpt/{name}.pth")\n',
        'def test():\n    torch.save(1, f"ckpt/{name}.pth")\ntorch.load("ckpt/start.pth")\ntest()\n',
    ],
)
def test_what_is_loaded_before_anything_was_written_are_weights(body):
    assert 'torch.load(contract.pretrain_url or "ckpt/start.pth")' in adapt(HEAD + body).text


@pytest.mark.parametrize("line", ['h5py.File("d/x.h5")', 'pd.read_hdf("d/x.h5")', 'np.load("d/x.h5.npy")'])
def test_data_in_a_file_like_that_of_weights_is_data(line):
    text = adapt(HEAD + line + "\n").text
    assert 'contract.data_url or "d"' in text and "pretrain_url" not in text


@pytest.mark.parametrize(
    "save",
    [
        "torch.save(1, args.model_path)",
        "from tools import save_model\nsave_model(1, args.model_path)",
        "from tools import Net\nnet = Net()\nnet.save(args.model_path)",
        "from tools import dump_state\ndump_state(state=1, path=args.model_path)",
    ],
)
def test_an_option_that_is_saved_to_is_a_result_also_where_it_is_loaded(save):
    options = PARSER.format('p.add_argument("--model_path", default="model.pth")')
    done = adapt(HEAD + options + save + "\ntorch.load(args.model_path)\n")
    assert "pretrain_url" not in done.text
    assert "args.model_path = os.path.join(args.train_url, os.path.basename(" in done.text


def test_a_word_that_is_compared_is_no_place():
    body = 'start = "scratch"\nif start == "scratch":\n    net = 1\nelse:\n    net = torch.load(start)\n'
    assert "pretrain_url" not in adapt(HEAD + body).text
    options = PARSER.format('p.add_argument("--init_from", default="scratch")')
    done = adapt(HEAD + options + 'if args.init_from != "scratch":\n    torch.load(args.init_from)\n')
    assert "pretrain_url" not in done.text


def test_a_checkpoint_to_go_on_from_is_no_input_of_weights():
    options = PARSER.format('p.add_argument("--resume", default="")')
    assert "pretrain_url" not in adapt(HEAD + options + "if args.resume:\n    torch.load(args.resume)\n").text


def test_a_writer_that_chooses_its_folder_is_told_one():
    done = adapt("""
        from mindspore import load_checkpoint
        from mindspore.train.callback import CheckpointConfig, ModelCheckpoint
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        saves = ModelCheckpoint(prefix="net", config=CheckpointConfig(100))
        found = load_checkpoint("net-10_100.ckpt")
    """)
    assert "SummaryWriter(log_dir=contract.train_url)" in done.text
    assert "config=CheckpointConfig(100), directory=contract.train_url)" in done.text
    assert 'load_checkpoint(os.path.join(contract.train_url or "", "net-10_100.ckpt"))' in done.text
    assert "saves nothing" not in said(done, Kind.DIFFERS)


LOAD = "import argparse, os, pickle\nimport numpy as np\n"
SAVE = "\nnp.save(args.out, [1.0])\n"


def run(script, folder, *argv):
    folder.mkdir(exist_ok=True)
    return play(script, folder, *argv)


def put(folder, **files):
    for name, value in files.items():
        path = folder.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".csv").write_text(f"{value}\n")


def test_each_of_several_values_of_one_option_follows(tmp_path):
    options = 'p.add_argument("--inputs", nargs="+", default=["d/a.csv", "d/b.csv"])\n'
    options += 'p.add_argument("--out", nargs=1, default=["o.npy"])'
    text = LOAD + PARSER.format(options)
    text += "print(np.loadtxt(args.inputs[0]))\nfor each in args.inputs:\n    print(np.loadtxt(each))\n"
    done = adapt(text + SAVE.replace("args.out", "args.out[0]"))
    put(tmp_path / "home", d__a=1, d__b=2)
    put(tmp_path / "there", a=1, b=2)
    before = run(done.text, tmp_path / "home")
    after = run(done.text, tmp_path / "away", "--data_url", str(tmp_path / "there"), "--train_url", str(tmp_path))
    assert before.output == after.output == "1.0\n1.0\n2.0\n"
    assert "o.npy" in before.files and not after.files and (tmp_path / "o.npy").is_file()


@pytest.mark.parametrize("given", [False, True])
def test_places_of_the_same_last_name_do_not_fall_together(given, tmp_path):
    own = "required=True" if given else 'default="{}/data.csv"'
    options = (
        f'p.add_argument("--source_path", {own.format("x")})\np.add_argument("--target_path", {own.format("y")})\n'
    )
    text = LOAD + PARSER.format(options + 'p.add_argument("--out", default="o.npy")')
    done = adapt(text + "print(np.loadtxt(args.source_path), np.loadtxt(args.target_path))" + SAVE)
    argv = ["--source_path", "x/data.csv", "--target_path", "y/data.csv"] if given else []
    put(tmp_path / "home", x__data=1, y__data=2)
    assert run(done.text, tmp_path / "home", *argv).output == "1.0 2.0\n"
    there = ["--data_url", str(tmp_path / "home"), "--train_url", str(tmp_path)]
    assert run(done.text, tmp_path / "away", *argv, *there).output == "1.0 2.0\n"


def test_results_of_the_same_last_name_do_not_fall_together(tmp_path):
    options = 'p.add_argument("--a", default="x/o.txt")\np.add_argument("--b", default="../y/o.txt")\n'
    text = LOAD + PARSER.format(options)
    for name in "ab":
        text += f"os.makedirs(os.path.dirname(args.{name}), exist_ok=True)\nopen(args.{name}, 'w').close()\n"
    assert not run(adapt(text).text, tmp_path / "away", "--train_url", str(tmp_path)).files
    assert (tmp_path / "x/o.txt").is_file() and (tmp_path / "y/o.txt").is_file()


@pytest.mark.parametrize("is_flat", [False, True])
def test_options_at_several_depths_of_one_folder_are_found_in_it(tmp_path, is_flat):
    options = (
        'p.add_argument("--words", default="data/words.txt")\np.add_argument("--tags", default="data/more/tags.txt")'
    )
    text = LOAD + PARSER.format(options) + "print(open(args.words).read(), open(args.tags).read())\n"
    given = tmp_path / "given"
    places = [given / "words.txt", given / ("tags.txt" if is_flat else "more/tags.txt")]
    for place, said_there in zip(places, ("one", "two"), strict=True):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(said_there)
    assert run(adapt(text).text, tmp_path / "away", "--data_url", str(given)).output == "one two\n"


def test_the_writers_of_an_older_tensorflow_are_known_by_both_of_their_names():
    done = adapt('import tensorflow as tf\nwriter = tf.compat.v1.summary.FileWriter("./logs")\n')
    assert 'FileWriter(contract.train_url or "./logs")' in done.text


def test_places_of_a_configuration_do_not_fall_together_either():
    done = adapt("import config\nimport numpy as np\nnp.load(config.SOURCE)\nnp.load(config.TARGET)\n")
    assert "find_below(contract.data_url, config.SOURCE) if contract.data_url and config.SOURCE" in done.text
    one = adapt("import config\nimport numpy as np\nnp.load(config.SOURCE)\n")
    assert "find_below" not in one.text and "os.path.basename(" in one.text


@pytest.mark.parametrize(
    "call",
    ["train(input_file=args.source, output_file=args.out)", "Table(csv_file=args.source).fit(save_path=args.out)"],
)
def test_a_keyword_says_what_is_handed_to_code_of_another_file(call):
    options = 'p.add_argument("--source", default="d/x.csv")\np.add_argument("--out", default="net.npy")'
    done = adapt(LOAD + "from elsewhere import train, Table\n" + PARSER.format(options) + call + "\n")
    assert "args.source = os.path.join(args.data_url, os.path.basename(" in done.text
    assert "args.out = os.path.join(args.train_url, os.path.basename(" in done.text


@pytest.mark.parametrize("name", ["trained_weights", "ckpt", "pretrained_path", "init_from", "load_path"])
def test_weights_that_go_out_of_sight_are_known_by_their_name(name):
    options = f'p.add_argument("--{name}", default="start.pth")'
    done = adapt(LOAD + "from elsewhere import build\n" + PARSER.format(options) + f"build(args.{name})\n")
    assert f"args.{name} = args.pretrain_url" in done.text


def test_a_checkpoint_of_which_nothing_says_that_it_is_loaded_is_no_input():
    options = 'p.add_argument("--checkpoint", default="checkpoint", help="path to save to")'
    done = adapt(LOAD + "from elsewhere import build\n" + PARSER.format(options) + "build(args.checkpoint)\n")
    assert "pretrain_url" not in done.text


def test_a_folder_of_data_in_which_the_script_keeps_a_copy_is_data():
    body = 'cache = os.path.join(args.data_dir, "x.npy")\nif not os.path.exists(cache):\n    np.save(cache, 1)\n'
    options = 'p.add_argument("--data_dir", default="data")'
    for order in (body + "np.load(cache)\n", "np.load(args.data_dir + '/y.npy')\n" + body):
        assert "args.data_dir = args.data_url" in adapt(LOAD + PARSER.format(options) + order).text
    assert "args.data_dir = args.train_url" in adapt(LOAD + PARSER.format(options) + body).text


def test_several_values_of_the_same_last_name_do_not_fall_together(tmp_path):
    options = 'p.add_argument("--files", nargs="*", default=["x/data.csv", "y/data.csv"])'
    done = adapt(LOAD + PARSER.format(options) + "print([float(np.loadtxt(each)) for each in args.files])\n")
    put(tmp_path / "there", x__data=1, y__data=2)
    assert run(done.text, tmp_path / "away", "--data_url", str(tmp_path / "there")).output == "[1.0, 2.0]\n"


def test_several_values_of_a_parameter_follow_too():
    done = adapt("""
        import click
        import numpy as np

        @click.command()
        @click.option("--files", multiple=True, default=["d/a.npy"])
        def main(files):
            print([np.load(each) for each in files])

        main()
    """)
    assert "files = [find_below(data_url, each) for each in files]" in done.text


def test_a_folder_of_samples_is_read_where_the_data_is_though_results_are_put_beside_them():
    done = adapt("""
        import os
        import numpy as np
        train = [np.load(f"data/train/{name}") for name in os.listdir("data/train")]
        for name in os.listdir("data/test"):
            np.save(os.path.join("data/test", name + ".out.npy"), train[0])
    """)
    assert 'os.listdir(os.path.join(contract.data_url or "data", "test"))' in done.text
    assert 'os.path.join(contract.train_url or "data/test", name' in done.text


@pytest.mark.parametrize(
    ("saved", "read", "is_ours"),
    [
        ('"made_{}.png".format(n)', "made_3.png", True),
        ('"made_{i}_{n}.png".format(i=1, n=n)', "made_1_3.png", True),
        ('"made_%d.png" % n', "./made_3.png", True),
        ('f"made_{n}.png"', "made_3.png", True),
        ('"made_%d.png" % n', "birds.png", False),
        ('"{}.png".format(n)', "birds.png", False),  # it may be any
        ('f"out/made_{n}.png"', "made_3.png", False),
    ],
)
def test_a_file_that_is_named_like_results_is_one(saved, read, is_ours):
    text = f"from PIL import Image\nfor n in range(4):\n    Image.new('L', (4, 4)).save({saved})\n"
    text += f"Image.open({read!r})\n"
    place = "contract.train_url" if is_ours else "contract.data_url"
    assert f"Image.open(os.path.join({place}" in adapt(text).text


def test_a_picture_that_a_callback_has_saved_is_shown_from_the_results():
    done = adapt("""
        import keras
        from IPython.display import Image, display
        from here import model, draw

        class Pictures(keras.callbacks.Callback):
            def on_epoch_end(self, epoch, logs=None):
                picture = keras.utils.array_to_img(draw(self.model))
                picture.save("made_{n}.png".format(n=epoch))

        model.fit(1, epochs=3, callbacks=[Pictures()])
        display(Image("made_2.png"))
    """)
    assert 'display(Image(os.path.join(contract.train_url or "", "made_2.png")))' in done.text


def test_a_text_that_is_filled_in_later_is_no_place():
    done = adapt("""
        import argparse, os
        import cv2
        parser = argparse.ArgumentParser()
        parser.add_argument("--root", default="./rows")
        args = parser.parse_args()
        class Rows:
            def __init__(self, root):
                self.names = [(root, line.strip()) for line in open(os.path.join(root, "names.txt"))]
                self._image = os.path.join("%s", "images", "%s.jpg")
            def read(self, at):
                return cv2.imread(self._image % self.names[at])
        Rows(args.root).read(0)
    """)
    assert 'os.path.join("%s", "images", "%s.jpg")' in done.text
    assert "args.root = args.data_url" in done.text


def test_a_name_that_a_folder_is_put_before_is_joined_once():
    done = adapt("""
        import argparse, os
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--save-folder", default="~/models")
        args = parser.parse_args()
        def save(model, args):
            directory = os.path.expanduser(args.save_folder)
            filename = "{}_last.pth".format(args.net)
            filename = os.path.join(directory, filename)
            torch.save(model, filename)
        save(1, args)
    """)
    assert 'filename = "{}_last.pth".format(args.net)' in done.text
    assert "args.save_folder = args.train_url" in done.text


def test_a_root_of_models_is_no_data():
    done = adapt("""
        import argparse
        import torch
        from store import get_model_file
        args = argparse.ArgumentParser().parse_args()
        def build(root="~/.models"):
            return torch.load(get_model_file("net", root=root))
        build()
    """)
    assert 'root="~/.models"' in done.text


SPLITS = """
    import os
    class Rows:
        rows_dir = "rows"
        def __init__(self, root="../datasets/rows", split="train", **words):
            self.rows_dir = os.path.join(root, self.rows_dir)
            folder = os.path.join(root, "splits")
            if split == "train":
                file = os.path.join(folder, "train.txt")
            else:
                file = os.path.join(folder, "test.txt")
            self.rows = [os.path.join(self.rows_dir, line) for line in open(file)]
            self.size = len(os.listdir(self.rows_dir))
"""


def test_a_root_that_only_a_default_says_gives_way_there():
    done = adapt(SPLITS + "    KINDS = {'rows': Rows}\n    KINDS['rows'](split='test')\n")
    assert "root=" in done.text and 'contract.data_url or "../datasets/rows"' in done.text
    assert 'rows_dir = "rows"' in done.text and "os.path.join(root, self.rows_dir)" in done.text


@pytest.mark.parametrize(
    ("saved", "read", "is_ours"),
    [("best.pt", "/content/best.pt", True), ("saved/best.pt", "/kaggle/working/saved/best.pt", True),
     ("best.pt", "/content/first.pt", False), ("best.pt", "/content/the_best.pt", False)],
)  # fmt: skip
def test_a_file_that_was_saved_beside_the_script_is_its_own_also_by_its_whole_path(saved, read, is_ours):
    done = adapt(HEAD + f'torch.save(1, "{saved}")\ntorch.load("{read}")\n')
    assert ("pretrain_url" not in done.text) is is_ours
    name = saved.rpartition("/")[2]
    assert (done.text.count(f"'{name}')") + done.text.count(f'"{name}")') == 2) is is_ours


def test_a_file_of_the_same_name_is_another_one_before_it_is_saved():
    done = adapt(HEAD + 'torch.load("/content/best.pt")\ntorch.save(1, "best.pt")\n')
    assert 'contract.pretrain_url or "/content/best.pt"' in done.text


def test_weights_that_the_script_saves_are_looked_for_where_it_saves_them():
    done = adapt(
        "import glob\nimport numpy as np\nfrom keras.callbacks import ModelCheckpoint\nfrom nets import Net\n\n\n"
        "def build(folder):\n    net = Net()\n    for file in sorted(glob.glob(folder + '/*.h5')):\n"
        "        net.load_weights(file)\n    return net\n\n\n"
        'net = build("model")\nrows = np.load("rows/x.npy")\n'
        'net.fit(rows, epochs=9, callbacks=[ModelCheckpoint("model/net-{epoch:02d}.h5")])\n'
    )
    assert 'build(contract.train_url or "model")' in done.text
    assert 'contract.data_url or "rows"' in done.text
