"""Trainings in plain Python and numpy, killed after each line that they print."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt_plainly as adapt
from checked import said
from stage import play

from outlast.migrate.engine import Kind

SHAPES = {
    "numbers of a function that is called as its module": """
        from random import random
        total = 0.0
        for epoch in range(5):
            total += random()
            print(epoch, total)
    """,
    "fields of the object, some set as it starts": """
        import numpy as np
        class Line:
            def __init__(self, rounds):
                self.rounds, self.losses = rounds, []
            def fit(self, x, y):
                self.w, self.b = np.zeros(2), 0.0
                for epoch in range(self.rounds):
                    away = x @ self.w + self.b - y
                    self.w -= 0.1 * x.T @ away
                    self.b -= 0.1 * away.mean()
                    self.losses.append(float(away @ away))
                    print(epoch, self.losses[-1], sum(self.losses))
                return self
        x = np.random.randn(6, 2)
        line = Line(5).fit(x, x.sum(1))
        print("end", line.w, line.b)
    """,
    "layers in a list of the object": """
        import numpy as np
        class Layer:
            def __init__(self, n):
                self.w = np.random.randn(n, n)
                self.speed = np.zeros((n, n))
            def forward(self, x):
                self.x = x
                return x @ self.w
            def backward(self, slope):
                before = slope @ self.w.T
                self.speed = 0.9 * self.speed + self.x.T @ slope
                self.w -= 0.001 * self.speed
                return before
        class Net:
            def __init__(self):
                self.layers = [Layer(2), Layer(2)]
            def train(self, x, rounds):
                for epoch in range(rounds):
                    out = x
                    for layer in self.layers:
                        out = layer.forward(out)
                    slope = out - 1.0
                    for layer in reversed(self.layers):
                        slope = layer.backward(slope)
                    print(epoch, float((out - 1.0).sum()))
        Net().train(np.random.randn(4, 2), 5)
    """,
    "folds": """
        import random
        scores = []
        for fold in range(3):
            w, best = 0.0, 9.0
            for epoch in range(3):
                w += random.random() * (1.0 - w)
                best = min(best, 1.0 - w)
                print(fold, epoch, best)
            scores.append(best)
        print("end", scores)
    """,
    "what only some rounds bind": """
        best = 9.0
        for epoch in range(5):
            loss = abs(epoch - 2)
            if loss < best:
                best, best_epoch = loss, epoch
            print(epoch, best)
        print("end", best_epoch)
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_training_ends_with_the_same_numbers(shape, tmp_path):
    text = textwrap.dedent(SHAPES[shape])
    lines = play(text, tmp_path).output.splitlines()
    done = adapt(text)
    assert done.is_complete, done.findings
    assert play(done.text, tmp_path).output.splitlines() == lines, "without a stint nothing may change"
    for at in range(2, len(lines)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{at}")}
        assert play(done.text, tmp_path, env=env, kill_after=at).was_killed
        seen = play(done.text, tmp_path, env=env).output.splitlines()
        rest = iter(lines)
        assert all(line in rest for line in seen) and seen[-1] == lines[-1], f"killed after line {at}"
        assert len(seen) < len(lines), "it must not begin anew"


@pytest.mark.parametrize(
    ("base", "field", "reason"),
    [
        ("", "self.part = part", "self.part comes from outside of its class"),
        ("", "self.part = Part()", "whether self.part can be kept is not certain"),
        ("(Base)", "self.part = []", "the state of the training lies in self"),
    ],
)
def test_what_lies_in_an_object_and_is_not_seen_is_refused(base, field, reason):
    done = adapt(f"""
        from parts import Base, Part
        class Trainer{base}:
            def __init__(self, part):
                {field}
                self.best = 0
            def train(self):
                for epoch in range(9):
                    self.best += self.part.step()
        Trainer(Part()).train()
    """)
    assert reason in said(done, Kind.HAND)


TENSORFLOW = """
import tensorflow as tf
def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
{around}
"""
STEPS = """
optimizer = tf.keras.optimizers.Adam()
best = 9.0
for epoch in range(3):
    optimizer.apply_gradients(zip(model.gradients, model.trainable_variables))
    best = min(best, model.loss)
"""


def test_folds_and_phases_of_tensorflow_have_a_checkpoint_each():
    folds = "for fold in range(2):\n    model = build()\n" + textwrap.indent(STEPS, "    ")
    done = adapt(TENSORFLOW.format(around=folds))
    assert done.is_complete and 'os.path.join(resume_dir, f"resume-{next(training_count)}"),' in done.text
    phases = "model = build()\ndef run():\n" + textwrap.indent(STEPS, "    ") + "run()\nrun()\n"
    assert "next(training_count)" in adapt(TENSORFLOW.format(around=phases)).text


def test_fields_that_are_set_together_go_on_with_tensorflow():
    done = adapt("""
        import tensorflow as tf
        class Trainer:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                self.optimizer = tf.keras.optimizers.Adam()
                self.best, self.seen = 9.0, []
            def train(self):
                for epoch in range(9):
                    self.optimizer.apply_gradients(zip(self.model.gradients, self.model.trainable_variables))
                    self.best = min(self.best, self.model.loss)
                    self.seen.append(self.best)
        Trainer().train()
    """)
    assert "(epoch, self.optimizer, self.model, self.best, self.seen)" in said(done, Kind.CHANGED)


TABLE = """
    import random
    import numpy as np
    table = np.zeros((6, 2))
    for NAME in range(END):
        at, moves = 0, 0
        while at < 5:
            move = int(random.random() < 0.7)
            table[at, move] += 0.5 * (table[max(0, at + 2 * move - 1)].max() - table[at, move] - 1)
            at, moves = max(0, at + 2 * move - 1), moves + 1
        print(NAME, moves, round(table.sum(), 6))
    print(table.tolist())
"""


@pytest.mark.parametrize(("name", "end"), [("episode", "8"), ("e", "n_episodes"), ("i", "GAMES")])
def test_a_table_that_short_episodes_fill_is_not_saved_after_each_of_them(name, end, tmp_path):
    numbers = f"import random\nrandom.seed(1)\n{end if end.isidentifier() else 'end'} = 8\n"
    text = numbers + textwrap.dedent(TABLE).replace("NAME", name).replace("END", end)
    done = adapt(text)
    assert "resume_due" in done.text
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    whole = play(text, tmp_path)
    assert play(done.text, tmp_path, env=env, kill_after=4).was_killed
    assert play(done.text, tmp_path, env=env).output.splitlines() == whole.output.splitlines()[1:]
    assert play(done.text, tmp_path, env=env).output.splitlines() == whole.output.splitlines()[-1:]
