"""A hub whose store is a bucket: LFS, archives, inputs, publishing and cleaning, as over a folder."""

import hashlib
import io
import random
import sys
import threading
import time
import traceback
import zipfile

import pytest
from hub_lab import HubLab, Work

from outlast.client import Client
from outlast.errors import StoreError, UsageError
from outlast.hub.checkouts import Checkouts
from outlast.hub.objects import Objects
from outlast.hub.pointers import Pointer
from outlast.hub.pruning import prune
from outlast.inside import layout
from outlast.inside.errors import PlaceError
from outlast.store.clean import plan_clean
from outlast.testing.memory_store import MemoryStore

SIZE = 9_000_000  # more than one part of an upload
PATIENCE_S = 130  # each of our requests may itself wait two minutes for a server that is busy


@pytest.fixture(scope="module")
def lab(seaweed, tmp_path_factory):
    bucket = seaweed.bucket("hub")

    def prepare(settings):
        words = {"endpoint": seaweed.endpoint, "key": seaweed.key, "secret": seaweed.secret, "bucket": bucket}
        Client(settings=settings).login("s3", in_file=True, **words)

    lab = HubLab(tmp_path_factory.mktemp("hub-s3"), prepare, OUTLAST_STORE=f"s3://{bucket}/home")
    lab.seaweed, lab.bucket = seaweed, bucket
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def pushed(lab, tmp_path_factory):
    work = Work(lab, tmp_path_factory.mktemp("work-s3"))
    path = lab.make("ann", "model")
    work.begin("ann", path)
    work.git("lfs", "install", "--local", cwd="repo")
    work.git("lfs", "track", "*.bin", cwd="repo")
    data = random.Random(7).randbytes(SIZE)
    work.commit({"model.bin": data, "empty.bin": b"", "a.txt": "1"})
    work.push()
    return path, data, Pointer(hashlib.sha256(data).hexdigest(), SIZE), work


def _keys(lab, prefix="home/"):
    pages = lab.seaweed.boto.get_paginator("list_objects_v2").paginate(Bucket=lab.bucket, Prefix=prefix)
    return [each["Key"] for page in pages for each in page.get("Contents", ())]


def test_a_large_file_goes_up_to_the_bucket_and_comes_back(lab, pushed):
    path, data, pointer, work = pushed
    assert f"home/{layout.blob_key(pointer.oid)}" in _keys(lab)
    assert not (lab.settings.home / "store" / layout.blob_key(pointer.oid)).exists()
    assert (work.clone("ann", path, "again") / "model.bin").read_bytes() == data
    part = lab.call("ann", "GET", f"/{path}.git/info/lfs/objects/{pointer.oid}/{SIZE}", headers={"Range": "bytes=5-9"})
    assert (part.status_code, part.content) == (206, data[5:10])


def test_bytes_that_are_not_what_was_announced_reach_nothing(lab):
    path = lab.make("ann")
    data = random.Random(8).randbytes(70_000)
    oid = hashlib.sha256(data).hexdigest()
    before = _keys(lab)
    put = lab.call("ann", "PUT", f"/{path}.git/info/lfs/objects/{oid}/{len(data)}", content=data[:-1] + b"!")
    assert put.status_code == 400 and _keys(lab) == before


def test_archives_and_inputs_read_from_the_bucket(lab, pushed, tmp_path):
    path, data, *_ = pushed
    got = lab.call("ann", "GET", f"/api/v1/repositories/{path}/archive/main.zip?lfs=1")
    with zipfile.ZipFile(io.BytesIO(got.content)) as archive:
        assert archive.read(f"{path.rpartition('/')[2]}-main/model.bin") == data
    found = lab.hub._read(*path.split("/"))
    brought = Checkouts(lab.hub, tmp_path / "assets").bring(found, lab.hub.bare(found).commit(), "model.bin")
    assert brought.read_bytes() == data


def test_results_become_a_model_without_a_copy_and_a_fork_shares_them(lab):
    weights = random.Random(9).randbytes(300_000)
    run = lab.add_run("ann", {"w.bin": weights})
    before = len(_keys(lab, "home/blobs/"))
    done = lab.call("ann", "POST", f"/api/v1/runs/{run}/publish", json={"repository": "ann/in-bucket"})
    assert done.status_code == 201 and done.json()["copied_bytes"] == 0, done.text
    forked = lab.call("ann", "POST", "/api/v1/repositories/ann/in-bucket/fork", json={"to": "ann/forked"})
    assert forked.status_code == 201, forked.text
    assert len(_keys(lab, "home/blobs/")) == before
    assert lab.call("ann", "DELETE", "/api/v1/repositories/ann/in-bucket").status_code == 200
    got = lab.call("ann", "GET", "/api/v1/repositories/ann/forked/file?path=w.bin")
    assert got.content == weights


def test_cleaning_spares_what_repositories_have_and_pruning_forgets(lab, pushed, tmp_path):
    path, _, pointer, _ = pushed
    found = lab.hub._read(*path.split("/"))
    orphan = b"orphan " * 1000
    oid = hashlib.sha256(orphan).hexdigest()
    lab.call("ann", "PUT", f"/{path}.git/info/lfs/objects/{oid}/{len(orphan)}", content=orphan)
    later = time.time() + 30 * 86400
    doomed = {each.key for each in plan_clean(lab.hub.store, now=later).blobs}
    assert layout.blob_key(pointer.oid) not in doomed and layout.blob_key(oid) not in doomed
    assert oid in [each.oid for each in prune(lab.hub, now=later)]
    assert pointer in lab.hub.objects(found).all()
    assert layout.blob_key(oid) in {each.key for each in plan_clean(lab.hub.store, now=later).blobs}


def _receive(lab, data, pieces, wrong=b""):
    found = lab.hub._read(*lab.make("ann").split("/"))
    pointer = Pointer(hashlib.sha256(data).hexdigest(), len(data))
    receiving = lab.hub.objects(found).receive(pointer)
    for start in range(0, pieces << 20, 1 << 20):
        piece = data[start : start + (1 << 20)]
        receiving.write(piece if start else wrong + piece[len(wrong) :])
    return found, pointer, receiving


def _wait(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _is_let_go(lab, oid):
    """Whether nothing is left once those who write have ended: until then an upload may be about to begin."""
    for each in _writing():
        each.join(PATIENCE_S)
    return not _writing() and not _unfinished(lab, oid)


def _writing():
    return [each for each in threading.enumerate() if each.name == "outlast-flowing"]


def _unfinished(lab, oid):
    listed = lab.seaweed.boto.list_multipart_uploads(Bucket=lab.bucket).get("Uploads", ())
    return [each for each in listed if each["Key"].endswith(oid[2:])]


def _what_is_left(lab, oid):
    """The uploads with their parts, and where the threads are that should have let go of them."""
    left = _unfinished(lab, oid)
    parts = [
        lab.seaweed.boto.list_parts(Bucket=lab.bucket, Key=each["Key"], UploadId=each["UploadId"]).get("Parts", ())
        for each in left
    ]
    frames = sys._current_frames()
    return (
        left,
        parts,
        ["".join(traceback.format_stack(frames[each.ident])) for each in _writing() if each.ident in frames],
    )


def test_a_large_object_is_on_its_way_before_its_last_byte_came(lab):
    data = random.Random(11).randbytes(40 << 20)
    found, pointer, receiving = _receive(lab, data, 38)
    assert _wait(lambda: _unfinished(lab, pointer.oid)), "parts are there already"
    assert not lab.hub.objects(found).has(pointer)
    receiving.write(data[38 << 20 :])
    receiving.finish()
    assert lab.hub.objects(found).has(pointer) and not _unfinished(lab, pointer.oid)
    assert lab.hub.objects(found).read(pointer, (39 << 20) - 5, 10) == data[(39 << 20) - 5 : (39 << 20) + 5]


def test_a_large_object_that_breaks_off_or_lies_leaves_nothing(lab):
    data = random.Random(12).randbytes(36 << 20)
    found, pointer, receiving = _receive(lab, data, 34)
    assert _wait(lambda: _unfinished(lab, pointer.oid))
    receiving.abort()
    assert _is_let_go(lab, pointer.oid), _what_is_left(lab, pointer.oid)
    found, pointer, receiving = _receive(lab, data, 36, wrong=b"?")
    with pytest.raises(UsageError, match="what was sent is not"):
        receiving.finish()
    receiving.abort()
    assert _is_let_go(lab, pointer.oid), _what_is_left(lab, pointer.oid)
    assert not lab.hub.objects(found).has(pointer) and f"home/{layout.blob_key(pointer.oid)}" not in _keys(lab)


def test_a_store_that_fails_half_way_is_said_to_the_sender():
    class Broken(MemoryStore):
        def put(self, key, data):
            data.read()
            raise PlaceError("the disk is full")

    data = bytes(20 << 20)
    receiving = Objects(Broken(), "id").receive(Pointer(hashlib.sha256(data).hexdigest(), len(data)))
    with pytest.raises(StoreError, match="the disk is full"):
        for start in range(0, len(data), 1 << 20):
            receiving.write(data[start : start + (1 << 20)])
        receiving.finish()
