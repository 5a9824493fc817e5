"""A file larger than a server takes in one request, there and back, in little memory."""

from __future__ import annotations

import hashlib
import random
import shutil

import pytest

from outlast.inside.s3.client import S3Client

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]
SIZE_BYTES = 6 << 30
LIMIT_MIB = 150


@pytest.fixture
def large(tmp_path):
    """Holes with islands of random bytes; some cross the borders of parts and the 4 GiB line."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    source = random.Random(seed)
    path = tmp_path / "large.bin"
    with path.open("wb") as file:
        file.truncate(SIZE_BYTES)
        for start in (0, (32 << 20) - 100, (4 << 30) - 5000, SIZE_BYTES - 10_001):
            file.seek(start)
            file.write(source.randbytes(10_001))
        for _ in range(20):
            file.seek(source.randrange(SIZE_BYTES - (1 << 20)))
            file.write(source.randbytes(1 << 20))
    yield path
    shutil.rmtree(tmp_path)  # too large to be kept for looking at


def digest_of(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def test_six_gibibytes_go_there_and_come_back_in_little_memory(seaweed, nobody, start_task, large, tmp_path):
    bucket = seaweed.bucket()
    place = f"s3://{bucket}/some/large.bin"
    for source, target in ((str(large), place), (place, str(tmp_path / "back.bin"))):
        told = start_task(seaweed.access, "copy", source=source, target=target).hear()
        print(source, told)
        assert told["files"] == 1
        assert told["peak_mib"] < LIMIT_MIB
    client = S3Client(seaweed.access, bucket)
    assert client.head("some/large.bin").size_bytes == SIZE_BYTES
    assert digest_of(tmp_path / "back.bin") == digest_of(large)
    client.delete(["some/large.bin"])
