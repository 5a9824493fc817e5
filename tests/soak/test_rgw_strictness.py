"""What Ceph does more strictly, or otherwise, than SeaweedFS: names, pages, links, policies, checksums."""

from __future__ import annotations

import json
import os
import secrets
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from test_s3_faults import HASTY, Notes, job_for

from outlast.inside.errors import AccessDenied, RequestError
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.store import S3Store
from outlast.inside.s3.tree import S3Tree
from outlast.store.policy import with_public_read
from servers import faults
from servers.faulty import Faulty

pytestmark = pytest.mark.soak
MIB = 1 << 20
#: Names that a bucket may hold and a file system or XML may not.
ODD = [
    "/lead",
    "a//b",
    "a/../b",
    "a/./b",
    ".",
    "..",
    "bell\x07",
    "back\\slash",
    " lead",
    "trail ",
    "*!()'",
    "&amp;",
    "k" * 1000,
]


@pytest.fixture
def client(gateway):
    return S3Client(gateway.access, gateway.bucket())


def put_all(client, keys):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda key: client.put(key, b""), keys))


def test_keys_are_opaque(gateway, client):
    for key in ODD:
        client.put(key, key.encode())
    assert [item.path for item in client.list("")] == sorted(ODD)
    for key in ODD:
        assert client.get(key) == key.encode()
        assert gateway.boto.get_object(Bucket=client.bucket, Key=key)["Body"].read() == key.encode()
        assert client.head(key).size_bytes == len(key)
    client.delete(ODD)
    assert list(client.list("")) == []


def test_a_key_that_is_too_long_is_refused_in_words(client):
    with pytest.raises(RequestError, match="400 InvalidObjectName"):
        client.put("k" * 1025, b"")


def test_pages_that_end_with_names_that_look_encoded_lose_nothing(client):
    # Taken for an encoded name, the last of the first page would be "m~~", and everything below it would be skipped.
    keys = [f"m%7E{number:04d}" for number in range(999)] + ["m%7E~", *(f"mm{number:03d}" for number in range(300))]
    put_all(client, keys)
    assert [item.path for item in client.list("")] == sorted(keys)


def test_pages_that_end_with_folder_markers_and_control_characters(client):
    keys = [f"a/{number:04d}" for number in range(999)] + ["b/", "b/x"]
    keys += [f"c/{number:03d}\x1b" for number in range(1500)]
    put_all(client, keys)
    assert [item.path for item in client.list("")] == sorted(key.rstrip("/") for key in keys)
    assert [item.path for item in client.list("c/000\x1b")] == ["c/000\x1b"]


def test_pages_of_folders(client):
    keys = [f"f{number:04d}/{name}" for number in range(1100) for name in ("x", "y")] + ["g"]
    put_all(client, keys)
    assert [item.path for item in client.list("", delimiter="/")] == [
        *(f"f{number:04d}" for number in range(1100)),
        "g",
    ]


def test_links_open_what_they_name_until_they_end(client, monkeypatch):
    for key in ("plain", "a b/数+%41"):
        client.put(key, key.encode())
        with urllib.request.urlopen(client.presign("GET", key, 60)) as answer:
            assert answer.read() == key.encode()
    upload = urllib.request.Request(
        client.presign("PUT", "from/a link", 60), b"put", {"Content-Type": ""}, method="PUT"
    )
    urllib.request.urlopen(upload).close()
    assert client.get("from/a link") == b"put"
    tampered = client.presign("GET", "plain", 60).replace("/plain", "/from/a%20link")
    monkeypatch.setattr(client.server.signer, "offset_s", -120.0)
    for link in (client.presign("GET", "plain", 60), tampered):
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(link)
        refused.value.close()


def test_a_published_bucket_is_read_by_everyone_and_written_by_nobody_else(ceph, gateway, client):
    client.put("k", b"x")
    others = [S3Client(ceph.stranger, client.bucket), S3Client(ceph.access._replace(key="", secret=""), client.bucket)]
    for other in others:
        with pytest.raises(AccessDenied):
            other.get("k")
    assert client.get_policy() is None
    client.put_policy(with_public_read(None, client.bucket, native=False))
    assert json.loads(client.get_policy())["Statement"][0]["Effect"] == "Allow"
    for other in others:
        assert other.get("k") == b"x"
        assert [item.path for item in other.list("")] == ["k"]
        with pytest.raises(AccessDenied):
            other.put("mine", b"")
    client.delete_policy()
    assert client.get_policy() is None
    for other in others:
        with pytest.raises(AccessDenied):
            other.get("k")


def test_a_bucket_is_made_once_and_never_taken_from_somebody(ceph, gateway):
    client = S3Client(gateway.access, "made-" + secrets.token_hex(5))
    assert [client.make_bucket() for _ in range(3)] == [True, False, False]
    with pytest.raises(RequestError, match="taken by somebody else"):
        S3Client(ceph.stranger, client.bucket).make_bucket()
    client.put("k", b"")
    with pytest.raises(RequestError, match="not empty"):
        client.remove_bucket()
    client.delete(["k"])
    client.remove_bucket()
    assert client.head_bucket() is False


def test_wrong_keys_are_named(gateway, client):
    for fields, code in (({"key": "AKNOBODY"}, "InvalidAccessKeyId"), ({"secret": "wrong"}, "SignatureDoesNotMatch")):
        with pytest.raises(AccessDenied, match=code):
            S3Client(gateway.access._replace(**fields), client.bucket).get("k")


def test_a_write_only_if_absent_is_refused_by_the_server_itself(gateway):
    store = S3Store(gateway.access, gateway.bucket())
    assert store.conditional
    assert [store.put_if_absent("claim", body) for body in (b"1", b"2")] == [True, False]
    assert store.get("claim") == b"1"
    assert [entry.key for entry in store.list("")] == ["claim"]


def test_the_first_files_are_checked_though_this_server_knows_no_crc(gateway, tmp_path):
    """It ignores the CRC that is sent with them, so each must go again with a checksum that it compares."""
    bodies = {str(number): os.urandom(2000) for number in range(100)}
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
    with Faulty(gateway.endpoint) as proxy:
        tree = S3Tree(gateway.access._replace(endpoint=proxy.url), gateway.bucket())
        tree.client.server.policy = HASTY._replace(tries=50)
        proxy.add(faults.corrupt_request(method="PUT", times=40))
        notes = Notes()
        tree.send([job_for(tmp_path / name, name) for name in bodies], notes)
        assert (len(notes.ended), notes.trouble) == (100, {})
        for name, body in bodies.items():
            assert tree.client.get(name) == body


def test_what_boto3_sends_in_parts_comes_back_whole(gateway, tmp_path):
    from boto3.s3.transfer import TransferConfig

    body = os.urandom(21 * MIB)
    (tmp_path / "source").write_bytes(body)
    tree = S3Tree(gateway.access, gateway.bucket())
    how = TransferConfig(multipart_threshold=8 * MIB, multipart_chunksize=8 * MIB)
    gateway.boto.upload_file(str(tmp_path / "source"), tree.client.bucket, "theirs", Config=how)
    assert b"".join(tree.read("theirs")) == body
    tree.write("ours", (body[at : at + MIB] for at in range(0, len(body), MIB)), len(body))
    gateway.boto.download_file(tree.client.bucket, "ours", str(tmp_path / "back"), Config=how)
    assert Path(tmp_path / "back").read_bytes() == body
