"""LFS with the real git-lfs: large files, broken transfers, locks, and pointers that lie."""

import hashlib
import os
import random
import socket
import time

import pytest

from outlast.hub.pointers import Pointer, read_pointer, write_pointer
from outlast.inside import layout

MEDIA = {"Content-Type": "application/vnd.git-lfs+json; charset=utf-8", "Accept": "application/vnd.git-lfs+json"}


def _track(work, cwd="repo"):
    work.git("lfs", "install", "--local", cwd=cwd)
    work.git("lfs", "track", "--filename", "model.bin", cwd=cwd)


def _begin(hub_lab, work, size=3_000_000, kind="model", user="ann", **words):
    path = hub_lab.make(user, kind, **words)
    work.begin(user, path)
    _track(work)
    data = random.Random(path).randbytes(size)  # the path is drawn anew, and so are the bytes
    work.commit({"model.bin": data, "small.txt": "x"})
    return path, data, Pointer(hashlib.sha256(data).hexdigest(), size)


def _objects(hub_lab, path):
    return hub_lab.hub.objects(hub_lab.hub._read(*path.split("/")))


def _batch(hub_lab, user, path, operation, *pointers):
    body = {"operation": operation, "objects": [{"oid": oid, "size": size} for oid, size in pointers]}
    return hub_lab.call(user, "POST", f"/{path}.git/info/lfs/objects/batch", json=body, headers=MEDIA)


def test_a_large_file_goes_up_and_comes_back(hub_lab, work):
    path, data, pointer = _begin(hub_lab, work)
    work.push()
    assert (work.clone("ann", path, "again") / "model.bin").read_bytes() == data
    assert _objects(hub_lab, path).has(pointer)
    items = hub_lab.call("ann", "GET", f"/api/v1/repositories/{path}/items").json()["items"]
    assert {"path": "model.bin", "kind": "file", "size_bytes": len(data), "lfs": True} in items
    part = hub_lab.call(
        "ann", "GET", f"/api/v1/repositories/{path}/file?path=model.bin", headers={"Range": "bytes=5-9"}
    )
    assert (part.status_code, part.content) == (206, data[5:10])


def test_what_is_there_is_not_sent_again(hub_lab, work):
    path, _, pointer = _begin(hub_lab, work)
    work.push()
    sent = _batch(hub_lab, "ann", path, "upload", pointer).json()["objects"]
    assert sent == [{"oid": pointer.oid, "size": pointer.size_bytes}]


def test_a_broken_download_goes_on_where_it_stopped(hub_lab, work):
    path, data, pointer = _begin(hub_lab, work)
    work.push()
    cloned = work.folder / "again"
    work.git("clone", "--quiet", hub_lab.address("ann", path), "again", GIT_LFS_SKIP_SMUDGE="1")
    part = cloned / ".git" / "lfs" / "incomplete" / f"{pointer.oid}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(data[:2_000_000])
    told = work.run("git", "lfs", "pull", cwd="again", GIT_CURL_VERBOSE="1", GIT_TRACE="1").stderr
    assert "206 Partial Content" in told and "bytes 2000000-2999999/3000000" in told, told
    assert (cloned / "model.bin").read_bytes() == data


def test_a_broken_upload_leaves_nothing_and_can_be_repeated(hub_lab, work):
    path, data, pointer = _begin(hub_lab, work)
    head = (
        f"PUT /{path}.git/info/lfs/objects/{pointer.oid}/{pointer.size_bytes} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {hub_lab.tokens['ann']}\r\nContent-Length: {len(data)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", hub_lab.port)) as connection:
        connection.sendall(head.encode() + data[:1_500_000])
    aside = hub_lab.settings.home / "store" / ".tmp"
    deadline = time.monotonic() + 60
    while aside.is_dir() and any(aside.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _objects(hub_lab, path).all()
    work.push()
    assert _objects(hub_lab, path).has(pointer)


@pytest.mark.parametrize(
    "sent",
    [lambda data: data[:-1] + b"!", lambda data: data[:-1], lambda data: data + b"more"],
    ids=["other", "fewer", "more"],
)
def test_bytes_that_are_not_what_was_announced_are_refused(hub_lab, sent):
    path = hub_lab.make("ann")
    data = os.urandom(70_000)
    pointer = Pointer(hashlib.sha256(data).hexdigest(), len(data))
    put = hub_lab.call("ann", "PUT", f"/{path}.git/info/lfs/objects/{pointer.oid}/{len(data)}", content=sent(data))
    assert put.status_code == 400 and put.json()["message"]
    assert not _objects(hub_lab, path).has(pointer)
    body = {"oid": pointer.oid, "size": pointer.size_bytes}
    assert hub_lab.call("ann", "POST", f"/{path}.git/info/lfs/verify", json=body, headers=MEDIA).status_code == 404


def test_a_project_refuses_lfs_before_anything_is_sent(hub_lab, work):
    path, _, pointer = _begin(hub_lab, work, kind="project")
    said = work.refused("push", "origin", "main", cwd="repo")
    assert "is a project, which holds code only" in said and "model or dataset repository" in said
    assert not _objects(hub_lab, path).all()
    assert not (hub_lab.settings.home / "store" / layout.blob_key(pointer.oid)).exists()
    hook = work.folder / "repo" / ".git" / "hooks" / "pre-push"
    hook.unlink(missing_ok=True)  # a client that sends only the pointer is refused as well
    assert "a project holds code only" in work.refused("push", "origin", "main", cwd="repo")


def test_a_pointer_that_lies_is_refused(hub_lab, work):
    path, _, pointer = _begin(hub_lab, work)
    work.push()
    for lie in (Pointer(pointer.oid, pointer.size_bytes + 1), Pointer("0" * 64, 5)):
        work.git("config", "--local", "filter.lfs.clean", "cat", cwd="repo")
        work.git("config", "--local", "filter.lfs.process", "", cwd="repo")
        work.git("config", "--local", "filter.lfs.required", "false", cwd="repo")
        (work.folder / "repo" / ".git" / "hooks" / "pre-push").unlink(missing_ok=True)
        work.commit({"model.bin": write_pointer(lie)})
        said = work.refused("push", "origin", "main", cwd="repo")
        assert "the content of 1 file is not here" in said and "git lfs push --all origin" in said
        got = _batch(hub_lab, "ann", path, "download", lie).json()["objects"][0]
        assert got["error"]["code"] == 404
        work.git("reset", "--quiet", "--hard", "HEAD~1", cwd="repo", GIT_LFS_SKIP_SMUDGE="1")


def test_knowing_a_digest_gives_nobody_the_bytes(hub_lab, work):
    path, data, pointer = _begin(hub_lab, work)
    work.push()
    other = hub_lab.make("cas")
    asked = _batch(hub_lab, "cas", other, "upload", pointer).json()["objects"][0]
    assert "upload" in asked["actions"], "what only others have must be proven by sending it"
    assert _batch(hub_lab, "cas", other, "download", pointer).json()["objects"][0]["error"]["code"] == 404
    got = hub_lab.call("cas", "GET", f"/{other}.git/info/lfs/objects/{pointer.oid}/{pointer.size_bytes}")
    assert got.status_code == 404
    put = hub_lab.call("cas", "PUT", f"/{other}.git/info/lfs/objects/{pointer.oid}/{len(data)}", content=data)
    assert put.status_code == 200
    _objects(hub_lab, other).remove([pointer])
    assert _objects(hub_lab, path).has(pointer), "one repository's end does not touch another's"


def test_quotas_count_before_anything_is_sent(hub_lab, work):
    path, _, _ = _begin(hub_lab, work, size=200_000, user="tim")
    said = work.refused("push", "origin", "main", cwd="repo")
    assert "the group tiny uses" in said and "this push needs" in said
    assert not _objects(hub_lab, path).all()


def test_locks_keep_others_from_pushing(hub_lab, work):
    path = hub_lab.make("ann", "model", owner="vision")
    work.begin("ann", path)
    _track(work)
    work.commit({"model.bin": b"1" * 1000})
    work.push()
    work.git("lfs", "lock", "model.bin", cwd="repo")
    work.clone("ben", path, "bens")
    assert "model.bin" in work.git("lfs", "locks", cwd="bens")
    assert "locked by ann" in work.refused("lfs", "lock", "model.bin", cwd="bens")
    work.commit({"model.bin": b"2" * 1000}, "bens")
    assert "Cannot update locked files" in work.refused("push", "origin", "main", cwd="bens")
    lock = hub_lab.call("ben", "GET", f"/{path}.git/info/lfs/locks").json()["locks"][0]["id"]
    ended = hub_lab.call("ben", "POST", f"/{path}.git/info/lfs/locks/{lock}/unlock", json={}, headers=MEDIA)
    assert ended.status_code == 403 and "locked by ann" in ended.json()["message"]
    work.git("lfs", "unlock", "--force", "model.bin", cwd="bens")
    work.push("bens")


def test_pointers_are_read_only_when_they_are_pointers():
    pointer = Pointer("a" * 64, 123)
    assert read_pointer(write_pointer(pointer)) == pointer
    good = write_pointer(pointer).decode()
    for text in ("", "x", good + "more\n", "\n" + good, good.replace("sha256", "md5"), good.replace("123", "-1"),
                 good.replace("a" * 64, "A" * 64), good + " " * 1024):  # fmt: skip
        assert read_pointer(text.encode()) is None


def test_cleaning_spares_what_repositories_have(hub_lab, work):
    from outlast.store.clean import plan_clean

    path, _, pointer = _begin(hub_lab, work, size=50_000)
    work.push()
    later = time.time() + 86400
    store = hub_lab.hub.store
    assert layout.blob_key(pointer.oid) not in [each.key for each in plan_clean(store, now=later).blobs]
    hub_lab.hub.remove(hub_lab.hub._read(*path.split("/")))
    assert layout.blob_key(pointer.oid) in [each.key for each in plan_clean(store, now=later).blobs]


@pytest.mark.soak
def test_two_gibibytes_go_up_and_come_back(hub_lab, work):
    path = hub_lab.make("ann")
    work.begin("ann", path)
    _track(work)
    size = (2 << 30) + 12345
    with (work.folder / "repo" / "model.bin").open("wb") as out:
        block = random.Random(1).randbytes(1 << 20)
        for number in range(size >> 20):
            out.write(block[number % 1000 :] + block[: number % 1000])
        out.write(block[: size & ((1 << 20) - 1)])
    work.git("add", "--all", cwd="repo")
    work.git("commit", "--quiet", "-m", "large", cwd="repo")
    work.push()
    cloned = work.clone("ann", path, "again")
    with (work.folder / "repo" / "model.bin").open("rb") as sent, (cloned / "model.bin").open("rb") as come:
        digests = {hashlib.file_digest(file, "sha256").hexdigest() for file in (sent, come)}
    assert len(digests) == 1 and (cloned / "model.bin").stat().st_size == size
