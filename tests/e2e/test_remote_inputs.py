"""`--data s3://…`: checked before anything starts, fetched on the machine, found by the script beside itself."""

from __future__ import annotations

import json
import os
import time

import pytest
from lab import Lab

from outlast.keeper.home import Home
from outlast.store.profiles import Profiles

#: Three stints long: reads its data each time, goes on where it was, and asks for another stint every four epochs.
SCRIPT = """
import os, sys
os.makedirs("ckpt", exist_ok=True)
names = sorted(os.listdir("pets"))
assert open("pets/a.txt").read() == "meow", names
epoch = int(open("ckpt/state").read()) if os.path.exists("ckpt/state") else 0
while epoch < 12:
    epoch += 1
    with open("ckpt/part", "w") as out: out.write(str(epoch))
    os.replace("ckpt/part", "ckpt/state")
    print("epoch: %d" % epoch, names, flush=True)
    if epoch in (4, 8):
        sys.exit(85)
"""


@pytest.fixture
def shop(tmp_path, seaweed):
    bucket = seaweed.bucket()
    for name in ("a.txt", "b c.txt", "猫/d.txt"):
        seaweed.boto.put_object(Bucket=bucket, Key=f"sets/pets/{name}", Body=b"meow")
    lab = Lab(tmp_path)
    lab.bucket = bucket
    Profiles(Home(lab.home).path).save("lab", seaweed.access, in_file=True)
    yield lab
    lab.close()


def test_input_by_address_is_checked_fetched_and_kept_for_the_next_stint(shop):
    train = shop.write("project/train.py", SCRIPT)
    source = f"s3://lab@{shop.bucket}/sets/pets"
    planned = shop.outlast("run", train, "--data", source, "--dry-run", "--json").stdout
    assert f"input pets: 3 files, 12 B at {source}" in planned
    done = shop.outlast("run", train, "--data", source, "--checkpoint", "ckpt")
    run = done.stdout.split()[1]
    view = shop.show(run)
    assert view["state"] == "succeeded" and view["stint_count"] == 3
    logs = shop.outlast("logs", run).stdout
    assert logs.count("fetched input pets: 3 files, 12 B in ") == 1
    assert logs.count("input pets is here already") == view["stint_count"] - 1
    assert view["spec"]["inputs"] == [
        {"name": "pets", "path": "pets", "source": source, "writable": False, "asset": ""}
    ]


def test_input_that_is_not_there_is_an_error_before_anything_starts(shop):
    train = shop.write("project/train.py", SCRIPT)
    done = shop.outlast("run", train, "--data", f"s3://lab@{shop.bucket}/sets/dogs", check=False)
    assert done.returncode == 2
    assert f"input dogs: there is nothing at s3://lab@{shop.bucket}/sets/dogs" in done.stderr
    assert f"outlast ls s3://lab@{shop.bucket}/sets/" in done.stderr
    done = shop.outlast("run", train, "--data", f"obs://{shop.bucket}/sets/pets", check=False)
    assert done.returncode == 11 and "outlast login obs" in done.stderr
    assert shop.pids() == [] and not (shop.home / "store").exists()


def test_gc_removes_what_no_stint_has_asked_for_lately(shop):
    train = shop.write("project/train.py", SCRIPT.replace("< 12", "< 1"))
    shop.outlast("run", train, "--data", f"s3://lab@{shop.bucket}/sets/pets", "--checkpoint", "ckpt")
    folder = next(path for path in (shop.home / "cache" / "inputs").iterdir() if path.is_dir())
    assert shop.outlast("gc", "--yes") and folder.exists()
    old = time.time() - 8 * 86400
    for path in (folder, folder / "whole"):
        os.utime(path, (old, old))
    cleaned = json.loads(shop.outlast("gc", "--yes", "--json").stdout)
    assert str(folder) in cleaned["work_folders"] and not folder.exists()
