"""Numbers that a script's own way to go on finds out, and folders of options that another file expects."""

from __future__ import annotations

import re

from checked import adapt
from programs import Program

RESUMED = """
    import os
    import numpy as np

    w, step = 0.0, 0
    if os.path.exists("saved/last.npz"):
        kept = np.load("saved/last.npz")
        w = float(kept["w"])
        step = int(kept["step"])
    for epoch in range(step // 10, 4):
        for at in range(10):
            i = epoch * 10 + at
            if i {asks}:
                continue
            w += np.random.rand()
        np.savez("saved/last.npz", w=w, step=i)
"""


def _kept(text):
    return re.findall(r'"(\w+)": \1[,}]', adapt(text).text)


def test_the_count_up_to_which_rounds_are_left_out_is_that_of_the_first_stint():
    assert "step" in _kept(RESUMED.replace("{asks}", "< step"))


def test_a_count_that_no_round_asks_for_is_not_kept():
    assert "step" not in _kept(RESUMED.replace("{asks}", "< 0"))


LOGGER = """
    class Log:
        def __init__(self, args):
            self.name = "{}rows.txt".format(args.log_dir)

        def write(self, row):
            with open(self.name, "a") as file:
                file.write(row)
"""
TRAIN = """
    import argparse
    import numpy as np
    from log import Log

    parser = argparse.ArgumentParser()
    parser.add_argument("--log_dir", default="./logs/")
    parser.add_argument("--save_dir", default="saved")
    args = parser.parse_args()
    log, w = Log(args), 0.0
    for epoch in range(4):
        w += 1
        log.write("row")
        np.save(args.save_dir + "/w.npy", w)
"""


def test_a_folder_that_only_another_file_writes_to_is_made_below_that_of_the_contract(tmp_path):
    program = Program(tmp_path, log=LOGGER, train=TRAIN)
    program.adapt()
    assert "os.makedirs(args.log_dir, exist_ok=True)" in program.text("train.py")


def test_a_folder_that_the_other_file_makes_itself_is_left_to_that(tmp_path):
    made = LOGGER.replace("self.name =", "os.makedirs(args.log_dir, exist_ok=True)\n            self.name =")
    program = Program(tmp_path, log="\n    import os\n" + made, train=TRAIN)
    program.adapt()
    assert "os.makedirs(args.log_dir, exist_ok=True)" not in program.text("train.py")
