"""Scripts that train in one or several calls of `fit` of Keras."""

from __future__ import annotations

import ast
import contextlib
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from checked import adapt, adapt_plainly, said
from stage import play

from outlast.migrate.engine import Kind

HEAD = "import keras\nfrom here import model, x, y, get\n"


@pytest.mark.parametrize(
    "call",
    [
        "model.fit(x, y, 32, 10)",
        "model.fit(x, y, epochs=10, callbacks=get())",
        "model.fit_generator(x, 7, 10)",
        "model.fit(x, epochs=3, initial_epoch=1)",
        "if x: model.fit(x, y, epochs=3)",
        "history = model.fit(x, y, epochs=3)",
    ],
)
def test_every_call_with_epochs_goes_on(call):
    done = adapt(f"{HEAD}{call}\n")
    expected = call
    for name in ("model.fit_generator(", "model.fit("):
        expected = expected.replace(name, f"resume_fit({name[:-1]}, contract.train_url)(")
    assert expected in done.text and done.is_complete
    assert "come in another order" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("call", ["model.fit(x, y)", "get().fit(x, y, y)"])
def test_a_fit_without_epochs_is_left_alone(call):
    assert "resume_fit" not in adapt(f"{HEAD}{call}\n").text


def test_callbacks_without_a_name_get_it():
    done = adapt(f"{HEAD}model.fit(x, y, 32, 10, 1, [get()])\n")
    assert "resume_fit(model.fit, contract.train_url)(x, y, 32, 10, 1, callbacks=[get()])" in done.text
    done = adapt(f"{HEAD}model.fit(x, y, 32, 10, 1, [get()], 0.1)\n")
    assert "the callbacks of fit have no name" in said(done, Kind.HAND) and "resume_fit" not in done.text


@pytest.mark.parametrize("call", ["model.fit(x, y, nb_epoch=10)", "model.fit_generator(x, 7, nb_epoch=10)"])
def test_the_first_keras_is_refused_for_its_own_reason(call):
    done = adapt(f"{HEAD}{call}\n")
    assert "nb_epoch is a word of Keras 1" in said(done, Kind.HAND) and "resume_fit" not in done.text


@pytest.mark.parametrize("way", ["tensorflow.distribute.MultiWorkerMirroredStrategy()", "horovod.init()"])
def test_processes_that_would_save_under_one_name_are_refused(way):
    text = f"import tensorflow\nimport horovod\n{HEAD}{way}\nmodel.fit(x, y, epochs=3)\n"
    text = text if "horovod." in text else text.replace("import horovod\n", "")
    done = adapt(text)
    assert "several processes train together" in said(done, Kind.HAND) and "resume_fit" not in done.text


def test_a_model_of_another_file_need_not_say_of_which_keras_it_is():
    done = adapt("from model import *\nnet = unet()\nnet.fit_generator(get(), steps_per_epoch=3, epochs=5)\n")
    assert "resume_fit(net.fit_generator, contract.train_url)(get()" in done.text and "save_format" in done.text


def test_a_search_is_refused():
    done = adapt(f"import optuna\n{HEAD}for part in x:\n    model.fit(part, y, epochs=3)\n")
    assert "done more than once" in said(done, Kind.HAND) and "resume_fit" not in done.text


SCRIPT = """
import keras
model, stopping = keras.Model(), keras.Stopping()
first = model.fit(3, callbacks=stopping, epochs=3, shuffle=False)
print("first", model.weights, first.history["loss"])
second = model.fit(2, epochs=2, shuffle=False)
print("second", model.weights, second.history["loss"], second.epoch, stopping.wait)
"""


class _Stopping:
    wait = best = 0

    def on_train_begin(self, logs=None):
        self.wait = 0

    def on_epoch_end(self, epoch, logs=None):
        self.wait += 1


class _History:
    def on_train_begin(self, logs=None):
        self.history, self.epoch = {}, []

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        self.history.setdefault("loss", []).append(logs["loss"])


class _Best:
    """Saves where the loss is the least so far, which is the first round's."""

    best = None

    def __init__(self, filepath):
        self.filepath = filepath

    def on_train_begin(self, logs=None):
        """As Keras has it."""

    def on_epoch_end(self, epoch, logs=None):
        if self.best is None or logs["loss"] < self.best:
            self.best = logs["loss"]
            Path(self.filepath).write_text(str(self.best))


class _Dataset:
    element_spec, drawn = None, 0

    def shuffle(self):
        """As TensorFlow has it."""

    def __iter__(self):
        self.drawn += 1
        return iter([self.drawn**2])


class _Callback:
    model: object = None

    def on_train_begin(self, logs=None):
        """As Keras has it."""


def print_nothing(*batch):
    """A callback that does not mind batches."""


class _Pictures:
    """What an ImageDataGenerator deals: in an order that it draws for each epoch, and changed by chance."""

    index_array, total_batches_seen = None, 0

    def __len__(self):
        return 3

    def __getitem__(self, at):
        self.total_batches_seen += 1
        if self.index_array is None:
            self.on_epoch_end()
        return int(self.index_array[at] + 1) * int(np.random.randint(1, 99)) * self.total_batches_seen

    def on_epoch_end(self):
        self.index_array = np.random.permutation(3)


def _model(is_three, is_old):
    class Model:
        weights, built, stop_training = (), not is_three, False

        def __init__(self):
            self.weights, self.variables, self.trainable_variables, self.optimizer = [0], [], [], self

        def build(self, variables):
            self.built = True

        def get_build_config(self):
            return {"input_shape": (None, 4)}

        def build_from_config(self, config):
            assert config == self.get_build_config()

        def save_weights(self, path, save_format=None):
            assert path.endswith(".weights.h5") == is_three
            Path(path).write_text(str(self.weights[0]))

        def load_weights(self, path):
            self.weights = [int(Path(path).read_text())]

        def fit(self, x, epochs=1, initial_epoch=0, callbacks=(), shuffle=True, validation_data=None):
            is_drawn = hasattr(x, "index_array")
            looked = [x[0]] if is_drawn else []
            if is_drawn and is_three:
                x.on_epoch_end()
            callbacks = list(callbacks) if isinstance(callbacks, list) else [callbacks] if callbacks else []
            result = types.SimpleNamespace(history={}, epoch=[])
            if not is_three and hasattr(x, "shuffle"):
                iter(x)  # before, it looks at the data first
            for each in callbacks:
                each.on_train_begin()
            for epoch in range(initial_epoch, epochs):
                for each in callbacks:
                    each.model = self
                    if hasattr(each, "on_epoch_begin"):
                        each.on_epoch_begin(epoch)
                for each in range(len(x) if is_drawn else 2 if hasattr(x, "__next__") else 1):
                    self.weights[0] += x[each] if is_drawn else next(iter(x)) if hasattr(x, "__iter__") else x
                    for other in callbacks:
                        getattr(other, "on_train_batch_end", print_nothing)(each)
                if is_drawn and is_three:
                    x.on_epoch_end()
                if validation_data:
                    looked += [validation_data[0]] if len(looked) == 1 else []
                    if is_three:
                        validation_data.on_epoch_end()
                    for other in callbacks:
                        getattr(other, "on_test_begin", print_nothing)()
                    looked += [validation_data[each] for each in range(len(validation_data))]
                if is_three and hasattr(x, "shuffle"):
                    iter(x)  # Keras 3 makes one that it does not read
                print("epoch", epoch)
                result.epoch.append(epoch)
                result.history.setdefault("loss", []).append(self.weights[0])
                for each in callbacks:
                    each.on_epoch_end(epoch, {"loss": self.weights[0] + sum(looked)})
                if is_drawn and not is_three:
                    x.on_epoch_end()
            return result

    if is_three:
        Model.stateless_call = Model.fit
    if is_old:
        Model.save_weights = lambda self, path: None
    Model.__module__ = "keras.models"
    return Model


def _keras(version, monkeypatch):
    keras = types.ModuleType("keras")
    keras.Pictures = _Pictures
    keras.Stopping, keras.Rows, keras.Model = _Stopping, _Dataset, _model(version.startswith("3"), version == "2.3.1")
    best = type("ModelCheckpoint", (_Best,), {})
    keras.callbacks = types.SimpleNamespace(
        Callback=_Callback, History=type("History", (_History,), {}), ModelCheckpoint=best
    )
    monkeypatch.setitem(sys.modules, "keras", keras)


#: What was gathered by a callback of its own, and trainings that follow on one another.
FOLDS = """
import random
import keras


class Losses(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.losses, self.count = [], 0
        self.seen = []

    def on_epoch_begin(self, epoch, logs=None):
        self.begun = epoch

    def on_epoch_end(self, epoch, logs=None):
        self.seen.append((self.begun, logs["loss"]))


def train(fold):
    model, seen = keras.Model(), Losses()
    model.fit(fold + random.randint(1, 9), epochs=2, callbacks=[seen], shuffle=False)
    print("fold", fold, model.weights, seen.seen, random.random())


for fold in range(3):
    train(fold)
"""


#: Two trainings on one dataset, which deals another order in each pass.
ROWS = """
import keras
model, rows = keras.Model(), keras.Rows()
model.fit(rows, epochs=3)
print("first", model.weights, rows.drawn, next(iter(rows)))
model.fit(x=rows, epochs=3)
print("second", model.weights, type(rows) is keras.Rows)
"""


#: Generators that go on from epoch to epoch: one draws its numbers, the other lets callbacks draw some.
STREAMS = """
import random
import keras

def deal(draws):
    place = 0
    while True:
        place += 1
        yield random.randint(1, 99) if draws else place

class Drawing(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("epoch drawn", random.random() if logs else None)

random.seed(5)
model = keras.Model()
model.fit(deal(True), epochs=4)
print("first", model.weights)
model.fit(deal(False), epochs=4, callbacks=[Drawing()])
print("second", model.weights, random.random())
"""


#: Pictures that are drawn anew in each epoch, for the training and for its validation.
PICTURES = """
import numpy as np
import keras
np.random.seed(6)
model = keras.Model()
model.fit(keras.Pictures(), epochs=4)
print("first", model.weights, np.random.rand())
model.fit(keras.Pictures(), epochs=4, validation_data=keras.Pictures())
print("second", model.weights)
"""


#: A history that the script makes itself, and reads behind the training.
TOLD = """
import keras
model, told = keras.Model(), keras.callbacks.History()
model.fit(2, epochs=3, callbacks=[told], shuffle=False)
print(model.weights, told.history, told.epoch)
"""


#: Trainings that each load what they have saved as their best, from one file.
BEST = """
import keras
for fold in range(3):
    model = keras.Model()
    model.fit(fold + 1, epochs=3, callbacks=[keras.callbacks.ModelCheckpoint("best.weights.h5")], shuffle=False)
    model.load_weights("best.weights.h5")
    print("fold", fold, model.weights)
"""


@pytest.mark.parametrize("script", [SCRIPT, FOLDS, ROWS, STREAMS, PICTURES, TOLD, BEST])
@pytest.mark.parametrize("version", ["3.15.1", "2.12.0", "2.3.1"])
def test_killed_anywhere_it_ends_with_the_same_numbers_and_the_whole_history(tmp_path, monkeypatch, version, script):
    _keras(version, monkeypatch)
    before = play(script, tmp_path).output.splitlines()
    text = adapt_plainly(script).text
    assert play(text, tmp_path).output.splitlines() == before
    for at in range(1, len(before)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"keeps{at}")}
        play(text, tmp_path, env=env, kill_after=at)
        seen = play(text, tmp_path, env=env).output.splitlines()
        if version == "2.3.1":
            assert "begins anew after a stop" in seen[0] and [each for each in seen if "Keras" not in each] == before
            continue
        assert [each for each in seen if "epoch" not in each] == [each for each in before if "epoch" not in each], at
        assert len(seen) < len(before) or at == 1, "it must not begin anew"


#: A model that is trained by steps of its own, and never called itself: `built` stays False in Keras 3.
PARTS = """
import keras
model = keras.Parts()
model.fit(epochs=3, shuffle=False)
print("end", [part.value for part in model.variables], [part.slots for part in (model.first, model.second)])
"""


class _Variable:
    name = "kernel"

    def __init__(self):
        self.value = 0


class _Steps:
    """An optimizer of Keras 3: it takes back its state only where it was built for its variables before."""

    def __init__(self):
        self.built, self.slots, self._trainable_variables = False, [], []

    def build(self, variables):
        self.built, self.slots, self._trainable_variables = True, [0] * len(variables), list(variables)

    def apply_gradients(self, pairs):
        pairs = list(pairs)
        if not self.built:
            self.build([variable for _, variable in pairs])
        for at, (gradient, variable) in enumerate(pairs):
            self.slots[at] += gradient
            variable.value += self.slots[at]


class _Parts:
    stop_training, stateless_call, is_lazy = False, None, False

    def __init__(self):
        self.built, self.optimizer, self.first, self.second = False, _Steps(), _Steps(), _Steps()
        self.variables = [] if self.is_lazy else [_Variable(), _Variable(), _Variable()]

    @property
    def weights(self):
        return self.variables

    def get_build_config(self):
        return None

    def save_weights(self, path):
        if not self.built:
            raise ValueError("You are saving a model that has not yet been built.")
        parts = [part.slots for part in (self.optimizer, self.first, self.second)]
        Path(path).write_text(repr(([each.value for each in self.variables], parts)))

    def load_weights(self, path):
        if not self.built:
            raise ValueError("You are loading weights into a model that has not yet been built.")
        values, parts = ast.literal_eval(Path(path).read_text())
        for variable, value in zip(self.variables, values, strict=True):
            variable.value = value
        for part, slots in zip((self.optimizer, self.first, self.second), parts, strict=True):
            part.slots = slots if len(slots) == len(part.slots) else part.slots

    def fit(self, epochs=1, initial_epoch=0, callbacks=(), shuffle=True):
        for epoch in range(initial_epoch, epochs):
            self.variables = self.variables or [_Variable(), _Variable(), _Variable()]
            self.first.apply_gradients([(epoch + 1, self.variables[2])])
            self.second.apply_gradients([(epoch + 2, each) for each in self.variables[:2]])
            print("epoch", epoch)
            for each in callbacks:
                each.on_epoch_end(epoch, {})
        return types.SimpleNamespace(history={}, epoch=[])


_Parts.__module__ = "keras.models"


@pytest.mark.parametrize("is_lazy", [False, True])
def test_every_optimizer_of_a_model_that_is_never_called_goes_on(tmp_path, monkeypatch, is_lazy):
    _keras("3.15.1", monkeypatch)
    sys.modules["keras"].Parts = _Parts
    monkeypatch.setattr(_Parts, "is_lazy", is_lazy)
    text, before = adapt_plainly(PARTS).text, play(PARTS, tmp_path).output.splitlines()
    for at in range(1, len(before)):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"keeps{at}")}
        play(text, tmp_path, env=env, kill_after=at)
        seen = play(text, tmp_path, env=env).output.splitlines()
        assert seen[-1] == before[-1], at
        assert any("begins anew after a stop" in each for each in seen) is is_lazy


class _Spread(_Parts):
    """A model that a strategy made: only in its scope may variables be made for it."""

    def __init__(self):
        super().__init__()
        self.distribute_strategy, self.is_scoped = self, False

    @contextlib.contextmanager
    def scope(self):
        self.is_scoped = True
        yield
        self.is_scoped = False

    def load_weights(self, path):
        assert self.is_scoped, "outside of the scope of its strategy"
        super().load_weights(path)


def test_a_model_of_a_strategy_is_filled_in_its_scope(tmp_path, monkeypatch):
    _keras("3.15.1", monkeypatch)
    sys.modules["keras"].Parts = _Spread
    text, before = adapt_plainly(PARTS).text, play(PARTS, tmp_path).output.splitlines()
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "keeps")}
    play(text, tmp_path, env=env, kill_after=2)
    assert play(text, tmp_path, env=env).output.splitlines()[-1] == before[-1]


def test_numbers_of_tensorflow_in_a_step_are_named():
    done = adapt(f"import tensorflow as tf\n{HEAD}noise = tf.random.normal([3])\nmodel.fit(x, y, epochs=3)\n")
    assert "draws by itself (tf.random)" in said(done, Kind.DIFFERS)
