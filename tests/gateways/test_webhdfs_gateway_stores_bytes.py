"""Bytes on their way through the WebHDFS door into stores: writers at the same time, and such as break off."""

import contextlib
import hashlib
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest
from pai_lab import PATIENCE_S, refusal

#: More than what goes into a bucket in one request.
LARGE_BYTES = 9 << 20
HUGE_BYTES = 1 << 30
#: More than this above what the server had before would be a share of the file held in memory.
ROOM_BYTES = 48 << 20


def _begun(pai, path, size_bytes):
    """A connection on which the second step of an upload has begun."""
    connection = socket.create_connection(("127.0.0.1", pai.port), timeout=PATIENCE_S)
    head = f"PUT /webhdfs/v1{path}?op=CREATE&overwrite=true&namenoderpcaddress=x HTTP/1.1\r\nHost: {pai.authority}\r\n"
    head += f"Authorization: Bearer {pai.tokens['ann']}\r\nContent-Length: {size_bytes}\r\n\r\n"
    connection.sendall(head.encode())
    return connection


@pytest.mark.parametrize("size_bytes", [1000, LARGE_BYTES])
def test_of_many_writers_of_a_new_file_exactly_one_gets_it(pai, base, size_bytes):
    path = f"{base}/race/{size_bytes}"

    def write(number):
        with pai.client("ann") as client:
            step = client.put(f"/webhdfs/v1{path}", params={"op": "CREATE", "overwrite": "false"})
            return client.put(step.headers["location"], content=bytes([number]) * size_bytes)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(write, range(1, 5)))
    won = [number for number, answer in enumerate(answers, 1) if answer.status_code == 201]
    assert len(won) == 1, [answer.text for answer in answers]
    lost = {refusal(answer) for answer in answers if answer.status_code != 201}
    assert lost == {(403, "FileAlreadyExistsException")}
    assert pai.hdfs("ann", "GET", path, "OPEN").content == bytes(won) * size_bytes


def test_an_upload_that_breaks_off_leaves_nothing_and_the_old_file_stays(pai, shelf):
    path = f"{shelf.bases['bucket']}/torn/f"
    pai.put("ann", path, b"old")
    with contextlib.closing(_begun(pai, path, 5 * LARGE_BYTES)) as connection:
        connection.sendall(bytes(2 * LARGE_BYTES))
        pai.until(shelf.uploads)
    pai.until(lambda: not shelf.uploads())
    assert pai.hdfs("ann", "GET", path, "OPEN").content == b"old"


def test_downloads_that_break_off_let_go_of_their_connections(pai, shelf):
    path = f"{shelf.bases['bucket']}/dropped/f"
    pai.put("ann", path, bytes(24 << 20))
    before = shelf.connections()
    for _ in range(before + 6):
        step = pai.call("ann", "GET", f"/webhdfs/v1{path}", params={"op": "OPEN"})
        with pai.client("ann") as client, client.stream("GET", step.headers["location"]) as answer:
            assert len(next(answer.iter_raw(1 << 16))) > 0
    pai.until(lambda: shelf.connections() <= before + 2)


def test_a_file_that_is_refused_is_refused_before_it_is_sent(pai, base):
    pai.put("ann", f"{base}/there", b"old")
    target = f"{base}/there?op=CREATE&namenoderpcaddress=x"
    with contextlib.closing(socket.create_connection(("127.0.0.1", pai.port), timeout=PATIENCE_S)) as connection:
        who = f"Host: {pai.authority}\r\nAuthorization: Bearer {pai.tokens['ann']}\r\n"
        head = f"PUT /webhdfs/v1{target} HTTP/1.1\r\n{who}Content-Length: 5000000\r\nExpect: 100-continue\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 403")


def _pieces(digest):
    block = bytes(range(256)) * 1024
    for number in range(HUGE_BYTES // len(block)):
        piece = number.to_bytes(4, "big") + block[4:]
        digest.update(piece)
        yield piece


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_gibibyte_goes_into_a_store_and_comes_back_in_little_memory(pai, base):
    sent, came = hashlib.sha256(), hashlib.sha256()
    path = f"{base}/huge/f"
    pai.put("ann", path, b"x" * (40 << 20))
    pai.hdfs("ann", "GET", path, "OPEN")
    pai.forget_peak()
    before = pai.peak_bytes()
    pai.put("ann", path, _pieces(sent))
    step = pai.call("ann", "GET", f"/webhdfs/v1{path}", params={"op": "OPEN"})
    with pai._clients["ann"].stream("GET", step.headers["location"]) as answer:
        assert answer.headers["content-length"] == str(HUGE_BYTES)
        for piece in answer.iter_raw(1 << 20):
            came.update(piece)
    assert came.digest() == sent.digest()
    print(f"{(pai.peak_bytes() - before) / 2**20:.1f} MiB above {before / 2**20:.1f}")
    assert pai.peak_bytes() - before < ROOM_BYTES
    pai.hdfs("ann", "DELETE", path, "DELETE")
