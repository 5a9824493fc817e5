"""Inputs that lie in a bucket: fetched once, compared afterwards, and named when they cannot be had."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time

import pytest
from stintbench import StintBench

from outlast.inside.move.packing import send_packed
from outlast.inside.s3.tree import S3Tree
from servers.faults import ALWAYS, corrupt, stall
from servers.faulty import Faulty

FILES = {"a.bin": b"A" * 3000, "一 类/图 1.bin": os.urandom(70000), "deep/er/empty": b"", "deep/it's": b"x"}

#: Prints a digest of everything below its input, and whether it may write there.
READING = """
import hashlib, os, sys
where = %r
paths = [where] if os.path.isfile(where) else [
    os.path.join(folder, name) for folder, _, names in os.walk(where) for name in names]
for path in sorted(paths):
    with open(path, "rb") as file:
        print(os.path.relpath(path, where), hashlib.md5(file.read()).hexdigest(), oct(os.stat(path).st_mode & 0o222))
"""


class Shop:
    """A bucket with data in it, seen through a proxy that counts."""

    def __init__(self, seaweed, proxy):
        self.bucket = seaweed.bucket()
        self.boto = seaweed.boto
        self.proxy = proxy
        self.access = seaweed.access._replace(endpoint=proxy.url, conditional=True)
        self.tree = S3Tree(seaweed.access, self.bucket)
        for name, data in FILES.items():
            self.put("sets/pets/" + name, data)

    def put(self, key, data):
        self.boto.put_object(Bucket=self.bucket, Key=key, Body=data)

    def bench(self, folder, source="sets/pets", path="pets", writable=False):
        given = {"name": "pets", "source": f"s3://{self.bucket}/{source}", "path": path, "writable": writable}
        bench = StintBench(folder, READING % path, inputs=[given])
        # The run folder lies on this machine: what passes the proxy is the input alone.
        bench.access, bench.keys_for = self.access, f"s3://{self.bucket}"
        return bench

    def fetched(self):
        """Objects whose bytes went over since the last time."""
        found = [seen.target for seen in self.proxy.seen if seen.method == "GET" and "prefix=" not in seen.target]
        self.proxy.clear()
        return found


@pytest.fixture
def shop(seaweed):
    with Faulty(seaweed.endpoint) as proxy:
        yield Shop(seaweed, proxy)


def lines(files):
    return [f"{name} {hashlib.md5(data).hexdigest()}" for name, data in sorted(files.items())]


def assert_read(bench, stint, files):
    log = bench.log(stint)
    assert bench.end(stint).reason == "finished", log
    for line in lines(files):
        assert line in log


def test_folder_is_fetched_once_and_only_compared_afterwards(tmp_path, shop):
    bench = shop.bench(tmp_path)
    end = bench.play(1)
    assert_read(bench, 1, FILES)
    assert "fetched input pets: 4 files, 71.3 KB in " in bench.log(1)
    assert end.phases["fetching"] > 0 and len(shop.fetched()) >= 3
    bench.play(2)
    assert_read(bench, 2, FILES)
    assert "input pets is here already" in bench.log(2)
    assert shop.fetched() == []


def test_changed_data_is_fetched_anew_and_the_old_copy_stays(tmp_path, shop):
    bench = shop.bench(tmp_path)
    bench.play(1)
    changed = {**FILES, "a.bin": b"B" * 3000}
    shop.put("sets/pets/a.bin", changed["a.bin"])
    bench.play(2)
    assert_read(bench, 2, changed)
    assert len([path for path in (tmp_path / "cache" / "inputs").iterdir() if path.is_dir()]) == 2


def test_copy_that_was_tampered_with_is_mended(tmp_path, shop):
    bench = shop.bench(tmp_path)
    bench.play(1)
    data = next((tmp_path / "cache" / "inputs").glob("*/data"))
    assert (data / "a.bin").stat().st_mode & 0o222 == 0  # without a sandbox this is all that protects it
    (data / "a.bin").chmod(0o644)
    (data / "a.bin").write_bytes(b"spoilt")
    (data / "deep/it's").unlink()
    shop.fetched()
    bench.play(2)
    assert_read(bench, 2, FILES)
    assert len(shop.fetched()) == 2


def test_packed_place_is_unpacked_on_arrival(tmp_path, shop):
    source = tmp_path / "source"
    for name, data in FILES.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(data)
    send_packed(str(source), shop.tree, "packed/pets")
    bench = shop.bench(tmp_path / "b", "packed/pets/")
    bench.play(1)
    assert_read(bench, 1, FILES)
    assert "index.jsonl" not in bench.log(1)
    shop.fetched()
    bench.play(2)
    assert "input pets is here already" in bench.log(2)
    assert all("index.jsonl" in target for target in shop.fetched())


def test_single_file_and_writable_copy(tmp_path, shop):
    bench = shop.bench(tmp_path, "sets/pets/a.bin", "labels.bin", writable=True)
    bench.play(1)
    assert_read(bench, 1, {".": FILES["a.bin"]})
    assert "0o200" in bench.log(1)


def test_what_cannot_be_had_is_named_with_whose_fault_it_is(tmp_path, shop):
    missing = shop.bench(tmp_path / "1", "sets/cats")
    end = missing.play(1)
    assert (end.reason, end.cause) == ("setup-error", "request")
    assert f"input pets is missing: there is nothing at s3://{shop.bucket}/sets/cats" in end.message
    denied = shop.bench(tmp_path / "2")
    denied.access = shop.access._replace(secret="wrong")
    end = denied.play(1)
    assert (end.reason, end.cause) == ("setup-error", "request")
    assert f"input pets cannot be read: access to s3://{shop.bucket}/sets/pets is denied" in end.message


def test_damaged_shard_is_a_damaged_input(tmp_path, shop):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3):
        (source / f"{number}.bin").write_bytes(os.urandom(50000))
    send_packed(str(source), shop.tree, "packed/pets")
    key = "packed/pets/shard-000000.tar"
    body = bytearray(shop.boto.get_object(Bucket=shop.bucket, Key=key)["Body"].read())
    body[60000] ^= 1
    shop.put(key, bytes(body))
    end = shop.bench(tmp_path / "b", "packed/pets").play(1)
    assert (end.reason, end.cause) == ("setup-error", "request")
    assert "input pets is damaged: " in end.message


def test_bytes_spoilt_on_the_way_are_fetched_again(tmp_path, shop):
    shop.proxy.add(corrupt(method="GET", path="/a.bin", times=1))
    bench = shop.bench(tmp_path)
    bench.play(1)
    assert_read(bench, 1, FILES)


def test_stop_while_an_input_is_on_its_way(tmp_path, shop):
    stalled = stall(method="GET", path="/a.bin", times=ALWAYS)
    shop.proxy.add(stalled)
    bench = shop.bench(tmp_path)
    runner = bench.start(1)
    assert stalled.reached.wait(150)
    bench.want("stop")
    output, _ = runner.communicate(timeout=150)
    assert runner.returncode == 0, output
    end = bench.end(1)
    assert (end.reason, end.message) == ("stopped", "stopped as asked, while its inputs were fetched")


def test_limit_that_fetching_uses_up_is_told(tmp_path, shop):
    shop.proxy.add(stall(method="GET", path="/a.bin", times=ALWAYS))
    end = shop.bench(tmp_path).play(1, limit_s=3.0)
    assert (end.reason, end.cause) == ("setup-error", "request")
    assert "the limit of 3 s is shorter than the start-up" in end.message and "fetching" in end.message


def test_second_stint_waits_for_the_first_that_fetches(tmp_path, shop):
    bench = shop.bench(tmp_path)
    bench.play(1)
    folder = next(path for path in (tmp_path / "cache" / "inputs").iterdir() if path.is_dir())
    with folder.with_name(folder.name + ".lock").open("rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runner = bench.start(2)
        deadline = time.monotonic() + 150
        while "is being fetched by another stint; waiting for it" not in bench.log(2):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    output, _ = runner.communicate(timeout=150)
    assert runner.returncode == 0, output
    assert_read(bench, 2, FILES)
