"""Data sets of Keras: found in the contract's folder as every version of Keras asks for them."""

from __future__ import annotations

import sys
import tarfile
import types

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

#: how versions of Keras ask for a file, for what they unpack, and for the folder around that
ASKS = """
import os
import pathlib

def get_file(fname, origin, cache_subdir="datasets", **words):
    if os.sep in fname:
        raise ValueError("Paths are no longer accepted")
    raise OSError("no network")

def load_data(path="birds.npz"):
    return pathlib.Path(get_file(fname=path, origin="https://h/birds.npz", file_hash="1")).read_text()

def load_parts():
    return [pathlib.Path(get_file(each, origin="h/" + each, cache_subdir="d")).read_text() for each in ("a.gz", "b.gz")]

def load_unpacked():
    path = get_file("birds-py", origin="https://h/birds-1.tar.gz", untar=True)
    return pathlib.Path(path, "batch_1").read_text()

def load_around():
    path = get_file(fname="birds-py-target", origin="https://h/birds-1.tar.gz", extract=True)
    return pathlib.Path(path, "birds-py", "batch_1").read_text()
"""


def play(monkeypatch, function, folder):
    """What the adapted script has loaded."""
    birds = types.ModuleType("keras.datasets.mnist")
    exec(f"{ASKS}\nload_data = {function}\n" if function != "load_data" else ASKS, birds.__dict__)
    sets, keras = types.ModuleType("keras.datasets"), types.ModuleType("keras")
    sets.mnist, keras.datasets = birds, sets
    for name, module in (("keras", keras), ("keras.datasets", sets), ("keras.datasets.mnist", birds)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(sys, "argv", ["train.py", *(["--data_url", str(folder)] if folder else [])])
    found: dict[str, object] = {}
    exec(adapt("from keras.datasets import mnist\nrows = mnist.load_data()\n").text, found)
    return found["rows"]


def pack(folder):
    folder.mkdir(parents=True)
    (folder / "batch_1").write_text("birds")
    with tarfile.open(folder.parent / "birds-1.tar.gz", "w:gz") as archive:
        archive.add(folder, "birds-py")


@pytest.mark.parametrize("below", ["", "datasets"])
def test_a_file_is_found_in_the_folder(monkeypatch, tmp_path, below):
    (tmp_path / below).mkdir(exist_ok=True)
    for name in ("birds.npz", "a.gz", "b.gz"):
        (tmp_path / below / name).write_text(name)
    assert play(monkeypatch, "load_data", tmp_path) == "birds.npz"
    assert play(monkeypatch, "load_parts", tmp_path) == ["a.gz", "b.gz"]


@pytest.mark.parametrize("function", ["load_unpacked", "load_around"])
@pytest.mark.parametrize("how", ["folder", "archive", "itself"])
def test_what_keras_unpacks_is_found_packed_or_not(monkeypatch, tmp_path, function, how):
    pack(tmp_path / "all" / "birds-py")
    if how == "archive":
        (tmp_path / "all" / "birds-py" / "batch_1").unlink()
        (tmp_path / "all" / "birds-py").rmdir()
    if how == "itself":
        (tmp_path / "all" / "birds-py").rename(tmp_path / "input")
    place = tmp_path / ("input" if how == "itself" else "all")
    assert play(monkeypatch, function, place) == "birds"


def test_without_a_folder_it_is_fetched_as_ever(monkeypatch):
    with pytest.raises(OSError, match="no network"):
        play(monkeypatch, "load_data", None)


@pytest.mark.parametrize(
    "text",
    [
        "from tensorflow import keras\ncifar10 = keras.datasets.cifar10\nrows = cifar10.load_data()\n",
        "import tensorflow as tf\nrows = tf.keras.datasets.cifar10.load_data()\n",
        "from tf_keras.datasets import cifar10\nrows = cifar10.load_data()\n",
    ],
)
def test_a_set_without_a_path_needs_no_network(text):
    done = adapt(text, "xihe")
    assert "rows = load_delivered(" in done.text
    assert "a folder with cifar-10-batches-py" in advice(done)
    assert "network" not in said(done, Kind.HAND)
    assert adapt(done.text, "xihe").text == done.text


def test_words_of_a_set_are_found_too():
    done = adapt("from keras.datasets import imdb\nwords = imdb.get_word_index()\nrows = imdb.load_data('imdb.npz')\n")
    assert "words = load_delivered(imdb.get_word_index, contract.data_url)()" in done.text
    assert "load_delivered(imdb.load_data, contract.data_url)('imdb.npz')" in done.text
    assert "imdb_word_index.json" in advice(done)


def test_a_place_of_the_scripts_own_stays():
    assert "load_delivered" not in adapt("from keras.datasets import mnist\nrows = mnist.load_data(place())\n").text


def test_a_name_that_gets_another_value_is_none_of_keras():
    text = "import tensorflow as tf\nsets = tf.keras.datasets.mnist\nsets = mine()\nrows = sets.load_data()\n"
    assert "load_delivered" not in adapt(text).text


def advice(done):
    return " ".join(finding.advice for finding in done.findings)
