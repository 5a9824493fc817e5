"""Copying as a library: `outlast.copy`, `Client.files`, and how failures come out."""

from __future__ import annotations

import subprocess
import sys

import pytest

import outlast
from outlast.client import Client
from outlast.errors import CredentialError, NotFoundError, SpecError, StoreError, UsageError
from outlast.inside.move.engine import Failure, Outcome
from outlast.operations.transfer import failure_words


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("OUTLAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "OBS_ACCESS_KEY_ID", "ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").write_text("a")
    (folder / "sub" / "b").write_text("b")
    return folder


def test_copy_takes_paths_and_lists_and_says_what_it_did(data, tmp_path):
    outcome = outlast.copy(data, tmp_path / "one")
    assert (outcome.files, outcome.place, outcome.complete) == (2, f"{tmp_path}/one/", True)
    assert outlast.copy([data / "a", data / "sub"], f"{tmp_path}/two/").files == 2
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["a", "sub"]
    assert outlast.copy(data, tmp_path / "one").skipped == 2
    assert not (tmp_path / "home").exists()  # a copy needs no home


def test_copy_raises_in_the_words_of_the_outside(data, tmp_path):
    with pytest.raises(NotFoundError, match="there is nothing at"):
        outlast.copy(tmp_path / "missing", tmp_path / "dst")
    with pytest.raises(SpecError, match="onto itself"):
        outlast.copy(data, data)
    with pytest.raises(CredentialError):
        outlast.copy(data, "s3://some-bucket/x")
    with pytest.raises(SpecError, match="NUL"):
        outlast.copy(data, "a\0b")


def test_copy_raises_when_a_file_could_not_be_copied(data, tmp_path, monkeypatch):
    from outlast.inside.errors import PlaceError
    from outlast.inside.move import local

    def refuse(*_):
        raise PlaceError("the disk is gone")

    monkeypatch.setattr(local, "copy_file", refuse)
    with pytest.raises(StoreError, match=r"2 of 2 files could not be copied\n.*the disk is gone"):
        outlast.copy(data, tmp_path / "dst")


def test_failures_are_listed_up_to_ten():
    failures = [Failure(f"f{number}", "why") for number in range(25)]
    words = failure_words(Outcome("p", 5, 0, 0, 0, 0, failures, [], 0.0, False))
    assert words.startswith("25 of 30 files could not be copied\nf0: why\n") and words.endswith("\nand 15 more")


def test_the_client_has_the_same_verbs(data, tmp_path):
    files = Client().files
    assert files.copy(data, tmp_path / "dst").files == 2
    plan = files.plan(f"{data}/", f"{tmp_path}/new/")
    assert [step.target for step in plan.steps] == [f"{tmp_path}/new/a", f"{tmp_path}/new/sub/b"]
    (tmp_path / "dst/extra").write_text("e")
    assert files.sync(f"{data}/", f"{tmp_path}/dst/", delete=True).removed == 1
    assert [files.list(str(data)).name(item) for item in files.list(str(data)).items] == ["a", "sub/"]
    assert files.measure(str(data)).size_bytes == 2
    assert b"".join(files.read(str(data / "a"))) == b"a"
    assert files.make(str(tmp_path / "made")) == (f"{tmp_path}/made/", True)
    assert files.make(str(tmp_path / "made")) == (f"{tmp_path}/made/", False)
    with pytest.raises(UsageError, match="on this machine"):
        files.remove(str(data), recursive=True)
    with pytest.raises(UsageError, match="not a word of a copy: forced"):
        files.copy(data, tmp_path / "dst", forced=True)


def test_importing_outlast_does_not_load_the_mover():
    code = "import sys, outlast, outlast.client; print([m for m in sys.modules if 'move' in m or 'transfer' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
