"""Files that a reader makes where they are missing, by a method of its own, and reads behind that."""

from __future__ import annotations

from checked import adapt
from programs import Program

READER = """
    import os
    import pickle
    import numpy as np

    class Strokes:
        def __init__(self, args):
            self.folder = args.data_dir
            kept = os.path.join(self.folder, "strokes.pkl")
            raw = self.folder + "/raw"
            if {asked}:
                self.gather(raw, kept)
            self.load(kept)

        def gather(self, raw, kept):
            rows = [float(np.loadtxt(os.path.join(raw, name))) for name in sorted(os.listdir(raw))]
            file = open(kept, "wb")
            pickle.dump(rows, file)
            file.close()

        def load(self, kept):
            file = open(kept, "rb")
            self.rows = pickle.load(file)
            file.close()
"""
TRAIN = """
    import argparse
    import numpy as np
    from strokes import Strokes

    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", default="./data")
    parser.add_argument("--save_dir", default="saved")
    args = parser.parse_args()
    strokes, w = Strokes(args), 0.0
    for epoch in range(4):
        w += sum(strokes.rows)
        np.save(args.save_dir + "/w.npy", w)
"""


def _adapted(tmp_path, asked):
    program = Program(tmp_path, strokes=READER.replace("{asked}", asked), train=TRAIN)
    program.adapt()
    return program


def test_what_is_gathered_where_it_is_missing_lies_with_the_data(tmp_path):
    program = _adapted(tmp_path, "not os.path.exists(kept)")
    assert "args.data_dir = args.data_url" in program.text("train.py")
    assert "find_delivered" not in program.text("strokes.py")


def test_what_is_gathered_in_each_start_is_a_result(tmp_path):
    program = _adapted(tmp_path, "os.environ.get('ANEW')")
    assert "args.data_dir = args.data_url" not in program.text("train.py")


def test_no_value_of_another_function_says_where_a_file_was(tmp_path):
    text = _adapted(tmp_path, "os.environ.get('ANEW')").text("strokes.py")
    method = text[text.index("def gather") : text.index("def load")]
    assert "find_delivered(" in method and "args." not in method


def test_a_list_that_a_function_of_the_script_makes_where_it_is_missing_lies_with_the_data():
    done = adapt("""
        import os
        import numpy as np

        def count(texts, kept):
            np.save(kept, [len(line) for line in open(texts)])

        folder = "texts/first"
        kept = os.path.join(folder, "kept.npy")
        if not os.path.exists(kept):
            count(os.path.join(folder, "texts.txt"), kept)
        w = 0.0
        for epoch in range(4):
            w += float(np.load(kept).sum())
            np.save("saved/w.npy", w)
        """)
    assert 'folder = contract.data_url or "texts/first"' in done.text
