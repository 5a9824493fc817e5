"""Which loop of a script is its training, where others count, prepare, draw or are part of a step."""

from __future__ import annotations

import pytest
from checked import adapt, adapt_plainly, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

SESSION = """
import tensorflow as tf
class Solver:
    def __init__(self, epochs):
        self.epochs = epochs
        self.train = tf.train.AdamOptimizer().minimize(1)
    def run(self):
        self.sess = tf.Session()
        for i in range(self.epochs):
            self.sess.run(self.train)
Solver(40).run()
"""


def test_a_session_may_be_a_field():
    done = adapt(SESSION)
    assert done.is_complete and "for i in range(first_i, self.epochs):" in done.text
    assert "resume_saver.restore(self.sess, resumed)" in done.text


def test_a_counting_loop_does_not_go_through_samples():
    done = adapt(SESSION.replace("self.sess = tf.Session()", "").replace("self.sess", "self.graph"))
    assert "goes once through its samples" not in said(done, Kind.HAND)


def test_a_loop_that_prepares_the_data_is_no_second_training(tmp_path):
    text = """
        class Forest:
            def train(self, rows, seed):
                self.sum = sum(rows) * seed
                return self
        rows, scores = [], []
        for i in range(3):
            rows.append(i + 1)
        for i in range(4):
            booster = Forest().train(rows, i)
            scores.append(booster.sum)
            print("forest", i, scores)
    """
    done = adapt_plainly(text)
    assert done.is_complete and "for i in range(3):" in done.text and "for i in range(first_i, 4):" in done.text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keep")}
    before = play(done.text, tmp_path).output.splitlines()
    play(done.text, tmp_path, env=env, kill_after=2)
    seen = play(done.text, tmp_path, env=env).output.splitlines()
    assert seen and seen == before[-len(seen) :]


FITS = """
import keras
import numpy as np
{made}
def learn(rows):
    net.fit(rows, rows, epochs=20, verbose=0)
{loop}
    learn(np.random.rand(4))
    seen += 1
net.save("net.keras")
"""


@pytest.mark.parametrize("loop", ["while seen < 9:", "for episode in range(9):", "for k in range(n_epochs):"])
def test_a_fit_in_a_function_of_the_rounds_is_a_step_of_them(loop):
    made = "net = keras.Sequential([keras.layers.Dense(1)])\nnet.compile()\nn_epochs, seen = 9, 0"
    done = adapt(FITS.format(made=made, loop=loop))
    assert done.is_complete and "resume_fit" not in done.text
    assert 'resume_parts = {"net": net}' in done.text and 'seen = resumed["seen"]' in done.text


def test_rounds_are_told_by_what_they_are_counted_up_to():
    text = """
        import keras
        def show(net):
            for k in range(9):
                print(net.predict(k))
        net = keras.Sequential()
        for m in range(Epochs):
            for n in range(0, size, step):
                net.fit(rows[n], rows[n], epochs=1)
            show(net)
    """
    done = adapt(text)
    assert "for m in range(first_m, Epochs):" in done.text and "resume_fit" not in done.text


def test_a_training_in_a_class_of_another_file_is_found_behind_a_loop_that_only_predicts(tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
            import net
            def main(net):
                net.build()
                history = net.training([1.0])
                for i in range(3):
                    print(net.predict(i))
            if __name__ == "__main__":
                net = net.Net(4)
                main(net)
        """,
        net="""
            import keras
            class Net:
                def __init__(self, epochs):
                    self.epochs = epochs
                def build(self):
                    self.model = keras.Sequential([keras.layers.Dense(1)])
                def training(self, rows):
                    return self.model.fit(rows, rows, epochs=self.epochs)
                def predict(self, row):
                    return self.model.predict(row)
        """,
    )
    done = program.adapt()
    assert not done.by_hand
    assert "resume_fit(self.model.fit," in program.text("net.py")


def test_a_loop_over_networks_in_a_step_of_another_file_is_no_pass_over_samples(tmp_path):
    program = Program(
        tmp_path / "code",
        train="""
            import tensorflow as tf
            from gan import Gan
            def train(gan, rows):
                for epoch in range(5):
                    for row in rows:
                        gan.step(row)
            train(Gan(), tf.data.Dataset.range(3))
        """,
        gan="""
            import tensorflow as tf
            class Gan(tf.keras.Model):
                def step(self, row):
                    for net in [self.one, self.two]:
                        with tf.GradientTape() as tape:
                            loss = net(row)
                        grads = tape.gradient(loss, net.trainable_variables)
                        self.opt.apply_gradients(zip(grads, net.trainable_variables))
        """,
    )
    told = " ".join(finding.message for finding in program.adapt().by_hand)
    assert "goes once through its samples" not in told and "in this loop" in told


def test_what_goes_on_otherwise_is_told_and_nothing_else():
    text = """
        import tensorflow as tf
        rows = tf.examples.read_data_sets("rows")
        train = tf.train.AdamOptimizer().minimize(1)
        sess = tf.Session()
        for epoch in range(9):
            sess.run(train, feed_dict={"x": rows.train.next_batch(4)})
    """
    assert "rows.train deals its batches anew in each stint" in said(adapt(text), Kind.DIFFERS)
    begin = "import keras\nfrom keras import initializers, layers\nnet = keras.Sequential([layers.Dense(1, {})])\n"
    rounds = "net.compile()\nfor epoch in range(9):\n    net.train_on_batch([1.0], [1.0])\n"
    done = adapt(begin.format("kernel_initializer=initializers.RandomNormal()") + rounds)
    assert "random numbers of layers" not in said(done, Kind.DIFFERS)
    done = adapt(begin.replace("Dense(1, {})", "RandomFlip()") + rounds)
    assert "random numbers of layers (RandomFlip)" in said(done, Kind.DIFFERS)


def test_a_fit_of_tflearn_is_told_for_what_it_is():
    done = adapt("import tflearn\nnet = tflearn.DNN(tflearn.input_data())\nnet.fit([1], [1], n_epoch=8)\n")
    assert "tflearn runs the training in fit()" in said(done, Kind.HAND)


def test_what_a_checkpoint_of_the_script_counts_goes_on_too():
    done = adapt("""
        import tensorflow as tf
        rows = tf.data.TFRecordDataset(tf.io.gfile.glob("rows/*.tfrecord"))
        net, opt = tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.keras.optimizers.Adam()
        ckpt = tf.train.Checkpoint(step=tf.Variable(0), net=net, opt=opt)
        manager = tf.train.CheckpointManager(ckpt, "saved", max_to_keep=3)
        ckpt.restore(manager.latest_checkpoint)
        for epoch in range(9):
            for row in rows:
                with tf.GradientTape() as tape:
                    loss = net(row)
                opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
                ckpt.step.assign_add(1)
            if epoch % 3 == 0:
                manager.save()
    """)
    assert done.is_complete and '"ckpt_step": ckpt.step' in done.text
    assert "stays as it is" not in said(done, Kind.DIFFERS), "what glob finds follows the option"
