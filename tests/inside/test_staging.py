"""Code and inputs land where the script looks, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from outlast.inside import staging
from outlast.inside.blobs import Blobs
from outlast.inside.errors import RequestError
from outlast.inside.stores.file import FileStore


def given(name, source, path, writable=False):
    return {"name": name, "source": source.as_uri(), "path": path, "writable": writable}


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "some data é"
    folder.mkdir()
    (folder / "x.txt").write_text("x")
    return folder


def stage(inputs, code, sandboxed):
    return staging.stage_inputs(inputs, str(code), sandboxed)


def ready(tmp_path, inputs):
    code = staging.code_dir_for(str(tmp_path / "work" / "tree"), inputs)
    Path(code).mkdir(parents=True)
    return Path(code)


@pytest.mark.parametrize(
    ("paths", "depth"),
    [([], 1), (["data"], 1), (["../data"], 1), (["../../a/data"], 2), (["x/../../../../y"], 3), (["/abs/../../d"], 1)],
)
def test_the_code_lies_deep_enough_for_every_climb(paths, depth):
    inputs = [{"name": "d", "source": "", "path": path} for path in paths]
    code = staging.code_dir_for("/w/tree", inputs)
    assert len(os.path.relpath(code, "/w/tree").split("/")) == depth
    for path in paths:
        if not path.startswith("/"):
            assert os.path.normpath(f"{code}/{path}").startswith("/w/tree/")


def test_an_input_named_like_the_code_folder_is_not_the_code_folder(tmp_path, data):
    inputs = [given("a", data, "../code"), given("b", data, "../../up1")]
    code = ready(tmp_path, inputs)
    stage(inputs, code, False)
    assert (code / "../code/x.txt").exists()
    assert (code / "../../up1/x.txt").exists()


@pytest.mark.parametrize("path", ["data", "deep/er/data", "../data", "../../a/data"])
def test_without_a_sandbox_an_input_is_a_link(tmp_path, data, path):
    inputs = [given("d", data, path)]
    code = ready(tmp_path, inputs)
    staged = stage(inputs, code, False)
    target = os.path.normpath(code / path)
    assert Path(target).readlink() == data
    assert staged.binds == []
    assert len(staged.notices) == 1


@pytest.mark.parametrize("path", ["data", "../data"])
def test_in_the_sandbox_an_input_is_a_mount_on_an_empty_folder(tmp_path, data, path):
    inputs = [given("d", data, path), given("f", data / "x.txt", "one.txt")]
    code = ready(tmp_path, inputs)
    staged = stage(inputs, code, True)
    target = os.path.normpath(code / path)
    assert sorted(staged.binds) == sorted([(str(data), target), (str(data / "x.txt"), str(code / "one.txt"))])
    assert list(Path(target).iterdir()) == []
    assert (code / "one.txt").stat().st_size == 0
    assert staged.notices == []


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_writable_input_is_a_copy_that_can_be_written(tmp_path, data, sandboxed):
    (data / "sub").mkdir()
    (data / "sub" / "locked").write_text("1")
    (data / "sub" / "locked").chmod(0o400)
    (data / "sub").chmod(0o500)
    inputs = [given("d", data, "data", writable=True)]
    code = ready(tmp_path, inputs)
    assert stage(inputs, code, sandboxed).binds == []
    copy = code / "data" / "sub" / "locked"
    assert copy.stat().st_mode & 0o777 == 0o600
    assert copy.parent.stat().st_mode & 0o700 == 0o700
    copy.write_text("changed")
    assert (data / "sub" / "locked").read_text() == "1"
    (data / "sub").chmod(0o700)


def test_absolute_inputs_keep_their_place(tmp_path, data):
    other = tmp_path / "other"
    other.mkdir()
    inputs = [given("d", data, str(data)), given("w", data, str(other), writable=True)]
    code = staging.code_dir_for(str(tmp_path / "work" / "tree"), inputs)
    staged = stage(inputs, code, True)
    assert staged.binds == [(str(data), str(data))]
    assert staged.writable_binds == [(str(tmp_path / "work" / "copies" / "w"), str(other))]
    assert stage(inputs[:1], code, False).binds == []
    with pytest.raises(RequestError, match="needs the sandbox"):
        stage(inputs[1:], code, False)
    with pytest.raises(RequestError, match="without a sandbox"):
        stage([given("d", data, str(other))], code, False)
    with pytest.raises(RequestError, match="no such path"):
        stage([given("d", data, str(tmp_path / "absent"))], code, True)


def test_a_missing_source_is_named(tmp_path, data):
    inputs = [given("mnist", data.parent / "mnsit", "data")]
    with pytest.raises(RequestError, match=r"mnist is missing: there is no .*mnsit"):
        stage(inputs, ready(tmp_path, inputs), True)


@pytest.mark.parametrize("source", ["s3://bucket/x", "file://elsewhere/x", "data"])
def test_other_addresses_are_refused(source):
    with pytest.raises(RequestError, match="not the address of a file of this machine"):
        staging.source_path(source)


def test_an_input_may_not_hide_the_code_or_another_input(tmp_path, data):
    for paths, words in ((["."], "hide the code"), ([".."], "hide the code"), (["a", "a/b"], "lie in each other")):
        inputs = [given(f"n{index}", data, path) for index, path in enumerate(paths)]
        code = staging.code_dir_for(str(tmp_path / "work" / "tree"), inputs)
        with pytest.raises(RequestError, match=words):
            stage(inputs, code, True)


def test_what_the_code_has_at_that_path_gives_way(tmp_path, data):
    inputs = [given("d", data, "data"), given("e", data, "empty")]
    code = ready(tmp_path, inputs)
    (code / "data" / "old").mkdir(parents=True)
    (code / "empty").mkdir()
    staged = stage(inputs, code, True)
    assert staged.notices == ["input d replaces the folder data of the code"]
    assert list((code / "data").iterdir()) == []


def test_a_link_in_the_code_cannot_lead_an_input_outside(tmp_path, data):
    outside = tmp_path / "outside"
    outside.mkdir()
    inputs = [given("d", data, "link/data")]
    code = ready(tmp_path, inputs)
    (code / "link").symlink_to(outside)
    with pytest.raises(RequestError, match="outside the work folder"):
        stage(inputs, code, True)
    assert list(outside.iterdir()) == []


def test_staging_again_after_a_killed_attempt_works(tmp_path, data):
    inputs = [given("d", data, "data"), given("w", data, "copy", writable=True)]
    code = ready(tmp_path, inputs)
    for sandboxed in (True, True, False, False):
        stage(inputs, code, sandboxed)
    assert (code / "copy" / "x.txt").exists()
    assert (data / "x.txt").read_text() == "x"


class Counting(Blobs):
    fetched = 0

    def get_file(self, *args):
        self.fetched += 1
        return super().get_file(*args)


@pytest.fixture
def pack(tmp_path):
    import tarfile

    (tmp_path / "train.py").write_text("print(1)")
    with tarfile.open(tmp_path / "code.tar", "w") as archive:
        archive.add(tmp_path / "train.py", "train.py")
    blobs = Counting(FileStore(str(tmp_path / "store")))
    sha256, size = blobs.put_file(str(tmp_path / "code.tar"))
    return blobs, sha256, size


def test_code_is_fetched_once_and_checked_every_time(tmp_path, pack):
    blobs, sha256, size = pack
    cache, into = tmp_path / "cache", tmp_path / "w" / "code"
    staging.fetch_code(blobs, sha256, size, str(cache), str(into))
    (into / "left over").touch()
    staging.fetch_code(blobs, sha256, size, str(cache), str(into))
    assert blobs.fetched == 1
    assert [path.name for path in into.iterdir()] == ["train.py"]
    kept = next((cache / "packs").iterdir())
    kept.write_bytes(b"\0" * size)
    staging.fetch_code(blobs, sha256, size, str(cache), str(into))
    assert blobs.fetched == 2
    assert (into / "train.py").read_text() == "print(1)"


def test_a_pack_that_is_not_in_the_store_is_the_requests_fault(tmp_path, pack):
    blobs, _, size = pack
    with pytest.raises(RequestError, match="submit the run again"):
        staging.fetch_code(blobs, "0" * 64, size, str(tmp_path / "cache"), str(tmp_path / "code"))
