"""What Keras 3 has built when a checkpoint is written is built again before it is restored, by stand-ins of Keras."""

from __future__ import annotations

import contextlib
import pickle

import pytest
from checked import adapt_plainly as adapt

SCRIPT = """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()
for epoch in range(9):
    with tf.GradientTape() as tape:
        loss = model(1.0)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
"""


class Layer:
    """A layer of Keras 3 makes what `build` makes of it; only its first step builds what it holds."""

    stateless_call = None

    def __init__(self, *inner, own=0, made=()):
        self.inner, self.own, self.made = list(inner), own, made
        self.built, self.config, self.kernels = False, None, []

    @property
    def weights(self):
        return [*self.kernels, *(kernel for layer in self.inner for kernel in layer.weights)]

    variables = weights

    def _flatten_layers(self):
        return [self, *(each for layer in self.inner for each in layer._flatten_layers())]

    def get_build_config(self):
        return self.config

    def build_from_config(self, config):
        assert not self.built, "Keras lets nobody build a layer twice"
        self.built, self.config = True, config
        self.kernels = [(config["input_shape"], at) for at in range(self.own)]
        self.inner += [Layer(own=each) for each in self.made]

    def step(self, shape):
        if not self.built:
            self.build_from_config({"input_shape": shape})
        for layer in self.inner:
            layer.step((*shape, 4))


class Model(Layer):
    """A model builds itself by a traced step, if its `call` can be traced, in the scope that it was made in."""

    def __init__(self, *inner, is_traced=True):
        super().__init__(*inner)
        self.is_traced, self.is_scoped, self.distribute_strategy = is_traced, False, self

    @contextlib.contextmanager
    def scope(self):
        self.is_scoped = True
        yield
        self.is_scoped = False

    def build_from_config(self, config):
        if self.is_traced:
            assert self.is_scoped
            super().build_from_config(config)
            self.step(config["input_shape"])

    def step(self, shape):
        self.built, self.config = True, {"input_shape": shape}
        super().step(shape)


@pytest.fixture(scope="module")
def helpers():
    """The functions that were added on top, without the script."""
    text = adapt(SCRIPT).text.replace("import tensorflow as tf\n", "")
    names: dict[str, object] = {}
    exec(text.partition("\nmodel = ")[0], names)
    return names["built_shapes"], names["build_again"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layer(Layer(Layer(own=2), Layer(own=1)), Layer(own=2)),
        lambda: Layer(Layer(own=1, made=(2, 1)), Layer(own=3)),
        lambda: Model(Layer(own=2), Layer(Layer(own=1))),
        lambda: Model(Layer(own=2), Layer(Layer(own=1)), is_traced=False),
    ],
    ids=["layers in a layer", "layers that a layer makes", "a model", "a model that cannot be traced"],
)
def test_all_that_was_built_is_built_again(helpers, make):
    shapes, build = helpers
    trained, new = make(), make()
    trained.step((64, 8))
    build({"net": new}, shapes({"net": trained}))
    assert new.weights == trained.weights != []


def test_what_cannot_be_built_again_is_said(helpers):
    shapes, build = helpers
    trained = Layer(Layer(own=2))
    trained.step((64, 8))
    with pytest.raises(RuntimeError, match="net has to be built before it is restored"):
        build({"net": Layer()}, shapes({"net": trained}))


class Tracked(list):
    """Keras wraps what a layer is given, and what it wraps has a function in it."""

    def __reduce__(self):
        raise AttributeError("Can't pickle local object 'Layer._initialize_tracker.<locals>.<lambda>'")


def test_shapes_of_several_inputs_are_kept_as_plain_lists(helpers):
    shapes, _ = helpers
    joining = Layer()
    joining.build_from_config({"input_shape": Tracked([(None, 4), (None, 8)])})
    ((configs, _, _),) = pickle.loads(pickle.dumps(shapes({"net": joining}))).values()
    assert configs == [{"input_shape": [(None, 4), (None, 8)]}]
