"""Loops of TensorFlow 2 and Keras that a script runs itself: what is saved, and what is refused."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from stage import read

from outlast.migrate.engine import Kind


def saved(done):
    """The parts of the checkpoint."""
    flat = " ".join(done.text.split())
    found = flat.partition("resume_parts = {")[2].partition("}")[0]
    return sorted(part.strip().replace('"', "").replace(": ", "=") for part in found.split(",") if part.strip())


def corpus(name):
    return adapt(read(name))


def test_what_the_step_function_trains_is_saved():
    done = corpus("tf2_expert")
    assert done.is_complete and saved(done) == ["model=model", "optimizer=optimizer"]
    assert "for epoch in range(first_epoch, EPOCHS):" in done.text
    assert "for resume_dataset in (train_ds,):" in done.text, "the order of the samples goes on"
    assert "start anew" not in said(done, Kind.DIFFERS)


def test_a_loop_in_a_function_saves_what_the_module_holds():
    done = corpus("tf2_gan_function")
    names = ["discriminator", "discriminator_optimizer", "generator", "generator_optimizer"]
    numbers = ["checkpoint_save_counter=checkpoint.save_counter"]
    assert done.is_complete and saved(done) == sorted([*numbers, *(f"{name}={name}" for name in names)])
    assert "(tf.random, shuffle) start anew" in said(done, Kind.DIFFERS)
    assert "checkpoint.save(file_prefix=checkpoint_prefix)" in done.text, "its own checkpoints stay"


def test_models_of_a_class_that_train_by_batches_are_saved():
    done = corpus("keras_gan_class")
    assert done.is_complete and "self_generator=self.generator" in saved(done)
    assert '"numpy_random": np.random.get_state()' in done.text
    assert "    if resume_dir:\n            import tensorflow\n" in done.text, "by hand it must not be needed"


STEP = """
import tensorflow as tf
{before}
@tf.function
def step(net, x, opt):
    with tf.GradientTape() as tape:
        loss = net(x)
    opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
def main():
    optimizer = tf.keras.optimizers.Adam()
    model = Made(2)
    best, seen = 9.0, []
    for epoch in range(1, 10 + 1):
        for x in load():
            {call}
        best = min(best, epoch)
        seen.append(best)
main()
"""


@pytest.mark.parametrize(
    "call",
    [
        "step(model, x, optimizer)",
        "step(x=x, net=model, opt=optimizer)",
        "strategy.run(step, args=(model, x, optimizer))",
    ],
)
def test_arguments_of_a_step_are_followed_to_the_loop(call):
    done = adapt(STEP.format(before="from nets import Made, load, strategy", call=call))
    assert done.is_complete and saved(done) == ["model=model", "optimizer=optimizer"]
    assert 'best = resumed["best"]' in done.text and 'seen = resumed["seen"]' in done.text


@pytest.mark.parametrize("call", ["step(nets[0], x, optimizer)", "step(make(), x, optimizer)", "step(model, x, *rest)"])
def test_what_is_trained_without_a_name_is_refused(call):
    done = adapt(STEP.format(before="from nets import Made, load, nets, make, rest", call=call))
    assert "the loop has no name for it" in said(done, Kind.HAND) and "CheckpointManager" not in done.text


def test_variables_that_are_set_by_hand_are_saved():
    done = adapt("""
        import tensorflow as tf
        w, b = tf.Variable(0.0), tf.Variable(1.0)
        for step in range(9):
            with tf.GradientTape() as tape:
                loss = (w + b) ** 2
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(dw)
            b.assign_sub(db)
    """)
    assert done.is_complete and saved(done) == ["b=b", "w=w"]


def test_a_second_model_that_is_used_is_saved_and_a_schedule_is_not():
    done = adapt("""
        import tensorflow as tf
        class Net(tf.keras.Model):
            def call(self, x):
                return x
            def learn(self, x, optimizer):
                with tf.GradientTape() as tape:
                    loss = self(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables))
        rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 9, 0.9)
        model, target = Net(), Net()
        optimizer = tf.keras.optimizers.SGD(rate)
        for episode in range(9):
            model.learn(target(1.0), optimizer)
            print(rate(episode))
            target.set_weights(model.get_weights())
    """)
    assert done.is_complete and saved(done) == ["model=model", "optimizer=optimizer", "target=target"]


def test_a_metric_that_is_never_reset_is_told():
    done = adapt(read("tf2_expert").replace("    train_loss.reset_state()\n", ""))
    assert "train_loss starts anew in each stint" in said(done, Kind.DIFFERS)


def test_a_fit_in_each_round_goes_on_by_rounds():
    done = adapt("""
        import keras
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("adam", "mse")
        for iteration in range(1, 60):
            model.fit(1, 2, epochs=1)
            print(iteration)
    """)
    assert done.is_complete and saved(done) == ["model=model"] and "BackupAndRestore" not in done.text


def test_each_fold_of_fit_goes_on_by_itself():
    done = adapt("""
        import keras
        for fold in range(5):
            model = keras.Sequential([keras.layers.Dense(1)])
            model.fit(1, 2, epochs=9)
    """)
    assert 'resume_fit(model.fit, None, "resume-%d" % next(fit_count))(1, 2, epochs=9)' in done.text


@pytest.mark.parametrize(
    ("head", "loop", "reason"),
    [
        ("s = tf.distribute.MultiWorkerMirroredStrategy()", "{}", "several processes train together"),
        ("s = tf.distribute.MirroredStrategy()", "with s.scope():\n{}", "inside the scope of a strategy"),
        ("", "@tf.function\ndef train():\n{}\ntrain()", "inside a tf.function"),
        ("from nets import Trainer", "trainer = Trainer(model)\n{}", None),
    ],
)
def test_where_one_checkpoint_is_not_enough_it_is_refused(head, loop, reason):
    body = "for epoch in range(9):\n    with tf.GradientTape() as t:\n        l = model(1)\n" + (
        "    optimizer.apply_gradients(zip(t.gradient(l, model.trainable_variables), model.trainable_variables))\n"
    )
    inner = textwrap.indent(body, "    ") if loop != "{}" and "trainer" not in loop else body
    done = adapt(
        f"import tensorflow as tf\n{head}\nmodel = tf.keras.Sequential()\noptimizer = tf.keras.optimizers.Adam()\n"
        + loop.format(inner)
    )
    assert done.is_complete if reason is None else reason in said(done, Kind.HAND)


def test_a_class_that_hides_its_model_is_refused():
    done = adapt("""
        import tensorflow as tf
        class Trainer:
            def __init__(self):
                self.net, self.opt = tf.keras.Sequential(), tf.keras.optimizers.Adam()
            def step(self, x):
                with tf.GradientTape() as tape:
                    loss = self.net(x)
                self.opt.apply_gradients(zip(tape.gradient(loss, self.net.trainable_variables), self.net.weights))
        trainer = Trainer()
        for epoch in range(5):
            trainer.step(1.0)
    """)
    assert "self.opt is trained in line 9, and the loop has no name for it" in said(done, Kind.HAND)


SET_AGAIN = """
import tensorflow as tf
class Gan:
    def __init__(self):
        self.net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        self.opt = tf.keras.optimizers.Adam(1e-4)
        self.kept = tf.train.Checkpoint(net=self.net)
    def load(self):
        self.net = self.kept.net
    def train(self, rows):
        self.load()
        for epoch in range(5):
            for x in rows:
                with tf.GradientTape() as tape:
                    loss = self.net(x)
                grads = tape.gradient(loss, self.net.trainable_variables)
                self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
            %s
Gan().train([])
"""


def test_a_model_that_another_method_sets_again_is_saved_by_its_name():
    done = adapt(SET_AGAIN % "print(epoch)")
    assert done.is_complete and saved(done) == ["self_net=self.net", "self_opt=self.opt"]
    done = adapt(SET_AGAIN % "self.load()")
    assert "self.net is trained in line 16, and it is set again meanwhile" in said(done, Kind.HAND)


BY_HAND = """
import tensorflow as tf
weights = {"h": tf.Variable(1.0), "out": tf.Variable(2.0)}
biases = [tf.Variable(0.0)]
optimizer = tf.optimizers.SGD(0.1)
def optimize(x):
    with tf.GradientTape() as g:
        loss = weights["h"] * x + biases[0]
    %s
    gradients = g.gradient(loss, held)
    optimizer.apply_gradients(zip(gradients, held))
for step in range(9):
    optimize(1.0)
"""


def test_variables_in_lists_and_dictionaries_are_saved():
    done = adapt(BY_HAND % "held = list(weights.values()) + biases")
    assert done.is_complete and saved(done) == ["biases=biases", "optimizer=optimizer", "weights=weights"]


def test_variables_from_nowhere_are_refused():
    done = adapt(BY_HAND % "held = collect()")
    assert "which variables are trained in line 11 is not visible" in said(done, Kind.HAND)


def test_variables_that_were_collected_before_lead_to_their_models():
    done = adapt("""
        import tensorflow as tf
        from nets import encoder, Decoder
        encode, decode = encoder(), Decoder()
        learned = encode.trainable_variables + decode.trainable_variables
        optimizer = tf.keras.optimizers.Adam()
        for epoch in range(9):
            with tf.GradientTape() as tape:
                loss = decode(encode(1.0))
            optimizer.apply_gradients(zip(tape.gradient(loss, learned), learned))
    """)
    assert saved(done) == ["decode=decode", "encode=encode", "optimizer=optimizer"]


def test_the_model_of_an_agent_from_elsewhere_is_saved_by_its_place():
    done = adapt("""
        import tensorflow as tf
        from agents import make
        agent = make()
        for episode in range(9):
            with tf.GradientTape() as tape:
                loss = agent.net(1.0)
            learned = agent.net.trainable_variables
            agent.opt.apply_gradients(zip(tape.gradient(loss, learned), learned))
    """)
    assert saved(done) == ["agent_net=agent.net", "agent_opt=agent.opt"]


@pytest.mark.parametrize(("given", "is_same"), [("model", True), ("other", False)])
def test_a_parameter_that_hides_the_module_s_model_must_be_it(given, is_same):
    done = adapt(f"""
        import tensorflow as tf
        model = tf.keras.Sequential()
        other = tf.keras.Sequential()
        optimizer = tf.keras.optimizers.Adam()
        def step(x):
            with tf.GradientTape() as tape:
                loss = model(x)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        def train(model, epochs):
            for epoch in range(epochs):
                step(1.0)
        train({given}, 9)
    """)
    assert done.is_complete is is_same


def test_a_strategy_that_runs_a_step_is_no_session():
    done = adapt("""
        import tensorflow as tf
        strategy = tf.distribute.MirroredStrategy()
        with strategy.scope():
            model, optimizer = tf.keras.Sequential(), tf.keras.optimizers.Adam()
        def step(x):
            with tf.GradientTape() as tape:
                loss = model(x)
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        for epoch in range(9):
            strategy.run(step, args=(1.0,))
    """)
    assert saved(done) == ["model=model", "optimizer=optimizer"] and "Saver" not in done.text


@pytest.mark.parametrize(
    ("call", "before", "is_kept"),
    [
        ("def call(self, x, training=False): return x", "", True),
        ("def call(self, x, hidden): return x", "", False),
        ("def call(self, x, hidden): return x", "model(1.0, 2.0)", True),
        ("def call(self, both):\n                x, hidden = both\n                return x", "", False),
        ("def encode(self, x): return x", "", False),
        ("def build_parts(self): self.net = tf.keras.Sequential([tf.keras.Input((4,))])", "", True),
    ],
)
def test_a_model_that_only_its_first_step_can_build_is_refused(call, before, is_kept):
    done = adapt(f"""
        import tensorflow as tf
        class Net(tf.keras.Model):
            {call}
        model = Net()
        optimizer = tf.keras.optimizers.Adam()
        {before}
        for epoch in range(9):
            with tf.GradientTape() as tape:
                loss = model(1.0, 2.0)
            learned = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, learned), learned))
    """)
    assert done.is_complete is is_kept
    assert is_kept or "model is built only by its first step" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "made", ["tf.estimator.Estimator", "tf.contrib.tpu.TPUEstimator", "tf.compat.v1.estimator.tpu.TPUEstimator"]
)
def test_an_estimator_resumes_by_itself(made):
    done = adapt(f'import tensorflow as tf\ne = {made}(model_dir="out")\ne.train(read)\n')
    assert "the Estimator saves and resumes by itself" in said(done, Kind.DIFFERS)


RATES = """
import tensorflow as tf
from tqdm import tqdm
{function}
rows = tf.data.Dataset.range(9).shuffle(9).batch(3)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()
rates = give(0.1)
for epoch in range(9):
    bar = tqdm(rows)
    for x in bar:
        optimizer.learning_rate = next(rates)
        with tf.GradientTape() as tape:
            loss = model(x)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


def test_a_generator_of_rates_is_brought_to_where_it_was():
    done = adapt(RATES.format(function="def give(rate):\n    while True:\n        yield rate\n        rate /= 2"))
    assert "rates = ResumedGenerator(give(0.1))" in done.text
    assert '"rates": rates.state_dict()' in done.text and 'rates.load_state_dict(resumed["rates"])' in done.text
    assert "for resume_dataset in (rows,):" in done.text, "the order of the samples goes on behind a bar, too"
    assert "anew" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "function",
    [
        "from other import give",
        "def give(rate):\n    while True:\n        yield tf.random.uniform(())",
        "def give(rows):\n    for row in rows:\n        yield row",
        "def give(rows):\n    yield from rows",
        "def give(rate):\n    while True:\n        yield draw()\ndef draw():\n    return tf.random.normal(())",
    ],
)
def test_a_generator_that_may_give_others_is_told(function):
    done = adapt(RATES.format(function=function))
    assert "rates begins anew in each stint: what it gives" in said(done, Kind.DIFFERS)
    assert "ResumedGenerator" not in done.text


@pytest.mark.parametrize("layer", ["Dropout(0.5)", "GaussianNoise(0.1)"])
def test_layers_that_draw_numbers_before_keras_3_are_named(layer):
    done = adapt(f"""
        import numpy as np
        from tensorflow.keras import Sequential
        from tensorflow.keras.layers import Dense, {layer.partition("(")[0]}
        model = Sequential([Dense(4), {layer}, Dense(1)])
        model.compile("adam", "mse")
        for epoch in range(3):
            model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    """)
    assert f"before Keras 3, random numbers of layers ({layer.partition('(')[0]})" in said(done, Kind.DIFFERS)


OWN_CHECKPOINTS = """
import tensorflow as tf
model, optimizer = tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.keras.optimizers.Adam()
kept = tf.train.Checkpoint(model=model)
manager = tf.train.CheckpointManager(kept, "kept", max_to_keep=3)
for epoch in range(10):
    with tf.GradientTape() as tape:
        loss = model(tf.ones((2, 2)))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    SAVE
"""


@pytest.mark.parametrize("save", ["manager.save()", 'kept.save("kept/net")', "if epoch % 2: manager.save()"])
def test_checkpoints_of_the_script_are_numbered_on(save):
    assert "kept_save_counter=kept.save_counter" in saved(adapt(OWN_CHECKPOINTS.replace("SAVE", save)))


@pytest.mark.parametrize("save", ["pass", "model.save('net.keras')", "manager.save(checkpoint_number=epoch)"])
def test_checkpoints_that_no_counter_numbers_have_none(save):
    assert not any("save_counter" in part for part in saved(adapt(OWN_CHECKPOINTS.replace("SAVE", save))))


def test_a_model_that_one_of_several_ways_has_made_is_saved_by_its_name():
    done = adapt("""
        import sys
        import tensorflow as tf
        from nets import Deep, Wide
        class Trainer:
            def __init__(self, kind):
                if "deep" in kind:
                    self.net = Deep(kind)
                elif "wide" in kind:
                    self.net = Wide()
                else:
                    sys.exit(kind)
                self.optimizer = tf.keras.optimizers.SGD()
            @tf.function
            def step(self, x):
                with tf.GradientTape() as tape:
                    loss = self.net(x, training=True)
                slopes = tape.gradient(loss, self.net.trainable_variables)
                self.optimizer.apply_gradients(zip(slopes, self.net.trainable_variables))
            def train(self, rows, count):
                for epoch in range(count):
                    for x in rows:
                        self.step(x)
        Trainer(sys.argv[1]).train(rows(), 9)
    """)
    assert done.is_complete and saved(done) == ["self_net=self.net", "self_optimizer=self.optimizer"]
