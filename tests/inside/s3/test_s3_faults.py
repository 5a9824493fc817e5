"""Everything that can go wrong between the client and a real server, and that it costs patience and nothing else."""

from __future__ import annotations

import os
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from outlast.inside.errors import AccessDenied, Changed, Damaged, InsideError, NotFound, PlaceError, RequestError
from outlast.inside.move.base import Job, Moving, Report
from outlast.inside.net.retry import Policy
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.store import S3Store
from outlast.inside.s3.tree import S3Tree
from servers import faults
from servers.faulty import Faulty

HASTY = Policy(tries=4, first_s=0.01, longest_s=0.05, total_s=20.0)


class Notes(Report):
    def __init__(self):
        self.ended, self.trouble, self.bytes = [], {}, 0

    def moved(self, count):
        self.bytes += count

    def done(self, job):
        self.ended.append(job.path)

    def failed(self, job, error):
        self.trouble[job.path] = error


@pytest.fixture
def proxy(seaweed):
    with Faulty(seaweed.endpoint) as proxy:
        yield proxy


@pytest.fixture
def tree(seaweed, proxy):
    tree = S3Tree(seaweed.access._replace(endpoint=proxy.url), seaweed.bucket())
    tree.client.server.policy = HASTY
    tree.client.server.http.timeout_s = 1.0
    return tree


@pytest.fixture
def client(tree) -> S3Client:
    return tree.client


def job_for(path, key, **fields):
    status = Path(path).stat()
    return Job(str(path), key, status.st_size, status.st_mtime_ns, **fields)


def fetch_job(client, key, local, **fields):
    item = client.head(key)
    return Job(str(local), key, item.size_bytes, item.modified_ns, item.digest, item.tag)._replace(**fields)


PASSING = [
    faults.drop(times=2),
    faults.drop(reset=True),
    faults.drop_after(),
    faults.slow_down(times=3),
    faults.slow_down(retry_after_s=0.02),
    faults.slow_down(early=True),
    faults.too_many(),
    faults.server_error(times=2),
    faults.answer(502),
    faults.answer(504),
    faults.answer(400, "RequestTimeout"),
    faults.answer(400, "BadDigest"),
    faults.stall(),
]


@pytest.mark.parametrize("number", range(len(PASSING)), ids=lambda n: f"{n}-{PASSING[n].name}")
@pytest.mark.parametrize("size", [3, 300_000])
def test_an_upload_outlives_passing_trouble(tree, proxy, tmp_path, number, size):
    body = os.urandom(size)
    (tmp_path / "f").write_bytes(body)
    proxy.add(PASSING[number].__class__(**{**_fields(PASSING[number]), "method": "PUT"}))
    notes = Notes()
    tree.send([job_for(tmp_path / "f", "k")], notes)
    assert (notes.ended, notes.trouble) == (["k"], {})
    assert tree.client.get("k") == body
    assert notes.bytes == size
    assert not proxy.waiting


def _fields(fault):
    return {
        name: getattr(fault, name)
        for name in ("kind", "times", "reset", "early", "status", "headers", "body", "at", "piece_bytes", "pause_s")
    }


DOWN = [
    faults.cut(times=3),
    faults.cut(at=0),
    faults.cut(at=1),
    faults.drop(times=2),
    faults.stall_in_body(),
    faults.slow_down(times=2),
    faults.server_error(),
    faults.drip(piece_bytes=100_000, pause_s=0.001),
]


@pytest.mark.parametrize("number", range(len(DOWN)), ids=lambda n: f"{n}-{DOWN[n].name}")
def test_a_download_goes_on_where_it_broke(tree, client, proxy, tmp_path, number):
    body = os.urandom(1_500_000)
    client.put("k", body)
    job = fetch_job(client, "k", tmp_path / "f")
    proxy.add(DOWN[number].__class__(**{**_fields(DOWN[number]), "method": "GET"}))
    notes = Notes()
    tree.fetch([job], notes)
    assert (notes.ended, notes.trouble) == (["k"], {})
    assert (tmp_path / "f").read_bytes() == body
    assert (tmp_path / "f").stat().st_mtime_ns == job.modified_ns
    assert os.listdir(tmp_path) == ["f"]
    assert notes.bytes == len(body)


def test_bytes_damaged_on_the_way_up_are_sent_again(tree, proxy, tmp_path):
    body = os.urandom(500_000)
    (tmp_path / "f").write_bytes(body)
    tree.client.put("warm", b"")
    proxy.add(faults.corrupt_request(method="PUT", path="/k", times=2))
    notes = Notes()
    tree.send([job_for(tmp_path / "f", "k")], notes)
    assert (notes.ended, notes.trouble) == (["k"], {})
    assert tree.client.get("k") == body


def test_bytes_damaged_on_the_way_down_are_named(tree, client, proxy, tmp_path):
    client.put("k", os.urandom(400_000))
    proxy.add(faults.corrupt(method="GET", times=faults.ALWAYS))
    notes = Notes()
    tree.fetch([fetch_job(client, "k", tmp_path / "f")], notes, Moving(full_check=True))
    assert isinstance(notes.trouble["k"], Damaged)
    assert os.listdir(tmp_path) == []


def test_bytes_damaged_once_on_the_way_down_are_fetched_again(tree, client, proxy, tmp_path):
    body = os.urandom(400_000)
    client.put("k", body)
    proxy.add(faults.corrupt(method="GET"))
    notes = Notes()
    tree.fetch([fetch_job(client, "k", tmp_path / "f")], notes, Moving(full_check=True))
    assert (notes.ended, notes.trouble, notes.bytes) == (["k"], {}, len(body))
    assert (tmp_path / "f").read_bytes() == body


def test_an_answer_shortened_on_the_way_is_never_taken_for_the_file(tree, client, proxy, tmp_path):
    client.put("k", os.urandom(400_000))
    proxy.add(faults.truncate(method="GET", times=faults.ALWAYS))
    notes = Notes()
    tree.fetch([fetch_job(client, "k", tmp_path / "f")], notes)
    assert isinstance(notes.trouble["k"], Changed)
    assert os.listdir(tmp_path) == []


def test_trouble_that_stays_ends_in_one_error_and_a_second_attempt_finishes(tree, proxy, tmp_path):
    for name in ("a", "b", "c"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
    jobs = [job_for(tmp_path / name, name) for name in ("a", "b", "c")]
    proxy.add(faults.slow_down(method="PUT", path="/b$", times=faults.ALWAYS))
    notes = Notes()
    tree.send(jobs, notes)
    assert sorted(notes.ended) == ["a", "c"]
    assert isinstance(notes.trouble["b"], PlaceError)
    assert "503 SlowDown" in str(notes.trouble["b"])
    assert sum(seen.target.endswith("/b") for seen in proxy.seen) == HASTY.tries
    proxy.clear()
    again = Notes()
    tree.send([jobs[1]], again)
    assert again.ended == ["b"]


def test_a_server_that_is_gone_is_named(seaweed, tmp_path):
    with Faulty(seaweed.endpoint) as gone:
        url = gone.url
    client = S3Client(seaweed.access._replace(endpoint=url), "bucket", HASTY)
    with pytest.raises(PlaceError, match=r"cannot connect to 127.0.0.1:\d+: Connection refused"):
        client.get("k")


def test_a_wrong_clock_is_mended_by_the_servers(client, proxy, monkeypatch):
    real = time.time
    monkeypatch.setattr("outlast.inside.signing.v4.time.time", lambda: real() - 7200)
    proxy.add(faults.skewed(formatdate(real(), usegmt=True)))
    assert client.put("k", b"x") is True
    assert abs(client.server.signer.offset_s - 7200) < 60


def test_a_wrong_clock_is_noticed_where_the_answer_has_no_body(client, proxy, monkeypatch):
    client.put("k", b"x")
    real = time.time
    monkeypatch.setattr("outlast.inside.signing.v4.time.time", lambda: real() - 7200)
    proxy.add(faults.skewed(formatdate(real(), usegmt=True), method="HEAD"))
    assert client.head("k") is not None


def test_files_sent_side_by_side_all_outlive_a_wrong_clock(tree, proxy, tmp_path, monkeypatch):
    for number in range(64):
        (tmp_path / str(number)).write_bytes(b"x")
    # Which requests are refused is a matter of chance: one that comes again may be refused again.
    tree.client.server.policy = HASTY._replace(tries=20)
    real = time.time
    monkeypatch.setattr("outlast.inside.signing.v4.time.time", lambda: real() - 7200)
    proxy.add(faults.skewed(formatdate(real(), usegmt=True), method="PUT", times=32))
    notes = Notes()
    tree.send((job_for(tmp_path / str(number), str(number)) for number in range(64)), notes)
    assert (len(notes.ended), notes.trouble) == (64, {})


def test_a_clock_that_is_set_right_later_is_mended_again(client, proxy, monkeypatch):
    real = time.time
    for wrong_s in (-7200, 0, 3600):
        monkeypatch.setattr("outlast.inside.signing.v4.time.time", lambda wrong_s=wrong_s: real() + wrong_s)
        proxy.add(faults.skewed(formatdate(real(), usegmt=True)))
        assert client.put("k", b"x") is True
        assert abs(client.server.signer.offset_s + wrong_s) < 60


def test_a_clock_that_stays_wrong_is_said(client, proxy):
    proxy.add(faults.skewed(formatdate(time.time(), usegmt=True), times=faults.ALWAYS))
    with pytest.raises(AccessDenied, match="clock is wrong"):
        client.get("k")


def test_wrong_keys_end_everything_at_once(seaweed, proxy, tmp_path):
    bucket = seaweed.bucket()
    for number in range(200):
        (tmp_path / str(number)).write_bytes(b"x")
    tree = S3Tree(seaweed.access._replace(endpoint=proxy.url, secret="wrong"), bucket)
    notes = Notes()
    with pytest.raises(AccessDenied, match="SignatureDoesNotMatch"):
        tree.send((job_for(tmp_path / str(number), str(number)) for number in range(200)), notes)
    assert len(proxy.seen) < 100


def test_a_claim_whose_answer_got_lost_is_still_ours(seaweed, proxy, tree):
    store = S3Store(tree.client.access, tree.client.bucket, "runs")
    store._client.server.policy = HASTY
    assert store.put_if_absent("warm", b"up") is True
    proxy.add(faults.drop_after(method="PUT", path="claim"))
    assert store.put_if_absent("claim", b"token-1") is True
    assert store.put_if_absent("claim", b"token-2") is False
    proxy.add(faults.drop_after(method="PUT", path="claim"))
    assert store.put_if_absent("claim", b"token-3") is False
    assert store.get("claim") == b"token-1"


def test_a_conditional_write_that_is_told_to_ask_again_asks_again(client, proxy):
    proxy.add(faults.answer(409, "ConditionalRequestConflict", method="PUT", times=2))
    assert client.put("claim", b"token-1", if_absent=True) is True
    proxy.add(faults.answer(409, "ConditionalRequestConflict", method="PUT"))
    assert client.put("claim", b"token-2", if_absent=True) is False
    assert client.get("claim") == b"token-1"


def test_a_blob_too_large_for_one_copy_is_touched_in_parts(tree, proxy, monkeypatch):
    monkeypatch.setattr("outlast.inside.s3.store.LARGEST_COPY_BYTES", 5 << 20)
    monkeypatch.setattr("outlast.inside.s3.tree._COPY_PART_BYTES", 5 << 20)
    store = S3Store(tree.client.access, tree.client.bucket, "blobs")
    store._client.server.policy = HASTY
    bodies = {"large 数": os.urandom(11 << 20), "small": b"x"}
    for key, body in bodies.items():
        store.put(key, body)
    proxy.add(*(faults.answer(400, "InvalidRequest", method="PUT", path=name) for name in ("large", "small")))
    assert store.touch("large 数") is True
    assert store.get("large 数") == bodies["large 数"]
    with pytest.raises(RequestError, match="InvalidRequest"):
        store.touch("small")


def test_a_missing_key_and_a_missing_bucket_are_told_apart(seaweed, client):
    with pytest.raises(NotFound):
        client.get("nothing")
    with pytest.raises(RequestError, match="no bucket s3://no-such-bucket-here; make it with: outlast mb"):
        S3Client(seaweed.access, "no-such-bucket-here").get("k")


def test_something_that_is_no_object_store_is_said(client, proxy):
    proxy.add(faults.answer(200))
    with pytest.raises(InsideError, match="not the XML of an object store"):
        list(client.list(""))


def test_a_server_that_is_gone_ends_a_copy_of_many_files_soon(seaweed, tmp_path):
    (tmp_path / "f").write_bytes(b"x")
    with Faulty(seaweed.endpoint) as gone:
        url = gone.url
    tree = S3Tree(seaweed.access._replace(endpoint=url), "bucket")
    tree.client.server.policy = HASTY
    notes = Notes()
    with pytest.raises(PlaceError, match="Connection refused"):
        tree.send((job_for(tmp_path / "f", str(number)) for number in range(100_000)), notes)
    assert len(notes.trouble) < 200
