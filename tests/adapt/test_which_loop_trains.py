"""Which loop of a script is its training, where others count, prepare, draw or are part of a step."""

from __future__ import annotations

import textwrap

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


AGENT = """
    import keras
    class Agent:
        def __init__(self):
            self.net, self.memory, self.epsilon = keras.Sequential(), [], 1.0
        def replay(self):
            for row in self.memory:
                {made}
                self.net.fit(row, row, epochs={epochs}, verbose=0)
            self.epsilon *= 0.9
    agent = Agent()
    for episode in range(100):
        agent.memory.append(episode)
        agent.replay()
"""


def test_a_fit_that_an_agent_does_for_each_of_its_rows_is_no_training_of_its_own():
    """Each would have a checkpoint, a thousand of them, and what the agent remembers would be in none."""
    done = adapt(AGENT.format(made="pass", epochs=1))
    assert "resume_fit" not in done.text and "what keras trains in this loop" in said(done, Kind.HAND)


@pytest.mark.parametrize(("made", "epochs"), [("self.net = keras.Sequential()", 1), ("pass", 5)])
def test_a_fit_of_a_new_model_or_of_several_epochs_is_one(made, epochs):
    assert "resume_fit" in adapt(AGENT.format(made=made, epochs=epochs)).text


EPISODES = """
    import numpy as np
    def play(table, steps=50):
        total, place = 0, 0
        for {counter} in range(steps):
            place, _ = (place + table[place]) % 5, None
            total += place
            if {asked}:
                break
        return total
    if __name__ == "__main__":
        table = np.ones(5, dtype=int)
        for i in range(6):
            table[np.random.randint(5)] += 1
            print(i, table)
        print([play(table) for _ in range(3)])
"""


def test_a_game_that_is_played_again_and_again_is_no_training(tmp_path):
    text = EPISODES.format(counter="_", asked="place == 4")
    done = adapt(text)
    assert "there are 2 training loops" not in said(done, Kind.HAND) and "range(first_i, 6)" in done.text
    lines = play(textwrap.dedent(text), tmp_path).output.splitlines()
    assert play(done.text, tmp_path, f"--train_url={tmp_path}/out", kill_after=3).was_killed
    assert play(done.text, tmp_path, f"--train_url={tmp_path}/out").output.splitlines()[-1] == lines[-1]


def test_rounds_that_are_counted_may_be_a_training():
    done = adapt(EPISODES.format(counter="i", asked="i == 4"))
    assert "there are 2 training loops" in said(done, Kind.HAND)


def test_a_loop_of_another_file_that_gathers_values_is_no_training_where_a_network_is_trained(tmp_path):
    program = Program(
        tmp_path,
        train="""
            from trainer import Trainer
            trainer = Trainer()
            trainer.train()
            print("done", trainer.kept)
        """,
        trainer="""
            import torch
            from boxes import keep_best

            class Trainer:
                def train(self):
                    self.model = torch.nn.Linear(1, 1)
                    self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
                    self.start, self.end = 0, 3
                    for self.epoch in range(self.start, self.end):
                        self.step()
                    self.kept = keep_best([[3, 1], [2, 5]])

                def step(self):
                    self.optimizer.zero_grad()
                    self.model(torch.ones(1, 1)).sum().backward()
                    self.optimizer.step()
        """,
        boxes="""
            def keep_best(scores):
                kept = []
                count = len(scores)
                for kind in range(count):
                    kept.append(max(scores[kind]))
                return kept
        """,
    )
    program.adapt()
    assert "resume" not in program.text("boxes.py")


def test_the_reason_is_that_of_the_module_which_trains(tmp_path):
    program = Program(
        tmp_path,
        lib__trainer="""
            class Trainer:
                def __init__(self, net, rows):
                    self.net, self.rows, self.seen = net, rows, []
                def train_step(self):
                    self.seen.append(self.net.learn(self.rows))
                def train(self):
                    for i in range(9):
                        self.train_step()
        """,
        train="""
            from lib.trainer import Trainer
            from nets import Net
            trainer = Trainer(Net(), [1.0, 2.0])
            trainer.train()
        """,
    )
    (found,) = program.adapt().by_hand
    assert found.message == "the state of the training lies in self: self.net comes from outside of its class"


@pytest.mark.parametrize("until", ["2 ", "4 "])
def test_what_a_trainer_of_a_module_is_handed_goes_on_where_it_is(until, tmp_path):
    program = Program(
        tmp_path,
        lib__layers="""
            import numpy as np
            class Scale:
                def __init__(self, w):
                    self.w, self.slope = w, None
                def backward(self, rows):
                    self.slope = np.array([(self.w * rows - 2 * rows).sum()])
            class Slow:
                rate = 0.01
                def __init__(self, rate):
                    self.rate, self.count = rate, 0
                def update(self, params, slopes):
                    self.count += 1
                    for key in params:
                        params[key] -= self.rate / self.count * slopes[key]
        """,
        lib__trainer="""
            import numpy as np
            from lib.layers import *
            class Trainer:
                def __init__(self, net, rows, optimizer="Slow", options={}):
                    self.net, self.rows, self.seen = net, rows, []
                    kinds = {"slow": Slow}
                    self.optimizer = kinds[optimizer.lower()](**options)
                def train_step(self):
                    some = self.rows[np.random.choice(4, 2)]
                    self.optimizer.update(self.net.params, self.net.slopes(some))
                    self.seen.append(self.net.params["w"].sum())
                def train(self):
                    for i in range(6):
                        self.train_step()
                        print(i, self.seen[-1])
        """,
        train="""
            import numpy as np
            from lib.trainer import Trainer
            from lib.layers import *
            class Net:
                def __init__(self):
                    self.params = {"w": np.ones(1)}
                    self.layers = [Scale(self.params["w"])]
                def slopes(self, rows):
                    for layer in self.layers:
                        layer.backward(rows)
                    return {"w": self.layers[0].slope}
            np.random.seed(3)
            net = Net()
            trainer = Trainer(net, np.arange(4.0), options={"rate": 0.05})
            trainer.train()
            print(net.params["w"], net.layers[0].w)
        """,
    )
    whole = program.run().lines
    assert not program.adapt().by_hand
    text = program.text("lib/trainer.py")
    assert text.count("time.monotonic() + max(30, ") == 1
    (tmp_path / "lib/trainer.py").write_text(text.replace("time.monotonic() + max(30, ", "0 * max(30, "))
    environ = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert program.run(until=until, environ=environ).lines == whole[: int(until) + 1]
    assert program.run(environ=environ).lines == whole[int(until) :]
