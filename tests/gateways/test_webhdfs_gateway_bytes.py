"""Bytes at the WebHDFS door: large files in little memory, clients that break off, wait or crawl."""

import contextlib
import hashlib
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from pai_lab import PATIENCE_S, refusal, serving_alone

from outlast.server.gateways.webhdfs import bodies
from outlast.webhdfs.ground import UNFINISHED

LARGE_BYTES = 200 << 20
#: More than this above what the server had before would be a part of the file held in memory.
ROOM_BYTES = 48 << 20


def _pieces(digest):
    block = bytes(range(256)) * 1024
    for number in range(LARGE_BYTES // len(block)):
        piece = number.to_bytes(4, "big") + block[4:]
        digest.update(piece)
        yield piece


def test_a_large_file_goes_up_and_down_in_little_memory(pai):
    sent, came = hashlib.sha256(), hashlib.sha256()
    pai.put("ann", "/ann/warm", b"x" * (4 << 20))
    pai.hdfs("ann", "GET", "/ann/warm", "OPEN")
    pai.forget_peak()
    before = pai.peak_bytes()
    pai.put("ann", "/ann/large", _pieces(sent))
    step = pai.call("ann", "GET", "/webhdfs/v1/ann/large", params={"op": "OPEN"})
    with pai._clients["ann"].stream("GET", step.headers["location"]) as answer:
        assert answer.headers["content-length"] == str(LARGE_BYTES)
        for piece in answer.iter_raw(1 << 20):
            came.update(piece)
    assert came.digest() == sent.digest()
    assert pai.peak_bytes() - before < ROOM_BYTES
    assert pai.hdfs("ann", "DELETE", "/ann/large", "DELETE").json() == {"boolean": True}


def _raw(url, token, head):
    """A connection on which the second step of an upload has begun."""
    connection = socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=PATIENCE_S)
    who = f"Authorization: Bearer {token}\r\n" if token else ""
    connection.sendall(f"PUT /webhdfs/v1{head} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n{who}".encode())
    return connection


def _unfinished(home):
    waiting = home / "hdfs" / "files" / UNFINISHED
    return list(waiting.iterdir()) if waiting.is_dir() else []


def test_an_upload_that_breaks_off_leaves_nothing_and_the_old_file_stays(pai):
    pai.put("ann", "/ann/torn", b"old")
    before = set(_unfinished(pai.settings.home))
    target = "/ann/torn?op=CREATE&overwrite=true&namenoderpcaddress=x"
    with contextlib.closing(_raw(pai.url, pai.tokens["ann"], target)) as connection:
        connection.sendall(b"Content-Length: 5000000\r\n\r\n" + bytes(3 << 20))
        pai.until(lambda: set(_unfinished(pai.settings.home)) - before)
    pai.until(lambda: not set(_unfinished(pai.settings.home)) - before)
    assert pai.hdfs("ann", "GET", "/ann/torn", "OPEN").content == b"old"


def test_a_client_that_asks_first_is_refused_before_it_sends(pai):
    pai.put("ann", "/ann/there", b"old")
    target = "/ann/there?op=CREATE&namenoderpcaddress=x"
    with contextlib.closing(_raw(pai.url, pai.tokens["ann"], target)) as connection:
        connection.sendall(b"Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 403")


def test_a_download_that_breaks_off_lets_go_of_the_file(pai):
    # More than the sockets of both sides hold, which grow to 37 MiB: it cannot be gone before it is dropped.
    pai.put("ann", "/ann/dropped", bytes(64 << 20))

    def is_held():
        links = Path(f"/proc/{pai.process.pid}/fd").iterdir()
        with contextlib.suppress(FileNotFoundError):
            return any(each.readlink().name == "dropped" for each in links)
        return True

    step = pai.call("ann", "GET", "/webhdfs/v1/ann/dropped", params={"op": "OPEN"})
    with pai.client("ann") as client, client.stream("GET", step.headers["location"]) as answer:
        assert (answer.status_code, answer.headers["content-length"]) == (200, str(64 << 20))
        pieces = answer.iter_raw(1 << 16)  # kept by name: one that nobody holds any more closes the connection
        assert len(next(pieces)) > 0
        assert is_held()
    pai.until(lambda: not is_held())


def test_offsets_lengths_heads_and_ends(pai):
    pai.put("ann", "/ann/range", bytes(range(100)))
    assert pai.hdfs("ann", "GET", "/ann/range", "OPEN", offset=90, length=20).content == bytes(range(90, 100))
    assert pai.hdfs("ann", "GET", "/ann/range", "OPEN", length=0).content == b""
    assert refusal(pai.hdfs("ann", "GET", "/ann/range", "OPEN", offset=100)) == (403, "IOException")
    head = pai.call("ann", "HEAD", "/webhdfs/v1/ann/range?op=GETFILESTATUS")
    assert (head.status_code, head.content) == (200, b"") and int(head.headers["content-length"]) > 100
    told = pai.call("ann", "GET", "/webhdfs/v1/ann/range?op=OPEN&noredirect=true").json()["Location"]
    assert told.startswith(f"{pai.url}/webhdfs/v1/ann/range?op=OPEN&")


def test_without_accounts_this_machines_user_is_believed_and_a_crawling_client_given_up(tmp_path, monkeypatch):
    with (
        serving_alone(tmp_path / "home") as url,
        httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE_S) as client,
    ):
        step = client.put("/webhdfs/v1/eve/f?op=CREATE&user.name=eve")
        assert client.put(step.headers["location"], content=b"x").status_code == 201
        found = client.get("/webhdfs/v1/eve/f?op=GETFILESTATUS&user.name=anybody").json()["FileStatus"]
        assert (found["owner"], found["permission"]) == ("eve", "600")
        assert client.get("/webhdfs/v1/?op=GETDELEGATIONTOKEN").json() == {"Token": None}
        forwarded = client.get("/webhdfs/v1/?op=LISTSTATUS", headers={"X-Forwarded-For": "10.0.0.1"})
        assert refusal(forwarded) == (401, "SecurityException")
        monkeypatch.setattr(bodies, "PIECE_LIMIT_S", 0.2)
        with contextlib.closing(_raw(url, "", "/eve/slow?op=CREATE&namenoderpcaddress=x")) as connection:
            connection.sendall(b"Content-Length: 1000\r\n\r\nsome")
            said = connection.recv(1000)
            assert said.startswith(b"HTTP/1.1 408"), said
        assert client.get("/webhdfs/v1/eve/slow?op=GETFILESTATUS").status_code == 404


class _Wire:
    """What uvicorn gives an application, without a connection."""

    def __init__(self, messages):
        self._messages = iter(messages)

    async def __call__(self):
        return next(self._messages)


@pytest.mark.parametrize("sizes", [(), (0,), (10, 0, 20), (1 << 20, 1 << 20, 5), (3 << 20,)])
def test_a_body_arrives_as_it_was_sent_however_it_is_cut(sizes):
    sent = [bytes([number]) * size for number, size in enumerate(sizes)]
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in sent]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def run():
        import asyncio

        body = bodies.Arriving({}, _Wire(messages), asyncio.get_running_loop())
        return await anyio.to_thread.run_sync(lambda: b"".join(body))

    assert anyio.run(run) == b"".join(sent)


def test_the_documents_are_hadoops(pai):
    pai.put("ann", "/ann/golden/f", b"12345")
    status = pai.hdfs("ann", "GET", "/ann/golden/f", "GETFILESTATUS").json()["FileStatus"]
    assert sorted(status) == [
        "accessTime", "blockSize", "childrenNum", "fileId", "group", "length", "modificationTime", "owner",
        "pathSuffix", "permission", "replication", "storagePolicy", "type",
    ]  # fmt: skip
    assert {name: status[name] for name in ("length", "owner", "permission", "type", "pathSuffix")} == {
        "length": 5, "owner": "ann", "permission": "600", "type": "FILE", "pathSuffix": "",
    }  # fmt: skip
    refused = pai.hdfs("ben", "GET", "/ann/golden/f", "OPEN")
    assert json.loads(refused.content) == {
        "RemoteException": {
            "exception": "AccessControlException",
            "javaClassName": "org.apache.hadoop.security.AccessControlException",
            "message": 'Permission denied: user=ben, access=EXECUTE, inode="/ann":ann:_server:drwx------',
        }
    }
