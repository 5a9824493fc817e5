"""Weights of several files: whoever asks for a part of them asks where they are loaded from."""

from __future__ import annotations

import pytest
from checked import adapt
from recorded import run_recorded

HEAD = "import argparse\nimport glob\nimport os\nimport tensorflow as tf\nmodel = tf.keras.Sequential([])\n"
OPTION = 'p = argparse.ArgumentParser()\np.add_argument("--weights", default="./weights/yolo")\nargs = p.parse_args()\n'
SHAPES = {
    "literals": """
if not os.path.exists("./weights/yolo.index"):
    raise SystemExit("no weights")
assert glob.glob("./weights/yolo*")
model.load_weights("./weights/yolo")
""",
    "an option": f"""
{OPTION}
assert len(glob.glob(args.weights + "*")) > 0
if not os.path.exists(args.weights + ".index"):
    raise SystemExit("no weights")
model.load_weights(args.weights)
""",
    "an option, by a name": f"""
{OPTION}
found = glob.glob(args.weights + "*")
if not found:
    raise SystemExit("no weights")
model.load_weights(args.weights)
""",
    "one folder": """
FOLDER = "./weights"
assert glob.glob(os.path.join(FOLDER, "yolo*")) and os.path.exists(os.path.join(FOLDER, "yolo.index"))
model.load_weights(os.path.join(FOLDER, "yolo"))
""",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_question_for_a_part_looks_where_the_weights_are_loaded_from(shape, tmp_path):
    done = adapt(HEAD + SHAPES[shape], "xihe")
    home, given = tmp_path / "home", tmp_path / "given"
    for folder in (home / "weights", given):
        folder.mkdir(parents=True)
        (folder / "yolo.index").touch()
    assert run_recorded(done.text, home).paths == ["./weights/yolo"]
    away = tmp_path / "away"
    away.mkdir()
    whole = str(given) if shape == "one folder" else str(given / "yolo")
    assert run_recorded(done.text, away, "--pretrain_url", whole).paths == [str(given / "yolo")]


def test_weights_that_begin_alike_are_not_parts_of_each_other():
    done = adapt('import torch\na = torch.load("models/net")\nb = torch.load("models/net_b.pth")\n', "xihe")
    assert 'os.path.join(contract.pretrain_url or "models", "net_b.pth")' in done.text
