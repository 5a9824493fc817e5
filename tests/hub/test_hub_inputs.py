"""Inputs named as in the hub: pinned to a commit, checked out whole, seen only by those who may."""

import contextlib
import dataclasses
import hashlib
import io
import os
import tarfile
import time
from pathlib import Path

import pytest
from hub_lab import Work

from outlast.errors import SpecError
from outlast.hub.pruning import prune
from outlast.model.request import RunRequest
from outlast.model.visitor import Visitor
from outlast.operations.clean import clean
from outlast.operations.resolve import resolve
from outlast.server.fences import check_request


@pytest.fixture
def ask(hub_lab, tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    settings = dataclasses.replace(hub_lab.settings, user="ann")

    def ask(*data, visitor=None):
        request = RunRequest(str(tmp_path / "train.py"), cwd=tmp_path, data=data, visitor=visitor)
        return resolve(request, settings).inputs[0]

    return ask


def _place(given):
    return Path(given.source.removeprefix("file://"))


@pytest.fixture(scope="session")
def pushed(hub_lab, tmp_path_factory):
    """A private data set of ann with a plain file, one in LFS and two commits, the first called v1; and who made it."""
    work = Work(hub_lab, tmp_path_factory.mktemp("dataset"))
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"train/a.txt": "one", "train/b.bin": b"large " * 100, "run.sh": "x"})
    work.git("tag", "v1", cwd="repo")
    work.commit({"train/a.txt": "two"})
    work.git("push", "--quiet", "origin", "main", "v1", cwd="repo")
    return path, work


@pytest.fixture
def dataset(pushed):
    return pushed[0]


def test_a_name_becomes_a_pinned_revision(pushed, ask):
    dataset, work = pushed
    newest = work.git("rev-parse", "main", cwd="repo").strip()
    first = work.git("rev-parse", "v1", cwd="repo").strip()
    given = ask(f"data=dataset:{dataset}")
    assert given.asset == f"dataset:{dataset}@{newest}" and given.path == "data"
    assert (_place(given) / "train" / "a.txt").read_text() == "two"
    assert (_place(given) / "train" / "b.bin").read_bytes() == b"large " * 100
    old = ask(f"dataset:{dataset}/train/a.txt@v1")
    assert old.asset == f"dataset:{dataset}/train/a.txt@{first}"
    assert _place(old).read_text() == "one" and old.path == "a.txt"
    assert ask(f"dataset:{dataset}").path == dataset.rpartition("/")[2], "beside the script, under its own name"
    folder = ask(f"dataset:{dataset}/train@{first[:10]}")
    assert sorted(each.name for each in _place(folder).iterdir()) == ["a.txt", "b.bin"]
    assert ask(f"dataset:{dataset}/train@v1").source == folder.source, "checked out once"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dataset:{path}@v9", "no revision 'v9'"), ("dataset:{path}/train/nope.txt", "there is no 'train/nope.txt'"),
        ("model:{path}", "is a dataset"), ("dataset:{path}@--all", "no revision"),
        ("dataset:{path}/../../x", "leads out"), ("dataset:ann/none", "lies in a hub, and no folder plays it here"),
    ],
)  # fmt: skip
def test_what_cannot_be_found_says_what_is_missing(dataset, ask, name, words):
    with pytest.raises(SpecError, match=words):
        ask("data=" + name.format(path=dataset))


def test_private_ones_of_others_do_not_exist(hub_lab, dataset, ask):
    stranger = Visitor("cas")
    with pytest.raises(SpecError) as hidden:
        ask(f"data=dataset:{dataset}", visitor=stranger)
    with pytest.raises(SpecError) as missing:
        ask("data=dataset:ann/none", visitor=stranger)
    assert str(hidden.value).replace(dataset, "ann/none") == str(missing.value)
    for visibility, is_seen in (("public", True), ("private", False)):
        changed = hub_lab.call("ann", "PATCH", f"/api/v1/repositories/{dataset}", json={"visibility": visibility})
        assert changed.status_code == 200
        with contextlib.nullcontext() if is_seen else pytest.raises(SpecError):
            assert ask(f"data=dataset:{dataset}", visitor=stranger).asset


def _send(hub_lab, user, files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path, data in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    data = packed.getvalue()
    digest = hashlib.sha256(data).hexdigest()
    hub_lab.call(user, "POST", "/api/v1/uploads", json={"sha256": digest, "size_bytes": len(data)})
    hub_lab.call(user, "PUT", f"/api/v1/uploads/{digest}/parts/1", content=data)
    assert hub_lab.call(user, "POST", f"/api/v1/uploads/{digest}/complete").status_code == 200
    return digest


@pytest.mark.parametrize("toml", [False, True])
def test_runs_of_a_server_use_what_their_user_may_see(hub_lab, dataset, toml):
    name = f"dataset:{dataset}"
    files = {"train.py": b"print(1)\n"}
    if toml:
        files["outlast.toml"] = f'[data]\nmnist = "{name}"\n'.encode()
    words = {} if toml else {"data": [f"mnist={name}"]}

    def plan(user):
        body = {"target": "train.py", "code": _send(hub_lab, user, files), **words}
        return hub_lab.call(user, "POST", "/api/v1/runs/plan", json=body)

    refused = plan("cas")
    assert refused.status_code == 400 and "lies in a hub" in refused.json()["message"], refused.text
    allowed = plan("ann")
    assert allowed.status_code == 200, allowed.text
    assert allowed.json()["spec"]["inputs"][0]["asset"].startswith(f"{name}@")


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../etc/passwd", "inner/../../../x"])
def test_a_link_that_leads_out_is_refused_and_nothing_is_left(hub_lab, work, ask, target):
    path = hub_lab.make("ann", "project")
    repo = work.begin("ann", path)
    (repo / "bad").symlink_to(target)
    (repo / "inner").mkdir()
    (repo / "inner" / "good").symlink_to("../bad")
    work.commit({"a.txt": "1"})
    work.push()
    with pytest.raises(SpecError, match="leads out of the repository"):
        ask(f"data=project:{path}")
    found = hub_lab.hub._read(*path.split("/"))
    left = hub_lab.settings.home / "cache" / "assets" / found.id
    assert not [each for each in left.glob("*/*") if each.is_dir()]


def test_objects_that_no_revision_names_are_forgotten_after_a_while(hub_lab, dataset):
    found = hub_lab.hub._read(*dataset.split("/"))
    data = os.urandom(1000)
    orphan = hashlib.sha256(data).hexdigest()
    hub_lab.call("ann", "PUT", f"/{dataset}.git/info/lfs/objects/{orphan}/1000", content=data)
    objects = hub_lab.hub.objects(found)
    assert len(objects.all()) == 2
    prune(hub_lab.hub)
    assert len(objects.all()) == 2, "a push may still be on its way"
    later = time.time() + 30 * 86400
    assert orphan in [each.oid for each in prune(hub_lab.hub, dry_run=True, now=later)]
    prune(hub_lab.hub, now=later)
    assert [each.size_bytes for each in objects.all()] == [600]


def test_checkouts_that_nobody_asks_for_are_cleaned(hub_lab, dataset, ask):
    folder = _place(ask(f"data=dataset:{dataset}/train")).parent
    clean(hub_lab.settings)
    assert folder.is_dir()
    os.utime(folder, (1, 1))
    clean(hub_lab.settings)
    assert not folder.exists()


def test_a_door_that_does_not_say_who_asks_gets_only_what_its_user_owns(hub_lab, dataset, tmp_path):
    (tmp_path / "train.py").write_text("print(1)\n")
    request = RunRequest(str(tmp_path / "train.py"), cwd=tmp_path, data=(f"data=dataset:{dataset}",))

    def check(user):
        check_request(request, dataclasses.replace(hub_lab.settings, user=user), tmp_path, ())

    check("ann")
    with pytest.raises(SpecError, match="lies in a hub"):
        check("cas")
