"""The benchmark's server that keeps nothing: it refuses bad signatures, and tells boto3 nothing that is not so."""

from __future__ import annotations

import hashlib
import http.client
import io
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent.parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)

import boto3  # noqa: E402
from bench import datasets  # noqa: E402
from bench.nulls3 import NullS3  # noqa: E402
from boto3.s3.transfer import TransferConfig  # noqa: E402
from botocore.config import Config  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402

# Newer Pythons warn about forking beside the threads that a test run has; the server's processes use none of them.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
CONFIG = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1})


@pytest.fixture(scope="module")
def block():
    return datasets.Block()


@pytest.fixture(scope="module")
def shown(block):
    return datasets.small(block, 2_500)


@pytest.fixture(params=["plain", "tls"])
def server(request, block, shown, tmp_path):
    served = {"small": shown, "large": datasets.large(block, 1, 80 << 20)}
    with NullS3(served, block, tls=tmp_path if request.param == "tls" else None) as made:
        yield made


def boto(server, secret=None):
    return boto3.client(
        "s3", endpoint_url=server.url, region_name="us-east-1", aws_access_key_id=server.key, config=CONFIG,
        aws_secret_access_key=secret or server.secret, verify=server.ca_file or None,
    )  # fmt: skip


@pytest.fixture
def client(server):
    made = boto(server)
    yield made
    made.close()


def test_wrong_and_missing_signatures_are_refused(server):
    stranger = boto(server, secret="wrong")
    with pytest.raises(ClientError, match="SignatureDoesNotMatch"):
        stranger.list_objects_v2(Bucket="small")
    stranger.close()
    if not server.ca_file:
        raw = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=150)
        raw.request("GET", "/small/")
        assert raw.getresponse().status == 403
        raw.close()
    assert server.counts.refused >= 1


def test_lists_come_in_pages_with_folders(client, shown):
    pages = client.get_paginator("list_objects_v2").paginate(Bucket="small")
    keys = [item["Key"] for page in pages for item in page["Contents"]]
    assert keys == [entry.key for entry in shown.entries]
    folders = client.list_objects_v2(Bucket="small", Delimiter="/", MaxKeys=30)
    assert [each["Prefix"] for each in folders["CommonPrefixes"]][:2] == ["class-00/", "class-01/"]
    rest = client.list_objects_v2(Bucket="small", Delimiter="/", ContinuationToken=folders["NextContinuationToken"])
    assert rest["CommonPrefixes"][0]["Prefix"] == "class-30/" and not rest["IsTruncated"]
    older = client.list_objects(Bucket="small", Prefix="class-07/")
    assert {item["Key"] for item in older["Contents"]} == {
        e.key for e in shown.entries if e.key.startswith("class-07/")
    }


def test_what_it_serves_is_what_its_tags_say(client, shown):
    entry = shown.entries[1234]
    answer = client.get_object(Bucket="small", Key=entry.key, ChecksumMode="ENABLED")
    data = answer["Body"].read()
    assert answer["ETag"] == f'"{hashlib.md5(data).hexdigest()}"' and len(data) == entry.size_bytes
    middle = client.get_object(Bucket="small", Key=entry.key, Range="bytes=100-199")
    assert middle["Body"].read() == data[100:200] and middle["ContentRange"] == "bytes 100-199/10240"


def test_large_objects_are_the_block_over_and_over(client, block):
    got = io.BytesIO()
    client.download_fileobj("large", "part-00.bin", got)
    assert got.getvalue() == b"".join(block.pieces(0, 80 << 20))


def test_uploads_are_remembered_by_size_alone(client, server):
    config = TransferConfig(multipart_threshold=6 << 20, multipart_chunksize=5 << 20)
    for key, size in (("empty", 0), ("a b/ü", 10_240), ("one", 300_000), ("parts", 12 << 20)):
        client.upload_fileobj(io.BytesIO(b"x" * size), "fresh", key, Config=config)
        assert client.head_object(Bucket="fresh", Key=key)["ContentLength"] == size
    assert server.counts.objects_in == 4 and server.counts.bytes_in == 310_240 + (12 << 20)
    with pytest.raises(ClientError):
        client.head_object(Bucket="fresh", Key="never")
    assert "Contents" not in client.list_objects_v2(Bucket="fresh")
