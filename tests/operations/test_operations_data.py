"""Packing, shrinking and comparing where one end is a bucket of a real server."""

from __future__ import annotations

import os
import tarfile

import pytest

from outlast.errors import NotFoundError, StoreError, UsageError
from outlast.inside.s3.tree import S3Tree
from outlast.operations.data import Data


@pytest.fixture
def data(nobody, seaweed, monkeypatch):
    for name, value in {
        "AWS_ENDPOINT_URL": seaweed.endpoint, "AWS_REGION": seaweed.access.region,
        "AWS_ACCESS_KEY_ID": seaweed.key, "AWS_SECRET_ACCESS_KEY": seaweed.secret,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    return Data(nobody)


@pytest.fixture
def bucket(seaweed):
    return seaweed.bucket("data")


@pytest.fixture
def images(tmp_path):
    folder = tmp_path / "images"
    for at in range(120):
        file = folder / f"类 {at % 3}" / f"{at:03}.jpg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.urandom(30_000))
    (folder / "train.txt").write_text("".join(f"类 {at % 3}/{at:03}.jpg\n" for at in range(120)))
    (folder / "none").mkdir()
    (folder / "first").symlink_to("类 0/000.jpg")
    return str(folder)


def test_a_folder_goes_packed_to_a_bucket_and_comes_back(data, bucket, images, tmp_path, seaweed):
    place = f"s3://{bucket}/sets/images"
    done = data.pack(images, place, shard_bytes=1 << 20)
    assert done.complete and done.files == 121 and done.shards == 4 and done.place == place + "/"
    assert data.pack(images, place + "/", shard_bytes=1 << 20).skipped == 4
    listed = seaweed.boto.list_objects_v2(Bucket=bucket)["Contents"]
    assert [each["Key"] for each in listed] == [
        "sets/images/index.jsonl", *(f"sets/images/shard-00000{at}.tar" for at in range(4))
    ]  # fmt: skip
    seaweed.boto.download_file(bucket, "sets/images/shard-000000.tar", str(tmp_path / "shard.tar"))
    with tarfile.open(tmp_path / "shard.tar") as tar:
        assert "first" in tar.getnames()
    assert data.check(images, place).equal and data.check(place, images, full=True).by_content == 123
    back = str(tmp_path / "back")
    assert data.unpack(place, back).files == 121
    assert data.check(images, back, full=True).equal
    assert b"".join(data.read(place, "类 1/001.jpg")) == (tmp_path / "images/类 1/001.jpg").read_bytes()
    with pytest.raises(NotFoundError, match="nope"):
        b"".join(data.read(place, "nope"))


def test_a_packed_place_is_unpacked_into_a_bucket_file_by_file(data, bucket, images, tmp_path):
    packed = str(tmp_path / "packed")
    data.pack(images, packed)
    done = data.unpack(packed, f"s3://{bucket}/plain")
    assert done.files == 121 and done.notices == ["left out 1 links: a store has none"]
    found = data.check(images, f"s3://{bucket}/plain", full=True)
    assert (found.missing, found.extra, found.different) == (["first"], [], [])
    again = data.pack(f"s3://{bucket}/plain", f"s3://{bucket}/packed")
    assert again.files == 121 and not data.check(packed, f"s3://{bucket}/packed", full=True).different


def test_a_small_copy_of_a_bucket_fetches_only_what_it_keeps(data, bucket, images, tmp_path, monkeypatch):
    place = f"s3://{bucket}/plain"
    data.pack(images, str(tmp_path / "packed"))
    data.unpack(str(tmp_path / "packed"), place)
    fetched = []
    real = S3Tree.fetch
    monkeypatch.setattr(
        S3Tree, "fetch", lambda self, jobs, *rest: real(self, (fetched.append(job) or job for job in jobs), *rest)
    )
    made = data.mini(place, str(tmp_path / "mini"), keep="6")
    assert made.mini.kept == 6 and len(fetched) == 6
    kept = sorted(str(path.relative_to(tmp_path / "mini")) for path in (tmp_path / "mini").rglob("*.jpg"))
    assert (tmp_path / "mini/train.txt").read_text().splitlines() == sorted(kept, key=lambda path: path[-7:])
    made = data.mini(images, f"s3://{bucket}/mini", keep="6")
    assert made.place == f"s3://{bucket}/mini/"
    assert data.check(str(tmp_path / "mini"), f"s3://{bucket}/mini", full=True).equal
    with pytest.raises(UsageError, match="not empty"):
        data.mini(images, f"s3://{bucket}/mini", keep="6")


def test_a_damaged_shard_in_a_bucket_is_named(data, bucket, images, tmp_path, seaweed):
    place = f"s3://{bucket}/set"
    data.pack(images, place)
    whole = seaweed.boto.get_object(Bucket=bucket, Key="set/shard-000000.tar")["Body"].read()
    seaweed.boto.put_object(Bucket=bucket, Key="set/shard-000000.tar", Body=whole[:-600_000] + bytes(600_000))
    with pytest.raises(StoreError, match=r"is damaged"):
        data.unpack(place, str(tmp_path / "back"))
    assert not list((tmp_path / "back").rglob(".outlast*"))
