"""Inputs that a run names from the repositories of Xihe: no clone, no hub of one's own."""

import re
import subprocess
import threading
from dataclasses import replace

import pytest

from outlast.errors import SpecError
from outlast.model.request import RunRequest
from outlast.model.visitor import Visitor
from outlast.operations.repositories import any_hub
from outlast.operations.resolve import resolve
from outlast.platforms.accounts import Account, Accounts
from outlast.platforms.xihe.repository import Remote
from outlast.settings import Settings
from outlast.store.assets import read_asset

LARGE = b"w" * 300_000
NAME = "named-numbers"


@pytest.fixture
def signed_in(bench, tmp_path):
    """The settings of a home that has an account on Xihe, called `there`, and nothing else."""

    def call(user="ann"):
        home = tmp_path / f"home-{user}"
        home.mkdir(exist_ok=True)
        values, secrets = {"endpoint": bench.lab.url, "user": user}, {"token": bench.lab.tokens[user]}
        Accounts(home).save(Account("there", "xihe", values, secrets), in_file=True)
        return Settings.load({"OUTLAST_HOME": str(home)})

    return call


@pytest.fixture
def numbers(bench):
    """A private data set of ann's: its first commit, which only a tag leads to any more, and its newest one."""
    platform, hub, commits = bench.platform, bench.lab.hub, []
    platform._rest.make_repository("dataset", "ann", NAME, "x")
    folder = hub.folder(hub.find(Visitor("ann"), "ann", NAME)) / "repository.git"
    for number in (b"1", b"2"):
        files = {"a/one.txt": number, "a/large [1],.bin": LARGE, "b/other.bin": LARGE + number}
        platform._remote.push("ann", NAME, files, "step", lfs=True)
        commits.append(platform._remote.head("ann", NAME))
        if number == b"1":
            command = ["git", "-c", "safe.directory=*", "--git-dir", str(folder), "tag", "--force", "v1", "main"]
            subprocess.run(command, check=True)
    return commits


def _find(settings, text, platforms=("local", "there"), visitor=None):
    return any_hub(settings, visitor, platforms)(read_asset(text), "--data")


def test_it_is_told_how_much_has_come(signed_in, numbers, monkeypatch):
    told, is_told, fetch = [], threading.Event(), Remote.fetch_objects

    def fetch_objects(self, folder, commit, path):
        fetch(self, folder, commit, path)
        assert is_told.wait(150), told

    def tell(words):
        told.append(words)
        if re.fullmatch(rf"bringing dataset:ann/{NAME} from there: 6\d\d\.\d KB", words):
            is_told.set()

    monkeypatch.setattr(Remote, "fetch_objects", fetch_objects)
    any_hub(signed_in(), None, ("there",), tell)(read_asset(f"dataset:ann/{NAME}"), "--data")
    assert told[0] == f"bringing dataset:ann/{NAME} from there"


def test_a_name_is_brought_home_pinned_with_its_large_files(signed_in, numbers):
    first, newest = numbers
    found = _find(signed_in(), f"dataset:ann/{NAME}")
    assert found.name == f"dataset:ann/{NAME}@{newest}"
    assert (found.path / "a/one.txt").read_bytes() == b"2"
    assert (found.path / "b/other.bin").read_bytes() == LARGE + b"2"
    for revision in ("v1", first):
        old = _find(signed_in(), f"dataset:ann/{NAME}/a@{revision}")
        assert old.name == f"dataset:ann/{NAME}/a@{first}"
        assert sorted(each.name for each in old.path.iterdir()) == ["large [1],.bin", "one.txt"]
        assert (old.path / "large [1],.bin").read_bytes() == LARGE
    file = _find(signed_in(), f"dataset:ann/{NAME}/b/other.bin@main")
    assert file.path.name == "other.bin" and file.path.read_bytes() == LARGE + b"2"


def test_what_cannot_be_seen_or_is_not_there_is_refused_in_words(signed_in, numbers):
    assert _find(signed_in("cas"), f"dataset:ann/{NAME}") is None, "private, so for cas it does not exist"
    assert _find(signed_in(), f"model:ann/{NAME}") is None
    assert _find(signed_in(), f"dataset:ann/{NAME}", platforms=("local",)) is None, "only where the run may go"
    assert _find(signed_in(), f"dataset:ann/{NAME}", visitor=Visitor("cas")) is None, "accounts are not for visitors"
    with pytest.raises(SpecError, match="has no revision 'v7'"):
        _find(signed_in(), f"dataset:ann/{NAME}@v7")
    with pytest.raises(SpecError, match="there is no 'zz'"):
        _find(signed_in(), f"dataset:ann/{NAME}/zz")


def test_a_run_records_the_commit_and_xihe_passes_it_by_name(bench, signed_in, numbers, tmp_path):
    (tmp_path / "train.py").write_text("print()")
    request = RunRequest(
        target=str(tmp_path / "train.py"),
        cwd=tmp_path,
        data=(f"digits=dataset:ann/{NAME}/a/one.txt",),
        platform="there",
    )
    (given,) = resolve(request, signed_in()).inputs
    assert given.asset == f"dataset:ann/{NAME}/a/one.txt@{numbers[1]}"
    script = "import os\nos.makedirs('out')\nopen('out/all', 'w').write(open('digits').read())\n"
    spec = bench.run(script, inputs=(replace(given, source="file:///gone"),))
    assert bench.stint(spec, 1).exit_code == 0
    assert bench.output(spec, "out/all") == b"2"
