"""An upload in parts that is given up: the server keeps nothing of it, whatever was under way and whatever it said."""

from __future__ import annotations

import pytest

from outlast.inside.net.connection import Head
from outlast.inside.net.http import Answer
from outlast.inside.s3 import stream
from outlast.inside.s3.client import S3Client
from outlast.inside.s3.stream import abandon, put_stream
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
    monkeypatch.setattr(stream, "_ABORT_PAUSES_S", (0.0,) * len(stream._ABORT_PAUSES_S))


@pytest.mark.parametrize("under_way", [0, 1, 2])
def test_parts_that_land_after_the_abort_are_let_go_of_too(under_way):
    server = Lagging(under_way)
    abandon(server, "a", "upload")
    assert server.parts == 0
    assert server.aborts == under_way + 1, "no more requests than it takes"


def test_a_server_that_never_lets_go_does_not_hold_us_for_ever():
    server = Lagging(1_000_000)
    abandon(server, "a", "upload")
    assert server.aborts == len(stream._ABORT_PAUSES_S)


@pytest.mark.parametrize("fault", [
    None,
    faults.answer(404, "NoSuchUpload", method="DELETE"),
    faults.drop(method="DELETE"),
    faults.drop_after(method="DELETE"),
    faults.drop_after(method="PUT", path="partNumber=1"),
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
