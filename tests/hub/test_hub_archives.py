"""A revision as one file: the same content as a clone, for those who may see it, in little memory."""

import gzip
import io
import os
import random
import socket
import stat
import subprocess
import tarfile
import time
import tracemalloc
import zipfile

import pytest
from hub_lab import Work

from outlast.hub.archives import open_archive, split_form
from outlast.hub.packing import TarGz, Zip
from outlast.hub.pointers import read_pointer

FORMS = ("zip", "tar.gz")


@pytest.fixture(scope="session")
def pushed(hub_lab, tmp_path_factory):
    """A private model of ann: text, a long and an odd name, a program, a link, weights in LFS; tag v1, branch a/b."""
    work = Work(hub_lab, tmp_path_factory.mktemp("model"))
    path = hub_lab.make("ann", "model")
    repo = work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    weights = random.Random(path).randbytes(2_500_000)
    work.commit({
        "config.json": "{}", "deep/" + "x" * 120 + ".txt": "long " * 2000, "名字 [1].txt": "odd",
        "run.sh": "#!/bin/sh\n", "empty.txt": "", "a/weights.bin": weights, "tiny.bin": b"\0\1", "looks.txt": "version https://git-lfs",
    })  # fmt: skip
    (repo / "run.sh").chmod(0o755)
    (repo / "link").symlink_to("config.json")
    work.commit({"b.txt": "b"})
    work.git("tag", "v1", cwd="repo")
    work.git("branch", "a/b", cwd="repo")
    work.commit({"config.json": '{"v": 2}'})
    work.git("push", "--quiet", "origin", "main", "v1", "a/b", cwd="repo")
    return path, repo, work


def _unpack(data, form, folder):
    folder.mkdir()
    if form == "zip":
        (folder / "x.zip").write_bytes(data)
        with zipfile.ZipFile(folder / "x.zip") as archive:
            assert archive.testzip() is None
            for info in archive.infolist():
                mode = info.external_attr >> 16
                if stat.S_ISLNK(mode):
                    target = folder / info.filename
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.symlink_to(archive.read(info).decode())
                else:
                    target = archive.extract(info, folder)
                    if mode:
                        os.chmod(target, mode & 0o777)
        (folder / "x.zip").unlink()
    else:
        subprocess.run(["tar", "-xzf", "-"], input=data, cwd=folder, check=True)
    (top,) = folder.iterdir()
    return top


def _files(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(".git/") or name == ".git" or (path.is_dir() and not path.is_symlink()):
            continue
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[name] = (content, path.is_symlink() or bool(path.stat().st_mode & 0o100))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("revision", ["v1", "main", "a/b", "HEAD"])
def test_an_archive_with_lfs_is_what_a_clone_checks_out(hub_lab, pushed, tmp_path, form, revision):
    path, _, work = pushed
    got = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/{revision}.{form}?lfs=1")
    assert got.status_code == 200, got.text
    commit = work.git("rev-parse", revision, cwd="repo").strip()
    assert got.headers["outlast-commit"] == commit
    called = f"{path.rpartition('/')[2]}-{commit[:12] if revision == 'HEAD' else revision.replace('/', '-')}"
    assert f'filename="{called}.{form}"' in got.headers["content-disposition"]
    top = _unpack(got.content, form, tmp_path / "got")
    assert top.name == called
    work.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "wanted"), revision, cwd="repo")
    assert _files(top) == _files(tmp_path / "wanted")


@pytest.mark.parametrize("form", FORMS)
def test_without_lfs_the_pointers_are_in_it(hub_lab, pushed, tmp_path, form):
    path, repo, _ = pushed
    got = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/main.{form}")
    top = _unpack(got.content, form, tmp_path / "got")
    pointer = read_pointer((top / "a" / "weights.bin").read_bytes())
    assert pointer is not None and pointer.size_bytes == (repo / "a" / "weights.bin").stat().st_size
    assert (top / "config.json").read_text() == '{"v": 2}'


def test_only_those_who_see_a_repository_get_an_archive_and_others_learn_nothing(hub_lab, pushed):
    path = pushed[0]
    for file in ("main.zip", "nothing.zip", "main.rar"):
        hidden = hub_lab.call("cas", "GET", f"/api/v1/repositories/{path}/archive/{file}")
        missing = hub_lab.call("cas", "GET", f"/api/v1/repositories/ann/none/archive/{file}")
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace(path, "ann/none") == missing.text
        assert hub_lab.call(None, "GET", f"/api/v1/repositories/{path}/archive/{file}").status_code == 401
    refused = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/main.rar")
    assert refused.status_code == 400 and ".zip or .tar.gz" in refused.json()["hint"]
    for revision in ("v9", "--output=x", "main^", "a..b", "x:y"):
        refused = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/{revision}.zip")
        assert refused.status_code in (400, 404) and "revision" in refused.json()["message"], refused.text
    empty = hub_lab.make("ann")
    assert "empty" in hub_lab.call("ann", "GET", f"/api/v1/repositories/{empty}/archive/HEAD.zip").json()["message"]


def test_content_that_was_never_uploaded_is_said_before_the_first_byte(hub_lab, pushed):
    path = pushed[0]
    found = hub_lab.hub._read(*path.split("/"))
    objects = hub_lab.hub.objects(found)
    lost = next(each for each in objects.all() if each.size_bytes == 2)
    objects.remove([lost])
    try:
        got = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/main.zip?lfs=1")
        assert got.status_code == 404 and "tiny.bin" in got.json()["message"]
        assert hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/main.zip").status_code == 200
    finally:
        objects.add([lost])


def test_a_damaged_object_breaks_the_archive_off(hub_lab, work):
    from outlast.errors import StoreError
    from outlast.inside import layout

    path = hub_lab.make("ann")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"w.bin": os.urandom(300_000)})
    work.push()
    found = hub_lab.hub._read(*path.split("/"))
    (pointer,) = hub_lab.hub.objects(found).all()
    blob = hub_lab.settings.home / "store" / layout.blob_key(pointer.oid)
    blob.chmod(0o600)
    blob.write_bytes(os.urandom(300_000))
    for form in FORMS:
        with pytest.raises(StoreError, match="does not match its digest"):
            list(open_archive(hub_lab.hub, found, "main", form, lfs=True)[1])


def test_a_reader_who_leaves_ends_git(hub_lab, pushed):
    found = hub_lab.hub._read(*pushed[0].split("/"))
    for lfs in (True, False):
        pieces = open_archive(hub_lab.hub, found, "main", "tar.gz", lfs=lfs)[1]
        next(pieces)
        pieces.close()
    with socket.create_connection(("127.0.0.1", hub_lab.port)) as connection:
        head = (
            f"GET /api/v1/repositories/{pushed[0]}/archive/main.zip?lfs=1 HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {hub_lab.tokens['ann']}\r\n\r\n"
        )
        connection.sendall(head.encode())
        connection.recv(1000)
    deadline = time.monotonic() + 60
    while (left := _children(hub_lab.process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [each for each in left if "archive" in each]


def _children(pid):
    listed = subprocess.run(["ps", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [line for line in listed.stdout.splitlines() if "git" in line]


@pytest.mark.parametrize("form", FORMS)
def test_memory_stays_small_however_large_the_files(hub_lab, work, form):
    path = hub_lab.make("ann")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    work.commit({"w.bin": random.Random(5).randbytes(64 << 20)})
    work.push()
    found = hub_lab.hub._read(*path.split("/"))
    tracemalloc.start()
    try:
        size = sum(map(len, open_archive(hub_lab.hub, found, "main", form, lfs=True)[1]))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 64 << 20 and peak < 16 << 20, peak


def test_an_entry_of_more_than_eight_gibibytes_has_a_head_that_says_so():
    info = tarfile.TarInfo("big")
    info.size = 9 << 30
    packer = TarGz("0" * 40)
    packer.begin(info, packed=False)
    packer.close()
    head = gzip.decompress(b"".join(packer.taken()))
    assert tarfile.TarFile.open(fileobj=io.BytesIO(head), mode="r|").next().size == 9 << 30
    zipped = Zip()
    zipped.begin(info, packed=False)
    assert b"\x2d\x00" in b"".join(zipped.taken())[:8], "version 4.5: sizes of 64 bits"


def test_endings_are_taken_apart():
    assert split_form("v1.0.tar.gz") == ("v1.0", "tar.gz")
    assert split_form("a/b.ZIP") == ("a/b", "zip")
