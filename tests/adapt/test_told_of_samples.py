"""What is said of samples and random numbers of Keras, TensorFlow and MindSpore: nothing that is not so."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

HEAD = "import numpy as np\nimport tensorflow as tf\nfrom here import model\n"
FOLDER = 'tf.keras.utils.image_dataset_from_directory("rows"{})'
PICTURES = "tf.keras.preprocessing.image.ImageDataGenerator()"
SLICES = "tf.data.Dataset.from_tensor_slices(np.zeros(9)){}"

ORDERED = {
    "a folder with a seed": f"rows = {FOLDER.format(', seed=3')}\n",
    "a folder as it is": f"rows = {FOLDER.format(', shuffle=False')}\n",
    "a dataset that nobody shuffles": f"rows = {SLICES.format('.batch(3)')}\n",
    "a dataset, and a seed for all": f"tf.random.set_seed(3)\nrows = {SLICES.format('.shuffle(9).batch(3)')}\n",
    "what a generator of pictures deals": f"rows = {PICTURES}.flow(np.zeros(9))\n",
    "one that a function gives": f"def get():\n    return {FOLDER.format(', seed=3')}\nrows = get()\n",
}
OTHERS = {
    "arrays": "rows = np.zeros(9)\n",
    "a folder without a seed": f"rows = {FOLDER.format('')}\n",
    "a dataset without a seed": f"rows = {SLICES.format('.shuffle(9).batch(3)')}\n",
    "what is kept of one pass": f"tf.random.set_seed(3)\nrows = {SLICES.format('.shuffle(9).cache().batch(3)')}\n",
}


@pytest.mark.parametrize("way", ORDERED)
def test_an_order_that_goes_on_is_not_told_of(way):
    done = adapt(f"{HEAD}{ORDERED[way]}model.fit(rows, epochs=3)\n")
    assert "resume_fit(" in done.text and "another order" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("way", OTHERS)
def test_an_order_that_begins_anew_is_told_of(way):
    done = adapt(f"{HEAD}{OTHERS[way]}model.fit(rows, epochs=3)\n")
    assert "samples that Keras shuffles come in another order" in said(done, Kind.DIFFERS)


def test_pictures_that_may_be_dealt_ahead_are_told_of():
    rows = ORDERED["what a generator of pictures deals"]
    done = adapt(f"{HEAD}{rows}model.fit(rows, steps_per_epoch=2, epochs=3)\n")
    assert "samples that Keras shuffles come in another order" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize("end", ["repeat()", "repeat(-1)", "repeat(count=None)", "repeat(3)"])
def test_a_dataset_that_fit_goes_through_only_once_begins_anew(end):
    rows = f"tf.random.set_seed(3)\nrows = {SLICES.format(f'.shuffle(9).batch(3).{end}')}\n"
    for steps, is_one in (("steps_per_epoch=2, ", True), ("", False)):
        told = said(adapt(f"{HEAD}{rows}model.fit(rows, {steps}epochs=3)\n"), Kind.DIFFERS)
        assert ("repeats without end begins anew" in told) == (is_one and end != "repeat(3)")


def test_layers_that_fit_trains_may_be_of_a_keras_that_keeps_no_numbers():
    text = f"{HEAD}{ORDERED['a folder as it is']}model.add(tf.keras.layers.Dropout(0.5))\nmodel.fit(rows, epochs=3)\n"
    assert "before Keras 3, random numbers of layers (Dropout) start anew" in said(adapt(text), Kind.DIFFERS)


def test_layers_by_a_starred_import_are_told_of_too(tmp_path):
    nets = "from tensorflow.keras.layers import *\nfrom tensorflow.keras import Model\ndef build(x):\n"
    nets += "    return Model(x, Dropout(0.5)(x))\n"
    done = Program(
        tmp_path, nets=nets, train=f"{HEAD}from nets import build\nbuild(model).fit(model, epochs=3)\n"
    ).adapt()
    assert any("random numbers of layers (Dropout) start anew" in each.message for each in done.findings)


def test_of_a_generator_of_the_program_nothing_is_told(tmp_path):
    own = "def deal():\n    while True:\n        yield np.zeros(3)\n"
    told = said(adapt(f"{HEAD}{own}rows = deal()\nmodel.fit_generator(generator=rows, epochs=3)\n"), Kind.DIFFERS)
    assert "another order" not in told
    train = "from nets import Net\nfrom rows import Rows\nrows = Rows()\nNet().learn(rows=rows.deal())\n"
    nets = """
        import keras
        class Net:
            def __init__(self):
                self.model = keras.Sequential()
            def learn(self, rows):
                self.model.fit(rows, epochs=3)
    """
    rows = f"import numpy as np\nclass Rows:\n{textwrap.indent(own.replace('deal()', 'deal(self)'), '    ')}"
    done = Program(tmp_path, nets=nets, rows=rows, train=train).adapt()
    assert "another order" not in " ".join(each.message for each in done.findings)


@pytest.mark.parametrize(
    ("first", "is_told"), [("tf.Variable(tf.random.normal([3]))", False), ("tf.random.normal([3])", True)]
)
def test_numbers_that_a_variable_begins_with_are_kept_in_it(first, is_told):
    text = f"""
        import tensorflow as tf
        w = tf.Variable(0.0)
        b = {first}
        for epoch in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((w + b) ** 2)
            w.assign_sub(0.1 * tape.gradient(loss, w))
            print(epoch, loss)
    """
    done = adapt(text)
    assert "resume" in done.text and ("draws by itself" in said(done, Kind.DIFFERS)) is is_told


def test_a_question_for_the_folder_of_the_data_tells_what_is_fetched_behind_it():
    text = """
        import os
        import numpy as np
        from urllib import request
        ROOT = "sets/rows/"
        if not os.path.exists(ROOT):
            os.makedirs("sets", exist_ok=True)
            os.mkdir(ROOT)
            for name in ("a", "b"):
                request.urlretrieve("http://h/" + name, os.path.join(ROOT, name))
        rows = np.loadtxt(os.path.join(ROOT, "a"))
        w = 0.0
        for epoch in range(3):
            w += rows.mean()
    """
    done = adapt(text)
    assert "fetched only where --data_url does not have it" in said(done, Kind.KEPT)
    assert "network" not in said(done, Kind.DIFFERS) and "not certain" not in said(done, Kind.DIFFERS)


def test_names_that_are_made_of_a_path_in_another_file_follow_it(tmp_path):
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            from rows import find
            with open(find(), "rb") as file:
                print(file.read().decode())
        """,
        rows="""
            from conf import *
            def find():
                start = ROWS_PATH[:-4]
                return start + "-" + str(SIZE) + ".txt"
        """,
        conf='ROWS_PATH = "store/rows.txt"\nSIZE = 32\n',
    )
    for folder, text in ((code / "store", "old"), (tmp_path / "in", "new")):
        folder.mkdir()
        (folder / "rows-32.txt").write_text(text)
    program.adapt()
    assert program.run().lines == ["old"]
    assert program.run("--data_url", str(tmp_path / "in")).lines == ["new"]


def test_what_stands_for_a_path_that_is_not_given_follows_the_option(tmp_path):
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            from conf import config
            from rows import read
            print(read(config))
        """,
        rows="""
            import os
            def read(config, file=None):
                file = file if file else os.path.join(config.ROOT, "x.txt")
                return open(file).read()
        """,
        conf="""
            from types import SimpleNamespace
            config = SimpleNamespace()
            config.ROOT = "sets/rows/"
        """,
    )
    for folder, text in ((code / "sets" / "rows", "old"), (tmp_path / "in", "new")):
        folder.mkdir(parents=True)
        (folder / "x.txt").write_text(text)
    program.adapt()
    assert program.run().lines == ["old"]
    assert program.run("--data_url", str(tmp_path / "in")).lines == ["new"]


@pytest.mark.parametrize("is_sorted", [False, True])
def test_files_in_an_order_that_was_drawn_are_told_of_where_nothing_sorts_them(is_sorted):
    listed = "sorted(os.listdir(path))" if is_sorted else "os.listdir(path)"
    text = f"""
        import os
        import numpy as np
        def seen(path):
            for name in {listed}:
                if not name.startswith("."):
                    yield name
        names = []
        for name in seen("rows"):
            names.append(name)
        names = np.array(names)
        order = np.random.permutation(len(names))
        names = names[order]
        train, test = names[:8], names[8:]
        w = 0.0
        for epoch in range(3):
            w += len(train)
    """
    assert ("permutation then chooses others" in said(adapt(text), Kind.DIFFERS)) is not is_sorted


def test_what_only_loads_is_not_taken_for_something_that_saves():
    text = """
        import numpy as np
        from numpy import load as load_checkpoint
        w = load_checkpoint("start.npy")
        for epoch in range(3):
            w += 1
    """
    assert "the script saves nothing" in said(adapt(text), Kind.DIFFERS)


AUGMENT = 'augment = tf.keras.Sequential([tf.keras.layers.RandomFlip("horizontal"), tf.keras.layers.RandomZoom(0.1)])\n'


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("rows = rows.map(lambda x, y: (augment(x), y))\n", True),
        ("def prepare(x, y):\n    return augment(x), y\nrows = rows.map(prepare)\n", True),
        ("rows = rows.map(lambda x, y: (x / 255, y))\nmodel.add(augment)\n", False),
    ],
)
def test_layers_that_draw_in_a_dataset_are_told_of(line, is_told):
    rows = ORDERED["a folder with a seed"]
    done = adapt(f"{HEAD}{AUGMENT}{rows}{line}model.fit(rows, epochs=3)\n")
    assert ("layers in what a dataset maps (RandomFlip)" in said(done, Kind.DIFFERS)) is is_told
