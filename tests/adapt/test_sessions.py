"""Trainings in sessions of TensorFlow 1, and checkpoints of TensorFlow that a script writes itself."""

from __future__ import annotations

import contextlib
import sys
import types
from pathlib import Path

import pytest
from checked import adapt, adapt_plainly, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

SCRIPT = """
import numpy as np
import tensorflow as tf
np.random.seed(3)
train = tf.train.AdamOptimizer().minimize(1)
sess = tf.Session()
for epoch in range(4):
    sess.run(train, feed_dict={"x": np.random.rand()})
    print("epoch", epoch, sess.weights)
for i in range(2):
    print("drawn", i, sess.run("picture"), np.random.rand())
"""


class _Session:
    graph = types.SimpleNamespace(as_default=contextlib.nullcontext)

    def __init__(self):
        self.weights = 0.0

    def run(self, what, feed_dict=None):
        self.weights += feed_dict["x"] if feed_dict else 0
        return what


class _Saver:
    def __init__(self, max_to_keep):
        self.last = max_to_keep and None

    def save(self, session, path, global_step):
        name = Path(f"{path}-{global_step}")
        name.write_text(repr(session.weights))
        aside = name.with_name("aside")
        aside.write_text(name.name)
        aside.replace(name.with_name("checkpoint"))

    def restore(self, session, path):
        session.weights = float(Path(path).read_text())


def _latest(folder):
    told = Path(folder, "checkpoint")
    return str(Path(folder, told.read_text())) if told.exists() else None


BEST = """
import tensorflow.compat.v1 as tf
train = tf.train.AdamOptimizer().minimize(1)
sess, rows = tf.Session(), {"x": 0.0}
best, seen, losses = 9.0, 0, []
for epoch in range(4):
    for i in range(2):
        rows["x"] = epoch + i
        sess.run(train, feed_dict=rows)
        seen += 1
    losses.append(abs(5 - sess.weights))
    if losses[-1] < best:
        best, best_epoch = losses[-1], epoch
    print("epoch", epoch, seen, best)
print("best", best, best_epoch, losses)
"""


#: A model that holds its session, and rows that are put in another order in each round.
HELD = """
import random
import tensorflow as tf
random.seed(4)

class Net:
    def __init__(self):
        self.count = 0
        self.step = tf.compat.v1.train.AdamOptimizer().minimize(1)
        self.sess, self.name = self.begin()

    def begin(self):
        return tf.compat.v1.Session(), "net"

    def learn(self, x):
        wanted = [self.step]
        self.count += 1
        self.sess.run(wanted, feed_dict={"x": x})

class Rows:
    def __init__(self):
        self.rows = [1.0, 2.0, 4.0]

    def deal(self):
        random.shuffle(self.rows)
        return self.rows

def train(net, rows):
    losses = []
    for epoch in range(4):
        for place, x in enumerate(rows.deal()):
            net.learn(x * place)
        losses.append(net.sess.weights)
        print("epoch", epoch, net.count, losses)

net = Net()
train(net, Rows())
print("end", net.count, net.sess.weights)
"""


@pytest.mark.parametrize("script", [SCRIPT, BEST, HELD])
def test_killed_anywhere_a_session_ends_with_the_same_numbers(script, tmp_path, monkeypatch):
    tf = types.ModuleType("tensorflow")
    optimizer = types.SimpleNamespace(minimize=lambda loss: "train")
    tf.train = types.SimpleNamespace(AdamOptimizer=lambda: optimizer, Saver=_Saver, latest_checkpoint=_latest)
    tf.Session = _Session
    tf.compat = types.ModuleType("tensorflow.compat")
    tf.compat.v1 = tf
    for name in ("tensorflow", "tensorflow.compat", "tensorflow.compat.v1"):
        monkeypatch.setitem(sys.modules, name, tf if name != "tensorflow.compat" else tf.compat)
    text, before = adapt_plainly(script).text, play(script, tmp_path).output.splitlines()
    for at in range(1, len(before)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"keeps{at}")}
        play(text, tmp_path, env=env, kill_after=at)
        seen = play(text, tmp_path, env=env).output.splitlines()
        assert seen == before[-len(seen) :] and seen, at
        left = [path.name for path in (tmp_path / f"keeps{at}" / "resume").glob("*.values")]
        assert f"{Path(_latest(tmp_path / f'keeps{at}' / 'resume')).name}.values" in left and len(left) < 3


@pytest.mark.parametrize(
    ("head", "saver"),
    [("import tensorflow as tf", "tf.train.Saver("), ("import tensorflow.compat.v1 as tf", "tf.train.Saver(")],
)
def test_a_saver_is_found_where_the_session_was(head, saver):
    assert f"resume_saver = {saver}" in adapt(SCRIPT.replace("import tensorflow as tf", head)).text
    whole = SCRIPT.replace("tf.train", "tf.compat.v1.train").replace("tf.Session", "tf.compat.v1.Session")
    text = adapt(whole).text
    assert "resume_saver = tf.compat.v1.train.Saver(" in text and "= tf.compat.v1.train.latest_checkpoint(" in text


def test_a_session_of_an_object_of_another_file_is_kept(tmp_path):
    head, _, body = HELD.partition("def train(")
    nets = head.replace("random.seed(4)", "")
    program = Program(tmp_path, nets=nets, train=f"import random\nfrom nets import Net, Rows\ndef train({body}")
    assert not program.adapt().by_hand
    text = program.text("train.py")
    assert "import tensorflow\n" in text and "resume_saver.restore(net.sess, resumed)" in text
    assert '"net.count": net.count' in text and '"rows.rows": rows.rows' in text


def test_a_loop_that_only_draws_with_a_session_is_no_training():
    done = adapt_plainly(SCRIPT.replace("epoch", "i"))
    assert done.is_complete and "for i in range(first_i, 4):" in done.text and "for i in range(2):" in done.text


def test_one_pass_over_samples_is_told_from_a_loop_that_draws():
    done = adapt("""
        import tensorflow as tf
        model, optimizer = tf.keras.Sequential(), tf.keras.optimizers.Adam()
        def step(x):
            with tf.GradientTape() as tape:
                loss = model(x)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        for number, x in enumerate(rows().take(100)):
            step(x)
        picture = []
        for i in range(6):
            picture.append(model(i))
        print(picture)
    """)
    assert "goes once through its samples" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("checkpoint.save('run/ckpt')", "checkpoint.save(os.path.join(contract.train_url or 'run', 'ckpt'))"),
        ("keep(file_prefix='run/ckpt')", ""),
        ("checkpoint.restore(tf.train.latest_checkpoint('run'))",
         "checkpoint.restore(tf.train.latest_checkpoint(contract.train_url or 'run'))"),
        ("v1.summary.FileWriter('run')", "v1.summary.FileWriter(contract.train_url or 'run')"),
        ("checkpoint.save(file_prefix=prefix())", "    folder = contract.train_url or './run'"),
    ],
)  # fmt: skip
def test_a_checkpoint_of_tensorflow_goes_to_the_results_and_comes_from_there(before, after):
    text = (
        "import os\nimport tensorflow as tf\nimport tensorflow.compat.v1 as v1\nfrom here import net, keep\n"
        "def prefix():\n    folder = './run'\n    return os.path.join(folder, 'ckpt')\n"
        "checkpoint = tf.train.Checkpoint(net=net)\n"
    )
    text += "manager = tf.train.CheckpointManager(checkpoint, 'run', 3)\n" if "latest" in before else ""
    done = adapt(f"{text}{before}\n").text
    assert after in done.splitlines() if after else "train_url or 'run/ckpt'" not in done


def test_a_graph_of_a_method_has_no_state():
    done = adapt("""
        import tensorflow as tf
        class Gan:
            def __init__(self):
                self.net = tf.keras.Sequential()
                self.optimizer = tf.keras.optimizers.Adam()
            def step(self, x):
                with tf.GradientTape() as tape:
                    loss = self.net(x)
                trained = self.net.trainable_variables
                self.optimizer.apply_gradients(zip(tape.gradient(loss, trained), self.net.trainable_variables))
            def train(self, rows):
                self.step = tf.function(self.step)
                for epoch in range(3):
                    for x in rows:
                        self.step(x)
        Gan().train([1, 2])
    """)
    assert "self.step" not in said(done, Kind.DIFFERS) and done.is_complete


@pytest.mark.parametrize(
    ("line", "said_of"),
    [
        ("print(model)", "the script saves nothing"),
        ("sys.stdout.write('x')", "the script saves nothing"),
        ("plt.subplots(2)", "the script saves nothing"),
        ("plot_all(model)", "where the results go is not visible here"),
    ],
)
def test_what_only_shows_something_is_no_saving(line, said_of):
    done = adapt(f"""
        import sys
        import six
        import matplotlib.pyplot as plt
        from keras.utils import get_file
        rows = open(get_file("rows.txt", origin="https://h/rows.txt")).read()
        {line}
    """)
    assert said_of in said(done, Kind.DIFFERS) and "rows.txt' (line" not in said(done, Kind.DIFFERS)


def test_a_loop_beside_a_fit_goes_on_too():
    done = adapt("""
        import tensorflow as tf
        class Train:
            def __init__(self, model):
                self.model = model
                self.optimizer = tf.keras.optimizers.SGD(0.1)
            def by_fit(self, rows):
                self.model.compile(optimizer=self.optimizer, loss="mse")
                return self.model.fit(rows, epochs=3)
            def step(self, x):
                with tf.GradientTape() as tape:
                    loss = self.model(x)
                gradients = tape.gradient(loss, self.model.trainable_variables)
                self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
            def by_loop(self, rows):
                for epoch in range(3):
                    for x in rows:
                        self.step(x)
        train = Train(tf.keras.Sequential())
        train.by_fit([1]) if MODE else train.by_loop([1])
    """)
    assert "resume_fit(self.model.fit, contract.train_url)(rows, epochs=3)" in done.text
    assert "for epoch in range(first_epoch, 3):" in done.text and done.is_complete


def test_a_folder_that_may_be_none_gives_way_to_the_contracts():
    done = adapt("""
        import tensorflow_datasets as tfds
        def rows(data_dir=None):
            return tfds.load("cifar10", data_dir=data_dir, split="train")
        rows()
    """)
    assert 'tfds.load("cifar10", data_dir=contract.data_url or data_dir, split="train")' in done.text


def test_steps_of_a_fit_are_no_training_of_their_own():
    done = adapt("""
        import tensorflow as tf
        class Gan(tf.keras.Model):
            def __init__(self, critic):
                super().__init__()
                self.critic = critic
                self.steps = tf.keras.optimizers.Adam()
            def train_step(self, x):
                for step in range(3):
                    with tf.GradientTape() as tape:
                        loss = self.critic(x)
                    gradients = tape.gradient(loss, self.critic.trainable_variables)
                    self.steps.apply_gradients(zip(gradients, self.critic.trainable_variables))
                return {"loss": loss}
        gan = Gan(tf.keras.Sequential())
        gan.compile()
        gan.fit([1], epochs=3)
    """)
    assert "resume_fit(gan.fit, contract.train_url)([1], epochs=3)" in done.text and "first_step" not in done.text


@pytest.mark.parametrize(
    "line", ["rng = np.random\n", "draw = np.random.rand\n", "def deal(rng=np.random):\n    pass\ndeal()\n"]
)
def test_numbers_of_numpy_under_another_name_are_kept(line):
    text = SCRIPT.replace("np.random.seed(3)\n", line).replace("np.random.rand()", "1.0")
    assert '"numpy_random": np.random.get_state()' in adapt_plainly(text).text
    assert "numpy_random" not in adapt_plainly(text.replace(line, "")).text
