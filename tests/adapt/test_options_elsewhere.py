"""Options of the contract that a file beside the script declares, in a group of its parser."""

from __future__ import annotations

from checked import adapt
from programs import Program

SETTINGS = """
    import argparse

    def parse_args():
        parser = argparse.ArgumentParser()
        places = parser.add_argument_group("places")
        places.add_argument("--on_cloud", action="store_true")
        places.add_argument("--data_dir", default="rows")
        places.add_argument("--data_url", default="/cache/data")
        places.add_argument("--train_url", default="/cache/out")
        return parser.parse_args()
"""
TRAIN = """
    import numpy as np
    from settings import parse_args

    def train(args):
        x, w = np.load(args.data_dir + "/x.npy"), 0
        for epoch in range(4):
            w += x.mean()

    args = parse_args()
    if args.on_cloud:
        import moxing as mox
        mox.file.copy_parallel(args.data_url, args.data_dir)
    train(args)
"""


def test_what_another_file_declares_stays_on_the_command_line_for_it(tmp_path):
    """Its own parser would otherwise find nothing but its default, and copy from there."""
    program = Program(tmp_path, settings=SETTINGS, train=TRAIN)
    program.adapt("modelarts")
    assert "add_argument" not in program.text("train.py") and "sys.argv" not in program.text("train.py")


def test_a_network_that_is_called_like_a_folder_of_results_keeps_its_name():
    done = adapt(
        """
        import os
        import zoo.nets

        def draw(net, folder="pictures"):
            os.makedirs(folder, exist_ok=True)
            net.draw().save(os.path.join(folder, "net.png"))

        net = zoo.nets.build(3, name="small")
        draw(net, folder="small")
        """
    )
    assert 'build(3, name="small")' in done.text
