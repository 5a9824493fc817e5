"""Inputs, places and stores that are typed: found where the script looks for them, or refused by their flag."""

from __future__ import annotations

import os

import pytest

# ---- inputs


def test_missing_data_is_named_with_what_was_meant(refused, folder):
    message = refused(data=("./mnsit",))
    assert message == f"no such file or folder: ./mnsit (relative to {folder}); did you mean ./mnist?"


@pytest.mark.parametrize(
    ("given", "path"),
    [("mnist", "mnist"), ("./mnist/", "mnist"), ("../shared", "../shared"), ("train=mnist", "train")],
)
def test_data_is_found_where_the_script_looks(ask, folder, given, path):
    (folder.parent / "shared").mkdir()
    assert ask(data=(given,)).inputs[0].path == path


def test_absolute_data_keeps_its_path(ask, folder, tmp_path):
    shared = tmp_path / "shared data"
    shared.mkdir()
    for given in (str(shared), shared.as_uri()):
        found = ask(data=(given,)).inputs[0]
        assert (found.path, found.source, found.name) == (str(shared), shared.as_uri(), "shared-data")


def test_data_given_from_another_folder_is_seen_from_the_script(ask, folder):
    (folder.parent / "data").mkdir()
    resolved = ask("project/train.py", cwd=folder.parent, data=("data", "project/mnist"))
    assert [given.path for given in resolved.inputs] == ["../data", "mnist"]
    assert "at ../data" in " ".join(resolved.notices)


def test_an_equals_sign_inside_a_path_belongs_to_the_path(ask, folder):
    (folder / "lr=0.1").mkdir()
    (folder / "mnist/a=b").mkdir()
    assert ask(data=("lr=0.1",)).inputs[0].path == "lr=0.1"
    assert ask(data=("mnist/a=b",)).inputs[0].path == "mnist/a=b"
    assert ask(data=("x=mnist/a=b",)).inputs[0].path == "x"


def test_inputs_without_a_name_get_different_ones(ask, folder):
    for name in ("a/train", "b/train"):
        (folder / name).mkdir(parents=True)
    assert [given.name for given in ask(data=("a/train", "b/train")).inputs] == ["train", "train-2"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (("x=mnist", "x=train.py"), "the same name 'x'"),
        (("mnist", "./mnist"), "both be at mnist"),
        (("mnist", "mnist=other"), "the same name 'mnist'"),
        (("mnist", "mnist/part"), "lie in each other"),
        ((".",), "code folder itself"),
        (("..",), "code folder itself"),
        (("x=",), "names no file or folder"),
        (("",), "names no file or folder"),
        (("gs://bucket/mnist",), "data from gs:// cannot be read; known: file://, hdfs://, obs://, s3://"),
        (("s3://B/mnist",), "has no good bucket name"),
        (("fiel:///data",), "did you mean file://?"),
        (("file://host/data",), "not the address of a file here"),
        (("file:///nowhere/at/all",), "no such file or folder: /nowhere/at/all"),
        (("train.py",), "over the script train.py"),
        (("train.py=mnist",), "over the script train.py"),
    ],
)
def test_wrong_data_is_refused(refused, folder, data, expected):
    (folder / "other").mkdir()
    (folder / "mnist/part").mkdir()
    assert expected in refused(data=data)


def test_inputs_of_the_file_are_relative_to_the_file(ask, refused, folder):
    (folder / "outlast.toml").write_text(
        '[data]\ndigits = "./mnist"\nother = { source = "mnist", path = "in/mnist", writable = true }\n'
    )
    first, second = ask(str(folder), cwd=folder.parent).inputs
    assert (first.name, first.path, first.writable) == ("digits", "mnist", False)
    assert (second.path, second.writable) == ("in/mnist", True)
    (folder / "outlast.toml").write_text('[data]\ndigits = "./mnsit"\n')
    assert "data.digits in outlast.toml: no such file or folder: ./mnsit" in refused()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_data_that_cannot_be_read_is_refused(refused, folder):
    (folder / "mnist").chmod(0)
    assert "no permission" in refused(data=("mnist",))


# ---- places


@pytest.mark.parametrize("flag", ["checkpoint", "output"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("../ckpt", "outside the work folder"),
        ("/tmp/ckpt", "outside the work folder"),
        ("", "outside the work folder"),
        (".", "the work folder itself"),
        ("a/..", "the work folder itself"),
        ("train.py", "holds the script"),
        ("mnist", "share a place"),
        ("mnist/ckpt", "share a place"),
    ],
)
def test_a_place_that_cannot_be_is_refused_by_its_flag(refused, flag, value, expected):
    message = refused(data=("mnist",), **{flag: value})
    assert message.startswith(f"--{flag} {value!r}")
    assert expected in message


def test_an_input_inside_a_place_is_refused(refused, folder):
    assert "share a place" in refused(data=("mnist",), checkpoint="x", output="mnist/../mnist")
    assert "share a place" in refused(data=(str(folder / "mnist"),), checkpoint="mnist")


def test_checkpoint_and_output_may_be_the_same_or_nested(ask):
    assert ask(checkpoint="out", output="out").leave_out == ("out",)
    assert ask(checkpoint="out/ckpt", output="out").checkpoint == "out/ckpt"


def test_an_absolute_place_inside_the_folder_is_made_relative(ask, folder):
    assert ask(checkpoint=str(folder / "ckpt")).checkpoint == "ckpt"


def test_places_of_the_file_are_named_as_such(refused, folder):
    (folder / "outlast.toml").write_text('[run]\ncheckpoint = "../x"\n')
    assert refused().startswith("run.checkpoint in outlast.toml '../x': outside")


# ---- what lies in a network


@pytest.mark.parametrize(
    ("said", "store"),
    [
        ("obs://lab@my-bucket/outlast/", "obs://lab@my-bucket/outlast"),
        ("hdfs://node:9870/runs", "hdfs://node:9870/runs"),
        ("/data/a b", "file:///data/a%20b"),
    ],
)
def test_the_store_is_an_address_or_a_folder(ask, said, store):
    assert ask(store=said).store == store


def test_a_relative_store_is_seen_from_where_it_was_said(ask, folder):
    assert ask(store="runs").store == (folder / "runs").as_uri()
    (folder / "outlast.toml").write_text('[run]\nstore = "../elsewhere"\n')
    assert ask(cwd=folder / "mnist", target="../train.py").store == (folder.parent / "elsewhere").as_uri()
    assert ask(store="obs://bucket").store == "obs://bucket"


@pytest.mark.parametrize("said", ["s3://B", "gopher://x/y", "hdfs:///x"])
def test_a_store_that_cannot_be_is_named(refused, said):
    assert f"--store {said!r}: " in refused(store=said)


def test_data_at_an_address_is_found_beside_the_script(ask):
    mnist, train = ask(data=("s3://lab@bucket/sets/mnist/", "train=obs://bucket/a b.csv")).inputs
    assert (mnist.name, mnist.path, mnist.source) == ("mnist", "mnist", "s3://lab@bucket/sets/mnist/")
    assert (train.name, train.path, train.source) == ("train", "train", "obs://bucket/a b.csv")


def test_data_by_address_in_the_file(ask, folder):
    (folder / "outlast.toml").write_text('[data]\npets = { source = "hdfs://node:9870/pets", path = "../pets" }\n')
    (pets,) = ask().inputs
    assert (pets.source, pets.path) == ("hdfs://node:9870/pets", "../pets")
