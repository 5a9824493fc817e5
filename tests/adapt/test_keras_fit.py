"""Scripts that train in one or several calls of `fit` of Keras."""

from __future__ import annotations

import sys
import types
from pathlib import Path

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


def test_folds_are_refused():
    done = adapt(f"{HEAD}for part in x:\n    model.fit(part, y, epochs=3)\n")
    assert "fit is called in a loop" in said(done, Kind.HAND) and "resume_fit" not in done.text


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

    def on_epoch_begin(self, epoch, logs=None):
        self.wait = vars(self).get("wait", 0)

    def on_epoch_end(self, epoch, logs=None):
        self.wait += 1


class _Callback:
    model: object = None


def _model(is_three):
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

        def save_weights(self, path):
            assert path.endswith(".weights.h5") == is_three
            Path(path).write_text(str(self.weights[0]))

        def load_weights(self, path):
            self.weights = [int(Path(path).read_text())]

        def fit(self, x, epochs=1, initial_epoch=0, callbacks=(), shuffle=True):
            callbacks = list(callbacks) if isinstance(callbacks, list) else [callbacks] if callbacks else []
            result = types.SimpleNamespace(history={}, epoch=[])
            for epoch in range(initial_epoch, epochs):
                for each in callbacks:
                    each.model = self
                    each.on_epoch_begin(epoch)
                self.weights[0] += x
                print("epoch", x, epoch)
                result.epoch.append(epoch)
                result.history.setdefault("loss", []).append(self.weights[0])
                for each in callbacks:
                    each.on_epoch_end(epoch, {"loss": self.weights[0]})
            return result

    Model.__module__ = "keras.models"
    return Model


@pytest.mark.parametrize("version", ["3.15.1", "2.12.0", "2.3.1"])
def test_killed_anywhere_it_ends_with_the_same_numbers_and_the_whole_history(tmp_path, monkeypatch, version):
    keras = types.ModuleType("keras")
    keras.__version__, keras.Stopping = version, _Stopping
    keras.Model = _model(version.startswith("3"))
    keras.callbacks = types.SimpleNamespace(Callback=_Callback)
    monkeypatch.setitem(sys.modules, "keras", keras)
    before = play(SCRIPT, tmp_path).output.splitlines()
    text = adapt_plainly(SCRIPT).text
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
