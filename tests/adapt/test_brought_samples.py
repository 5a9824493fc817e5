"""Trainings in numpy whose samples a framework brings: nothing of it is trained, so that nothing of it must be kept."""

from __future__ import annotations

import sys
import textwrap
import types

import numpy as np
import pytest
from checked import adapt_plainly as adapt
from checked import said
from stage import play

from outlast.migrate.engine import Kind

TRAIN = """
    import numpy as np
    {imports}
    class Net:
        def __init__(self):
            self.w = np.random.randn(2)
        def train(self, x, y):
            self.out = x @ self.w
            self.w = self.w - 0.1 * (self.out - y) * x
    def main():
        net = Net()
        rows, labels = {load}
        for epoch in range(4):
            for x, y in zip(rows, labels):
                net.train(x, y)
            print(epoch, net.w)
        print("end", net.w)
    main()
"""
BROUGHT = {
    "from keras.datasets import mnist": "mnist.load_data()",
    "import keras": "keras.datasets.mnist.load_data()",
    "import tensorflow as tf": "tf.keras.datasets.mnist.load_data()",
    "from tensorflow import keras": "keras.datasets.mnist.load_data()",
    "from keras.datasets import mnist\n    from keras.models import Sequential": "mnist.load_data()",
}


@pytest.fixture
def _a_data_set(monkeypatch):
    modules = {
        name: types.ModuleType(name)
        for name in ("tensorflow", "keras", "keras.datasets", "keras.datasets.mnist", "keras.models")
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
        above, _, last = name.rpartition(".")
        if above:
            setattr(modules[above], last, module)
    modules["tensorflow"].keras = modules["keras"]
    modules["keras.models"].Sequential = object
    rows = np.arange(12.0).reshape(6, 2) / 12
    modules["keras.datasets.mnist"].load_data = lambda: (rows, rows.sum(1))


@pytest.mark.usefixtures("_a_data_set")
@pytest.mark.parametrize("imports", BROUGHT)
def test_a_training_in_numpy_goes_on_with_samples_of_a_framework(imports, tmp_path):
    text = textwrap.dedent(TRAIN.format(imports=imports, load=BROUGHT[imports]))
    lines = play(text, tmp_path).output.splitlines()
    done = adapt(text)
    assert done.is_complete, done.findings
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert play(done.text, tmp_path, env=env, kill_after=3).was_killed
    assert play(done.text, tmp_path, env=env).output.splitlines() == lines[2:]


@pytest.mark.parametrize(
    "imports",
    ["from keras.datasets import *", "import jax", "import keras\n    net = keras.Model()", "import tensorflow as tf"],
)
def test_a_framework_that_may_do_more_is_not_left_out(imports):
    done = adapt(TRAIN.format(imports=imports, load="read()"))
    assert "how it is kept, is not visible here" in said(done, Kind.HAND)
