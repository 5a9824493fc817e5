"""An upload in parts that is given up: the server keeps nothing of it, whatever was under way and whatever it said."""

from __future__ import annotations

import pytest

from outlast.inside.net.connection import Head
from outlast.inside.net.http import Answer
from outlast.inside.s3 import multipart
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.multipart import Begun, abandon
from outlast.inside.s3.stream import put_stream
from servers import faults
from servers.faulty import Faulty

PART = "<Part><PartNumber>1</PartNumber><ETag>x</ETag><Size>5</Size></Part>"


class Lagging:
    """A server that is still busy with parts when the upload is aborted: each lands after one abort."""

    def __init__(self, under_way: int) -> None:
        self.under_way, self.parts, self.aborts = under_way, 1, 0

    def call(self, method, key, query=(), headers=(), body=b"", ok=(200,)):
        yield from ()
        if method == "DELETE":
            self.aborts += 1
            self.parts = min(1, self.under_way)
            self.under_way -= self.parts
            return Answer(Head(204, "", {}, True), b"")
        if not self.parts:
            return Answer(Head(404, "", {}, True), b"<Error><Code>NoSuchUpload</Code></Error>")
        return Answer(Head(200, "", {}, True), f"<ListPartsResult>{PART}</ListPartsResult>".encode())


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    monkeypatch.setattr(multipart, "_ABORT_PAUSES_S", (0.0,) * len(multipart._ABORT_PAUSES_S))


@pytest.mark.parametrize("under_way", [0, 1, 2])
def test_parts_that_land_after_the_abort_are_let_go_of_too(under_way):
    server = Lagging(under_way)
    abandon(server, "a", Begun("upload"))
    assert server.parts == 0
    assert server.aborts == under_way + 1, "no more requests than it takes"


def test_a_server_that_never_lets_go_does_not_hold_us_for_ever():
    server = Lagging(1_000_000)
    abandon(server, "a", Begun("upload"))
    assert server.aborts == len(multipart._ABORT_PAUSES_S)


@pytest.mark.parametrize("fault", [
    None,
    faults.answer(404, "NoSuchUpload", method="DELETE"),
    faults.drop(method="DELETE"),
    faults.drop_after(method="DELETE"),
    faults.drop_after(method="PUT", path="partNumber=1"),
    faults.drop_after(method="POST", path="uploads"),
])  # fmt: skip
def test_a_stream_that_breaks_off_leaves_no_upload(seaweed, fault):
    def pieces():
        yield bytes(40 << 20)
        raise RuntimeError("the sender is gone")

    bucket = seaweed.bucket()
    with Faulty(seaweed.endpoint) as proxy:
        client = S3Client(seaweed.access._replace(endpoint=proxy.url), bucket)
        if fault is not None:
            proxy.add(fault)
        with pytest.raises(RuntimeError, match="the sender is gone"):
            put_stream(client.server, "a", pieces())
        assert not proxy.waiting
    assert "Uploads" not in seaweed.boto.list_multipart_uploads(Bucket=bucket)


def test_an_upload_whose_name_was_never_heard_is_let_go_of_and_others_stay(seaweed):
    bucket = seaweed.bucket()
    other = seaweed.boto.create_multipart_upload(Bucket=bucket, Key="a/b")["UploadId"]
    with Faulty(seaweed.endpoint) as proxy:
        client = S3Client(seaweed.access._replace(endpoint=proxy.url), bucket)
        proxy.add(faults.drop_after(method="POST", path="uploads"))
        assert put_stream(client.server, "a", iter([bytes(40 << 20)]))
        assert not proxy.waiting
    left = seaweed.boto.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [each["UploadId"] for each in left] == [other]
    assert seaweed.boto.head_object(Bucket=bucket, Key="a")["ContentLength"] == 40 << 20
