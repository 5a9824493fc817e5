"""Files that a reader makes of its data where they are missing: the folder stays that of the data."""

from __future__ import annotations

from checked import adapt
from programs import Program

READER = """
    import os
    import numpy as np

    class Texts:
        def __init__(self, folder):
            texts = os.path.join(folder, "texts.txt")
            words = os.path.join(folder, "words.npy")
            rows = os.path.join(folder, "rows.npy")
            if {asked}:
                self.count(texts, words, rows)
            else:
                self.load(words, rows)

        def count(self, texts, words, rows):
            with open(texts) as lines:
                self.words = [len(line) for line in lines]
            np.save(words, self.words)
            np.save(rows, self.words)

        def load(self, words, rows):
            self.words = np.load(words)
            self.rows = np.load(rows)
"""
TRAIN = """
    import argparse
    import numpy as np
    from reading import Texts

    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", default="texts/first")
    parser.add_argument("--save_dir", default="saved")
    args = parser.parse_args()
    texts, w = Texts(args.data_dir), 0.0
    for epoch in range(4):
        w += sum(texts.words)
        np.save(args.save_dir + "/w.npy", w)
"""


def test_a_folder_to_which_a_reader_adds_what_it_has_counted_is_that_of_the_data(tmp_path):
    asked = "not (os.path.exists(words) and os.path.exists(rows))"
    program = Program(tmp_path, reading=READER.replace("{asked}", asked), train=TRAIN)
    program.adapt()
    assert "args.data_dir = args.data_url" in program.text("train.py")
    assert "args.save_dir = args.train_url" in program.text("train.py")


def test_a_folder_to_which_only_a_flag_writes_says_nothing_of_its_data(tmp_path):
    program = Program(tmp_path, reading=READER.replace("{asked}", "os.environ['ANEW']"), train=TRAIN)
    program.adapt()
    assert "args.data_dir = args.data_url" not in program.text("train.py")


def test_a_folder_of_checkpoints_that_a_state_is_asked_of_is_that_of_the_weights():
    done = adapt(
        """
        import argparse
        import pickle
        import tensorflow as tf

        parser = argparse.ArgumentParser()
        parser.add_argument("--begin_with", help="folder of an earlier run")
        args = parser.parse_args()
        saver = tf.train.Saver()
        with tf.Session() as sess:
            if args.begin_with is not None:
                state = tf.train.get_checkpoint_state(args.begin_with)
                with open(args.begin_with + "/words.pkl", "rb") as file:
                    words = pickle.load(file)
                saver.restore(sess, state.model_checkpoint_path)
        """
    )
    assert "args.begin_with = args.pretrain_url" in done.text
    assert "saver.restore(sess, state.model_checkpoint_path)" in done.text


LINES = """
    import os
    import numpy as np

    class LinesDataset:
        def __init__(self, folder, part, anew):
            self.folder, self.made = folder, part + ".npy"
            self.raw = os.path.join(folder, part + ".txt")
            if anew or not os.path.exists(os.path.join(self.folder, self.made)):
                self.count()
            self.load()

        def count(self):
            with open(self.raw) as lines:
                np.save(os.path.join(self.folder, self.made), [len(line) for line in lines])

        def load(self):
            self.words = np.load(os.path.join(self.folder, self.made))
"""


def test_what_a_data_set_makes_of_its_files_lies_beside_them(tmp_path):
    program = Program(tmp_path / "code", reading=LINES, train="""
        import argparse
        from reading import LinesDataset
        parser = argparse.ArgumentParser()
        parser.add_argument("--data_dir", default="rows")
        args = parser.parse_args()
        lines = LinesDataset(args.data_dir, "first", False)
        print(lines.words.tolist())
    """)  # fmt: skip
    for folder, text in ((tmp_path / "code/rows", "a\n"), (tmp_path / "in", "bb\n")):
        folder.mkdir()
        (folder / "first.txt").write_text(text)
    program.adapt()
    assert program.run().lines == ["[2]"]
    for _ in range(2):
        ran = program.run("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
        assert ran.lines == ["[3]"], ran.error
