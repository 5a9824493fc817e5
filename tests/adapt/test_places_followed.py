"""Places on their way: through lists, functions, patterns and configurations to what reads or writes them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

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


def test_where_the_script_runs_and_a_name_behind_it_are_one_folder(tmp_path):
    text = """
        import os
        class Rows:
            def __init__(self):
                self.place = "Photos/"
                folder = os.getcwd() + "/" + self.place
                for name in os.listdir(folder):
                    print(open(folder + name).read())
        Rows()
    """
    done = adapt(text)
    assert 'folder = os.path.join(contract.data_url, "") if contract.data_url else os.getcwd() +' in done.text
    for place in ("data", "Photos"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "a.txt").write_text(place)
    for given in ([], ["--data_url", "data"]):
        ran = subprocess.run(
            [sys.executable, "-c", done.text, *given], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert ran.stdout == ("data\n" if given else "Photos\n")


@pytest.mark.parametrize("names", ['["rows_{}.npy".format(i) for i in "ab"]', '[f"rows_{i}.npy" for i in "ab"]'])
def test_names_that_are_made_one_by_one_are_followed(names, tmp_path):
    given = tmp_path / "given"
    given.mkdir()
    for at, each in enumerate("ab"):
        np.save(given / f"rows_{each}.npy", np.full(2, at + 1))
    done = adapt(f"""
        import numpy as np
        class Rows:
            def __init__(self, files):
                for file in files:
                    print(np.load(file).sum())
        names = {names}
        Rows(names)
    """)
    assert play(done.text, tmp_path, f"--data_url={given}").output == "2\n4\n"
