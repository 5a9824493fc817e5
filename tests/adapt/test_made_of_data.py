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
