"""Objects of other files that deal out samples, folders of no name, and names by the clock that go to other files."""

from __future__ import annotations

from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

BATCHES = """
    import numpy as np

    class Batches:
        def __init__(self, rows, size):
            self.rows, self.size = rows, size
            self.begin()

        def begin(self):
            self.order = np.random.permutation(len(self.rows))
            self.pointer = 0

        def take(self):
            found = [self.rows[at] for at in self.order[self.pointer : self.pointer + self.size]]
            self.pointer += self.size
            if self.pointer >= len(self.rows):
                self.begin()
            return found
"""
TAPE = """
    import tensorflow as tf
    from batches import Batches

    net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.SGD(0.1)
    batches = Batches([1.0, 2.0, 3.0], 2)
    for epoch in range(4):
        for step in range(5):
            rows = tf.constant(batches.take())
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(net(rows[:, None]))
            slopes = tape.gradient(loss, net.trainable_variables)
            optimizer.apply_gradients(zip(slopes, net.trainable_variables))
"""


def test_how_far_samples_are_dealt_by_an_object_of_another_file_is_kept(tmp_path):
    program = Program(tmp_path, batches=BATCHES, train=TAPE)
    program.adapt()
    text = program.text("train.py")
    assert '"batches.order": batches.order' in text and '"batches.pointer": batches.pointer' in text
    assert "batches.rows" not in text


WRITTEN = """
    import torch

    net = torch.nn.Linear(1, 1)
    for k in range(3):
        torch.save(net, {path})
"""


def test_a_folder_that_is_named_when_the_script_runs_is_made_where_the_option_is_given():
    done = adapt(WRITTEN.replace("{path}", 'f"runs/{k}/net.pth"'))
    assert "with_folder(os.path.join(contract.train_url or" in done.text
    assert "it is made below the output folder" in said(done, Kind.CHANGED)


def test_a_file_that_is_named_when_the_script_runs_needs_no_folder():
    assert "with_folder" not in adapt(WRITTEN.replace("{path}", 'f"runs/{k}.pth"')).text


CALLBACKS = """
    import os
    import tensorflow as tf

    def saving(folder, name):
        return tf.keras.callbacks.{kind}(os.path.join(folder, name + ".keras"))
"""
FIT = """
    from datetime import datetime
    import tensorflow as tf
    from callbacks import saving

    name = datetime.now().strftime("%m%d%H%M") + "_net"
    kept = saving("models", name)
    net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    net.fit(tf.zeros((8, 1)), tf.zeros((8, 1)), epochs=3, callbacks=[kept])
"""


def test_a_name_by_the_clock_that_a_function_of_another_file_saves_under_is_the_first_one(tmp_path):
    program = Program(tmp_path, callbacks=CALLBACKS.replace("{kind}", "ModelCheckpoint"), train=FIT)
    program.adapt()
    assert 'name = first_name(datetime.now().strftime("%m%d%H%M")' in program.text("train.py")


def test_a_name_by_the_clock_under_which_nothing_goes_on_is_one_of_each_start(tmp_path):
    program = Program(tmp_path, callbacks=CALLBACKS.replace("{kind}", "ProgbarLogger"), train=FIT)
    program.adapt()
    assert "first_name" not in program.text("train.py")
