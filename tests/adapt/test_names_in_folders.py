"""What is handed in beside its folder is a name; weights among data are data; labels lie where their pictures do."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from checked import adapt
from programs import Program


def test_a_name_that_is_handed_in_beside_its_folder_stays_a_name(tmp_path):
    program = Program(
        tmp_path,
        nets="""
            import os
            import torch

            class Net:
                def save(self, state, name, folder="checkpoints", is_joined=True):
                    os.makedirs(folder, exist_ok=True)
                    if is_joined:
                        name += ".ckpt"
                        path = os.path.join(folder, name)
                    else:
                        path = name
                    torch.save(state, path)

                def train(self):
                    for epoch in range(3):
                        number = str(epoch)
                        while len(number) < 3:
                            number = "0" + number
                        self.save({}, "best")
                        self.save({}, number)
        """,
        train="from nets import Net\n\nNet().train()\n",
    )
    program.adapt()
    text = program.text("nets.py")
    assert 'self.save({}, "best")' in text and 'number = "0" + number' in text
    assert 'folder=os.environ.get("CONTRACT_TRAIN_URL") or "checkpoints"' in text


@pytest.mark.parametrize("name", ["char_weights.npy", "class_weight.npy", "sample_weights.npy"])
def test_what_each_class_counts_is_data(name):
    done = adapt(f'import numpy as np\nrows = np.load("data/rows.npy")\nheavy = np.load("data/{name}")\n')
    assert done.text.count("data_url") > 2 and "pretrain_url or" not in done.text


def test_weights_of_a_network_stay_weights():
    done = adapt('import numpy as np\nnet = np.load("models/vgg_weights.npy")\n')
    assert "args.pretrain_url" in done.text or "contract.pretrain_url" in done.text


def test_weights_that_are_read_from_a_folder_of_data_lie_beside_these(tmp_path):
    program = Program(
        tmp_path,
        settings='class Settings:\n    corpus = "corpus/"\n',
        train="""
            import json
            import torch
            from settings import Settings

            words = json.load(open(Settings.corpus + "words.json"))
            vectors = torch.load(Settings.corpus + "vectors.pth")
        """,
    )
    done = program.adapt()
    assert "CONTRACT_DATA_URL" in program.text("settings.py"), done.findings
    assert "pretrain_url" not in " ".join(done.given)


LABELS = {
    "a list of others": """
self.labels = [name.replace("images", "labels").replace(".png", ".txt") for name in self.names]
""",
    "one by one": """
self.labels = []
for name in self.names:
    folder = "labels".join(os.path.dirname(name).rsplit("images", 1))
    path = os.path.join(folder, os.path.basename(name))
    self.labels.append(os.path.splitext(path)[0] + ".txt")
""",
}
ROWS = """
import os
import numpy as np

class Rows:
    def __init__(self, path):
        with open(path) as file:
            self.names = file.read().splitlines()
LABELS

    def __getitem__(self, at):
        path = self.labels[at]
        if os.path.exists(path):
            return np.loadtxt(path).sum() + np.load(self.names[at]).sum()
        return -1.0

rows = Rows("sets/names.txt")
print(rows[0])
"""


@pytest.mark.parametrize("shape", sorted(LABELS))
def test_labels_beside_pictures_that_a_list_names_are_found_there_too(shape, tmp_path):
    program = Program(tmp_path / "code", train=ROWS.replace("LABELS", textwrap.indent(LABELS[shape], " " * 8)))
    data = tmp_path / "in"
    for name in ("images", "labels"):
        (data / name).mkdir(parents=True)
    np.save(data / "images" / "a.npy", np.ones(3))
    (data / "images" / "a.npy").rename(data / "images" / "a.png")
    (data / "labels" / "a.txt").write_text("4.0")
    (data / "names.txt").write_text("/home/who/images/a.png\n")
    program.adapt()
    assert program.run("--data_url", str(data)).lines == ["7.0"]


def test_a_folder_that_a_function_of_another_file_makes_and_gives_back_has_one_role(tmp_path):
    program = Program(
        tmp_path,
        places="""
            import os

            def data_folder():
                folder = os.path.join(os.path.expanduser("~"), ".cache/rows")
                os.makedirs(folder, exist_ok=True)
                return folder
        """,
        train="""
            import numpy as np
            import os
            from places import data_folder

            rows = np.load(os.path.join(data_folder(), "rows.npy"))
        """,
    )
    done = program.adapt()
    assert not done.by_hand
    assert "CONTRACT_DATA_URL" in program.text("places.py") and "CONTRACT_TRAIN_URL" not in program.text("places.py")
