"""Transfers of the real git-lfs over a way that breaks in the middle of an object."""

import contextlib
import hashlib
import random

import pytest
from cutting import Cutting

from outlast.hub.pointers import Pointer

SIZE = 12_000_000


@pytest.fixture
def begun(hub_lab, work):
    """A repository with one large file, committed and not pushed."""
    path = hub_lab.make("ann")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    data = random.Random(path).randbytes(SIZE)
    work.commit({"model.bin": data})
    return path, data, Pointer(hashlib.sha256(data).hexdigest(), SIZE)


def _through(hub_lab, way, path):
    return f"http://ann:{hub_lab.tokens['ann']}@127.0.0.1:{way.port}/{path}.git"


def test_a_download_that_breaks_twice_goes_on_each_time(hub_lab, work, begun):
    path, data, _ = begun
    work.push()
    with contextlib.closing(Cutting(hub_lab.port, down=(3_000_000, 4_000_000))) as way:
        work.git("clone", "--quiet", _through(hub_lab, way, path), "again", GIT_LFS_SKIP_SMUDGE="1")
        deadline = 5
        while work.run("git", "lfs", "pull", cwd="again").returncode and deadline:
            deadline -= 1  # git-lfs itself tries again eight times; on a slow machine it may take it for one failure
    assert (work.folder / "again" / "model.bin").read_bytes() == data
    assert [each for each, _ in way.cut] == ["down", "down"]
    places = [int(each) for each in way.ranges]
    assert len(places) >= 2 and 0 < places[0] < places[-1] < SIZE, places
    assert way.carried < 1.6 * SIZE, "what had arrived was not sent again"


def test_an_upload_that_breaks_is_sent_again_and_never_half_there(hub_lab, work, begun):
    path, data, pointer = begun
    objects = hub_lab.hub.objects(hub_lab.hub._read(*path.split("/")))
    with contextlib.closing(Cutting(hub_lab.port, up=(2_000_000, 5_000_000))) as way:
        work.git("remote", "set-url", "origin", _through(hub_lab, way, path), cwd="repo")
        tries = 5
        while work.run("git", "push", "origin", "main", cwd="repo").returncode and tries:
            assert not objects.all() or objects.has(pointer), "never half there"
            tries -= 1
    assert [each for each, _ in way.cut] == ["up", "up"]
    assert objects.has(pointer)
    assert (work.clone("ann", path, "again") / "model.bin").read_bytes() == data
    left = hub_lab.settings.home / "store" / ".tmp"
    assert not left.is_dir() or not [each for each in left.iterdir() if each.stat().st_size > SIZE]
    assert "ClientDisconnect" not in hub_lab.log.read_text(), "somebody who leaves is no bug of the server"


def test_a_push_whose_pack_breaks_off_changes_nothing(hub_lab, work):
    path = hub_lab.make("ann", "dataset")
    work.begin("ann", path, files={f"{number}.txt": random.Random(number).randbytes(90_000) for number in range(20)})
    with contextlib.closing(Cutting(hub_lab.port, up=(700_000,))) as way:
        work.git("remote", "set-url", "origin", _through(hub_lab, way, path), cwd="repo")
        work.refused("push", "origin", "main", cwd="repo")
        assert hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}").json()["commit"] is None
        work.push()
    cloned = work.clone("ann", path, "again")
    assert len(list(cloned.glob("*.txt"))) == 20
