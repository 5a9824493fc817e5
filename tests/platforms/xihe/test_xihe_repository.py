"""Commits pushed to a hub: one at a time, the same for the same files, by LFS where they are large."""

import subprocess

import pytest

from outlast.errors import Unavailable
from outlast.model.visitor import Visitor

ODD = {"plain.txt": b"1", 'a "quoted" name': b"2", "back\\slash": b"3", "中文/文件": b"4", "with space/x": b""}


class Place:
    """A repository of ann's, and git on what the server has of it."""

    def __init__(self, bench, kind, name):
        bench.platform._rest.make_repository(kind, "ann", name, "x")
        self.remote, self.name = bench.platform._remote, name
        self.folder = bench.lab.hub.folder(bench.lab.hub.find(Visitor("ann"), "ann", name)) / "repository.git"

    def push(self, files, message="step", lfs=True):
        return self.remote.push("ann", self.name, files, message, lfs=lfs)

    def git(self, *words):
        command = ["git", "-c", "safe.directory=*", "-c", "core.quotePath=false", "--git-dir", str(self.folder), *words]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def paths(self):
        return sorted(filter(None, self.git("ls-tree", "-rz", "--name-only", "main").decode().split("\0")))

    def count(self):
        return int(self.git("rev-list", "--count", "main"))


def test_the_same_files_are_the_same_commit_and_history_stays_one_commit_long(bench):
    place = Place(bench, "model", "same-files")
    place.push(ODD)
    first = place.remote.head("ann", "same-files")
    assert place.paths() == sorted(ODD)
    assert all(place.git("show", f"main:{path}") == data for path, data in ODD.items())
    place.push(dict(reversed(ODD.items())))
    assert place.remote.head("ann", "same-files") == first
    place.push({"other": b"5"}, "another step")
    assert (place.paths(), place.count()) == (["other"], 1)


def test_a_large_file_goes_by_lfs_and_a_project_refuses_it(bench, tmp_path):
    large = tmp_path / "large.bin"
    large.write_bytes(b"w" * 300_000)
    place = Place(bench, "model", "large-files")
    pushed = place.push({"weights/large.bin": large, "small": b"s"})
    assert (pushed.files, pushed.large, pushed.size_bytes) == (2, 1, 300_001)
    assert b"oid sha256:" in place.git("show", "main:weights/large.bin")
    assert b"/weights/large.bin filter=lfs" in place.git("show", "main:.gitattributes")
    project = Place(bench, "project", "large-project")
    with pytest.raises(Unavailable, match=r"large\.bin is too large") as caught:
        project.push({"large.bin": large}, lfs=False)
    assert caught.value.why == "refused"


def test_a_protected_branch_is_continued_instead_of_replaced(bench):
    place = Place(bench, "model", "protected")
    place.push({"a": b"1"}, "first")
    place.git("config", "receive.denyNonFastForwards", "true")
    place.push({"b": b"2"}, "second")
    place.push({"c": b"3"}, "third")
    assert (place.paths(), place.count()) == (["c"], 3)


def test_a_repository_that_nobody_may_see_has_no_head_and_takes_no_push(bench):
    remote = bench.platform._remote
    assert remote.head("ann", "is-not-there") == remote.head("ben", "neither") == ""
    with pytest.raises(Unavailable, match="git push") as caught:
        remote.push("ben", "neither", {"a": b"1"}, "no", lfs=True)
    assert caught.value.why == "refused"


def test_a_machine_without_git_is_told_how_to_get_it(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="git is not installed") as caught:
        bench.platform._remote.push("ann", "any", {"a": b"1"}, "no", lfs=True)
    assert "apt install" in caught.value.hint
