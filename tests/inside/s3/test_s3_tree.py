"""Files in and out of a bucket of a real server, beside boto3."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from outlast.inside.errors import Changed, NotFound
from outlast.inside.move.base import FILE, FOLDER, Job, Moving, Report
from outlast.inside.s3.tree import S3Tree
from outlast.inside.s3.upload import part_size
from servers import faults
from servers.faulty import Faulty

MIB = 1 << 20
NAMES = [
    "plain.txt",
    "with space.txt",
    "数据/图 片.png",
    "quote'\"double.bin",
    "new\nline",
    "percent%20and+plus",
    "a/b/c/d/e/f/g/h.bin",
    "-dash",
    "~tilde",
    "emoji-😀",
    "semi;colon&amp=1?x#y",
    "tab\there",
]


class Notes(Report):
    def __init__(self):
        self.ended, self.trouble, self.bytes = [], {}, 0
        self.stop = False

    def moved(self, count):
        self.bytes += count

    def done(self, job):
        self.ended.append(job.path)

    def failed(self, job, error):
        self.trouble[job.path] = error

    def stopping(self):
        return self.stop


@pytest.fixture
def tree(seaweed):
    return S3Tree(seaweed.access, seaweed.bucket())


def job_for(path, key):
    status = Path(path).stat()
    return Job(str(path), key, status.st_size, status.st_mtime_ns)


def fetch_job(item, local):
    return Job(str(local), item.path, item.size_bytes, item.modified_ns, item.digest, item.tag)


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
def test_any_name_travels_there_and_back_and_boto3_reads_the_same(seaweed, tmp_path, secure):
    access = seaweed.access
    if secure:
        access = access._replace(endpoint=seaweed.tls_endpoint, ca_file=seaweed.ca_file)
    tree = S3Tree(access, seaweed.bucket())
    jobs = []
    for number, name in enumerate(NAMES):
        path = tmp_path / f"{number}"
        path.write_bytes(os.urandom(number * 1000))
        jobs.append(job_for(path, "in/" + name))
    notes = Notes()
    tree.send(iter(jobs), notes)
    assert notes.trouble == {}
    assert sorted(item.path for item in tree.walk("in")) == sorted(job.path for job in jobs)
    for job in jobs:
        body = seaweed.boto.get_object(Bucket=tree.client.bucket, Key=job.path)["Body"].read()
        assert body == Path(job.local).read_bytes()
    back = tmp_path / "back"
    back.mkdir()
    tree.fetch(
        (fetch_job(item, back / str(n)) for n, item in enumerate(tree.walk("in"))), notes, Moving(full_check=True)
    )
    assert notes.trouble == {}
    for number, item in enumerate(tree.walk("in")):
        assert hashlib.md5((back / str(number)).read_bytes()).hexdigest() == item.digest[4:]


def test_what_boto3_writes_is_read_and_listed(seaweed, tree):
    for name in NAMES:
        seaweed.boto.put_object(Bucket=tree.client.bucket, Key="theirs/" + name, Body=name.encode())
    assert sorted(item.path for item in tree.walk("theirs")) == sorted("theirs/" + name for name in NAMES)
    for name in NAMES:
        assert b"".join(tree.read("theirs/" + name)) == name.encode()


@pytest.mark.parametrize("signature", ["v2", "v4"])
def test_the_obs_sdk_and_we_read_each_other(seaweed, signature):
    obs = pytest.importorskip("obs")
    bucket = seaweed.bucket()
    theirs = obs.ObsClient(
        access_key_id=seaweed.key,
        secret_access_key=seaweed.secret,
        server=seaweed.endpoint,
        path_style=True,
        signature="v2",
    )
    tree = S3Tree(seaweed.access._replace(kind="obs", signature=signature), bucket)
    try:
        assert theirs.putContent(bucket, "from/them 数", b"theirs").status < 300
        tree.write("from/us 数", [b"ou", b"rs"], 4)
        assert b"".join(tree.read("from/them 数")) == b"theirs"
        assert theirs.getObject(bucket, "from/us 数", loadStreamInMemory=True).body.buffer == b"ours"
        assert [item.path for item in tree.walk("from")] == ["from/them 数", "from/us 数"]
    finally:
        theirs.close()


def test_large_files_go_in_parts_and_come_back_in_ranges(seaweed, tree, tmp_path):
    body = os.urandom(11 * MIB + 17)
    (tmp_path / "big").write_bytes(body)
    how = Moving(part_bytes=5 * MIB)
    notes = Notes()
    tree.send([job_for(tmp_path / "big", "big")], notes, how)
    assert (notes.ended, notes.trouble, notes.bytes) == (["big"], {}, len(body))
    item = tree.stat("big")
    assert item is not None and item.size_bytes == len(body)
    tree.fetch([fetch_job(item, tmp_path / "back")], notes, how)
    assert notes.trouble == {}
    assert (tmp_path / "back").read_bytes() == body
    assert sorted(os.listdir(tmp_path)) == ["back", "big"]


def test_an_interrupted_upload_sends_only_the_missing_parts(seaweed, tmp_path):
    body = os.urandom(4 * 5 * MIB)
    (tmp_path / "big").write_bytes(body)
    how = Moving(part_bytes=5 * MIB, journal=str(tmp_path / "journal"), workers=1)
    with Faulty(seaweed.endpoint) as proxy:
        tree = S3Tree(seaweed.access._replace(endpoint=proxy.url), seaweed.bucket())
        tree.client.server.policy = tree.client.server.policy._replace(tries=1)
        proxy.add(faults.drop(method="PUT", path="partNumber=4", times=faults.ALWAYS))
        first = Notes()
        tree.send([job_for(tmp_path / "big", "big")], first, how)
        assert list(first.trouble) == ["big"]
        assert tree.stat("big") is None
        proxy.clear()
        second = Notes()
        tree.send([job_for(tmp_path / "big", "big")], second, how)
        assert second.trouble == {}
        assert second.ended == ["big"] and second.bytes == len(body)
        sent = [seen.target for seen in proxy.seen if seen.method == "PUT"]
        assert 1 <= len(sent) <= 2 and any("partNumber=4" in target for target in sent)
        assert b"".join(tree.read("big")) == body
    assert os.listdir(tmp_path / "journal") == []


def test_an_interrupted_download_fetches_only_the_missing_ranges(seaweed, tmp_path):
    body = os.urandom(4 * 5 * MIB)
    with Faulty(seaweed.endpoint) as proxy:
        tree = S3Tree(seaweed.access._replace(endpoint=proxy.url), seaweed.bucket())
        tree.write("big", [body], len(body))
        item = tree.stat("big")
        how = Moving(part_bytes=5 * MIB, workers=1)
        tree.client.server.policy = tree.client.server.policy._replace(tries=1)
        proxy.clear()
        proxy.add(faults.drop(method="GET", skip=3, times=faults.ALWAYS))
        first = Notes()
        tree.fetch([fetch_job(item, tmp_path / "big")], first, how)
        assert list(first.trouble) == ["big"]
        assert "big" not in os.listdir(tmp_path)
        got = sum(1 for seen in proxy.seen if not seen.fault)
        proxy.clear()
        second = Notes()
        tree.fetch([fetch_job(item, tmp_path / "big")], second, how)
        assert second.trouble == {}
        assert second.ended == ["big"] and second.bytes == len(body)
        assert len(proxy.seen) == 4 - got > 0
        assert (tmp_path / "big").read_bytes() == body
        assert os.listdir(tmp_path) == ["big"]


def test_another_object_under_the_same_name_begins_anew(seaweed, tree, tmp_path):
    how = Moving(part_bytes=5 * MIB)
    old, new = os.urandom(10 * MIB), os.urandom(10 * MIB)
    tree.write("big", [old], len(old))
    stale = fetch_job(tree.stat("big"), tmp_path / "big")
    tree.write("big", [new], len(new))
    notes = Notes()
    tree.fetch([stale], notes, how)
    assert isinstance(notes.trouble["big"], Changed)
    tree.fetch([fetch_job(tree.stat("big"), tmp_path / "big")], notes, how)
    assert (tmp_path / "big").read_bytes() == new


def test_a_file_that_changes_while_it_is_listed_and_sent_is_noticed(tree, tmp_path):
    (tmp_path / "f").write_bytes(b"1" * 1000)
    job = job_for(tmp_path / "f", "f")
    (tmp_path / "f").write_bytes(b"2" * 1001)
    notes = Notes()
    tree.send([job], notes)
    assert isinstance(notes.trouble["f"], Changed)
    assert tree.stat("f") is None


def test_one_missing_file_does_not_stop_the_others(tree, tmp_path):
    (tmp_path / "there").write_bytes(b"x")
    jobs = [Job(str(tmp_path / "gone"), "gone", 3), job_for(tmp_path / "there", "there")]
    notes = Notes()
    tree.send(jobs, notes)
    assert notes.ended == ["there"]
    assert "No such file" in str(notes.trouble["gone"])
    notes = Notes()
    tree.fetch([Job(str(tmp_path / "x"), "nowhere", 3), fetch_job(tree.stat("there"), tmp_path / "y")], notes)
    assert notes.ended == ["there"]
    assert isinstance(notes.trouble["nowhere"], NotFound)


def test_a_wish_to_stop_is_heard_while_a_server_is_silent(seaweed, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    with Faulty(seaweed.endpoint) as proxy:
        tree = S3Tree(seaweed.access._replace(endpoint=proxy.url), seaweed.bucket())
        stall = faults.stall(method="PUT")
        proxy.add(stall)
        notes = Notes()
        thread = threading.Thread(target=tree.send, args=([job_for(tmp_path / "f", "f")], notes))
        thread.start()
        assert stall.reached.wait(150)
        notes.stop = True
        thread.join(150)
        assert not thread.is_alive()
    assert (notes.ended, notes.trouble) == ([], {})


def test_folders_are_seen_by_their_content_and_by_their_markers(tree):
    tree.make_folder("empty")
    tree.make_folder("full")
    tree.write("full/sub/file", [b"x"], 1)
    tree.write("top", [b"y"], 1)
    assert [(item.path, item.kind) for item in tree.children("")] == [
        ("empty", FOLDER), ("full", FOLDER), ("top", FILE),
    ]  # fmt: skip
    assert [(item.path, item.kind) for item in tree.walk("")] == [
        ("empty", FOLDER), ("full/sub/file", FILE), ("top", FILE),
    ]  # fmt: skip
    assert tree.stat("full").kind == FOLDER and tree.stat("empty").kind == FOLDER
    assert tree.stat("ful") is None and tree.stat("nothing") is None
    assert list(tree.walk("empty")) == [] and list(tree.children("empty")) == []
    tree.remove(["empty", "full/sub/file", "full", "was/never"])
    assert [item.path for item in tree.walk("")] == ["top"]


def test_more_keys_than_a_page_are_listed_in_order(seaweed, tree):
    keys = [f"many/{number:05d}" for number in range(2_350)]
    for begin in range(0, len(keys), 500):
        tree.send(_tiny(keys[begin : begin + 500]), Notes())
    assert [item.path for item in tree.walk("many")] == keys
    tree.remove(keys)
    assert list(tree.walk("many")) == []


def _tiny(keys):
    status = Path(os.devnull).stat()
    return [Job(os.devnull, key, 0, status.st_mtime_ns) for key in keys]


def test_copies_within_a_bucket_do_not_pass_through_here(tree):
    tree.write("a b/数", [b"content"], 7)
    assert tree.copy_within("a b/数", "c/d", 7) is True
    assert b"".join(tree.read("c/d")) == b"content"


def test_copies_too_large_for_one_request_go_in_parts(tree, monkeypatch):
    monkeypatch.setattr("outlast.inside.s3.tree.LARGEST_COPY_BYTES", 5 * MIB)
    monkeypatch.setattr("outlast.inside.s3.tree._COPY_PART_BYTES", 5 * MIB)
    body = os.urandom(11 * MIB)
    tree.write("a b/数", [body], len(body))
    assert tree.copy_within("a b/数", "c %41/d", len(body)) is True
    assert b"".join(tree.read("c %41/d")) == body
    with pytest.raises(NotFound):
        tree.copy_within("nothing", "e", 11 * MIB)
    assert tree.stat("e") is None


def test_names_that_no_list_of_names_can_carry_are_removed(seaweed, tree):
    names = ["bell\x07", "escape\x1b[0m", "plain"]
    for name in names:
        tree.write("odd/" + name, [b"x"], 1)
    assert [item.path for item in tree.walk("odd")] == ["odd/" + name for name in names]
    tree.remove(["odd/" + name for name in names])
    assert list(tree.walk("odd")) == []


def test_a_bucket_is_made_once(seaweed):
    from outlast.inside.s3.client import S3Client

    client = S3Client(seaweed.access, "made-" + os.urandom(5).hex())
    assert [client.make_bucket() for _ in range(3)] == [True, False, False]


def test_ranges_of_a_stream(tree):
    tree.write("k", [b"0123456789"], 10)
    assert b"".join(tree.read("k", 3, 4)) == b"3456"
    assert b"".join(tree.read("k", 8)) == b"89"
    assert b"".join(tree.read("k", 2, 0)) == b""
    with pytest.raises(NotFound):
        list(tree.read("none"))


def test_a_stream_that_breaks_off_leaves_nothing(tree):
    def broken():
        yield b"x" * (17 * MIB)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk is gone"):
        tree.write("torn", broken(), 40 * MIB)
    with pytest.raises(Changed):
        tree.write("torn", [b"too short"], 100)
    assert tree.stat("torn") is None


def test_parts_fit_every_size_a_store_takes():
    for size in (1, 5 << 30, 48 << 40):
        part = part_size(size)
        assert part % MIB == 0 and -(-size // part) <= 10_000
        assert part <= 5 << 30


def test_hundreds_of_files_of_half_a_megabyte_keep_coming(seaweed, tree, tmp_path):
    """Bodies somewhat larger than one read, one after the other on a few kept connections."""
    (tmp_path / "up").mkdir()
    sizes = [520_000 + 997 * number for number in range(80)]
    for number, size in enumerate(sizes):
        (tmp_path / "up" / f"{number:03d}").write_bytes(os.urandom(size))
    notes = Notes()
    tree.client.server.http.timeout_s = 20.0
    how = Moving(workers=3)
    tree.send((job_for(tmp_path / "up" / f"{number:03d}", f"half/{number:03d}") for number in range(80)), notes, how)
    (tmp_path / "down").mkdir()
    tree.fetch((fetch_job(item, tmp_path / "down" / item.path[5:]) for item in tree.walk("half")), notes, how)
    assert notes.trouble == {}
    for number in range(80):
        name = f"{number:03d}"
        assert (tmp_path / "down" / name).read_bytes() == (tmp_path / "up" / name).read_bytes()
