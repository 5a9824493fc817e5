"""Options that choose something by a word, and settings that follow the contract where they are set."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

BUILT = """
import argparse
from nets import build
parser = argparse.ArgumentParser()
parser.add_argument("--{option}", default=None, type=str)
args = parser.parse_args()
net = build(args.{option})
"""


@pytest.mark.parametrize(
    ("option", "is_place"),
    [("backbone", False), ("init", False), ("start", False), ("backbone_path", True), ("init_model", True),
     ("pretrained_model", True)],
)  # fmt: skip
def test_a_name_that_chooses_something_takes_no_weights(option, is_place):
    done = adapt(BUILT.format(option=option), "xihe")
    assert (f"args.{option} = args.pretrain_url" in done.text) is is_place


SETTINGS = """
    import os
    def set_up(config):
        os.makedirs(config.system.work_dir, exist_ok=True)
        with open(os.path.join(config.system.work_dir, "args.txt"), "w") as f:
            f.write("done")
"""
MADE = """
    from types import SimpleNamespace
    from tools import set_up
    def get_config():
        C = SimpleNamespace()
        C.system = SimpleNamespace()
        C.system.work_dir = "./out/net"
        return C
    config = get_config()
    set_up(config)
"""


def test_a_setting_that_gives_way_where_it_is_set_is_not_said_to_stay(tmp_path):
    program = Program(tmp_path / "code", train=MADE, tools=SETTINGS)
    done = program.adapt()
    assert "stays as it is" not in said(done, Kind.DIFFERS)
    ran = program.run("--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert list((tmp_path / "out").rglob("args.txt")) and not (tmp_path / "code/out").exists()


NAMED = """
import argparse
import os
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="small")
args = parser.parse_args()
kind = args.kind
rows = np.zeros(2 if kind == "small" else 3)
if os.path.exists(f"{kind}_last.npy"):
    rows = np.load(f"{kind}_last.npy")
np.save(f"{kind}_last.npy", rows + 1)
print(np.load(f"{kind}_last.npy"))
"""


def test_a_word_that_chooses_and_begins_a_name_by_another_name_stays_what_it_is(tmp_path):
    done = adapt(NAMED)
    assert play(done.text, tmp_path).output == "[1. 1.]\n"
    out = tmp_path / "out"
    assert play(done.text, tmp_path, f"--train_url={out}").output == "[1. 1.]\n"
    assert play(done.text, tmp_path, f"--train_url={out}").output == "[2. 2.]\n"
    assert [each.name for each in out.iterdir()] == ["small_last.npy"]
    assert "pretrain_url" not in done.text


PARSED = """
    import argparse
    def get_args():
        parser = argparse.ArgumentParser()
        parser.add_argument("--kind", default="small")
        parser.add_argument("--fold", type=int, default=1)
        return parser.parse_args()
"""
USED = """
    import numpy as np
    from options import get_args
    def main():
        args = get_args()
        kind = args.kind
        assert kind in ("small", "large")
        np.save(f"{kind}_rows.npy", [1])
        np.save(str(args.fold) + "_rows.npy", [2])
    if __name__ == "__main__":
        main()
"""


def test_a_word_that_another_file_parses_begins_a_name_below_the_output_folder(tmp_path):
    program = Program(tmp_path / "code", train=USED, options=PARSED)
    program.adapt()
    ran = program.run("--train_url", str(tmp_path / "out"))
    assert ran.code == 0, ran.error
    assert not program.files()
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"small_rows.npy", "1_rows.npy"}


def test_an_empty_text_that_is_made_by_its_type_ends_the_search_for_words():
    done = adapt("""
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--cell", default="gru")
        args = parser.parse_args()
        name = str()
        name += args.cell
        print(name, args.cell == "gru")
    """)
    assert "--data_url" in done.text


@pytest.mark.parametrize("library", ["pathlib", "path"])
def test_a_place_stays_what_its_option_makes_of_it(library):
    done = adapt(f"""
        import argparse
        from {library} import Path
        parser = argparse.ArgumentParser()
        parser.add_argument("--data_dir", type=Path, required=False)
        args = parser.parse_args()
        print(open(args.data_dir / "rows.txt").read())
    """)
    assert "args.data_dir = Path(args.data_url)" in done.text
