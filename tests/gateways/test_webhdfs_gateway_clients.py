"""The clients that people have, at the server's own WebHDFS door, each with a token in the way that it knows."""

import io
import os
import subprocess
import sys

import pytest
from pai_lab import refusal

from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.stores.access import Access


@pytest.fixture
def closing():
    held = []
    yield lambda client: held.append(client) or client
    for client in held:
        session = getattr(client, "_session", None) or getattr(client, "session", None)
        if session is not None:
            session.close()


def _hdfs_clients(pai):
    import hdfs

    token = pai.tokens["ann"]
    yield hdfs.TokenClient(pai.url, token)
    yield hdfs.InsecureClient(pai.url, user=token)
    yield hdfs.InsecureClient(f"{pai.url}/as/{token}", user="ann")


def test_hdfs_uploads_downloads_walks_and_removes(pai, closing, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.bin").write_bytes(bytes(300_000))
    for number, client in enumerate(_hdfs_clients(pai)):
        closing(client)
        base = f"/user/ann/clients/{number}"
        client.upload(base, str(tmp_path / "out"), n_threads=2)
        client.upload(base, str(tmp_path / "out"), overwrite=True)
        client.write(f"{base}/notes", io.BytesIO(b"one"), overwrite=True)
        client.write(f"{base}/notes", b" two", append=True)
        with client.read(f"{base}/notes", offset=2, length=3) as reader:
            assert reader.read() == b"e t"
        client.download(base, str(tmp_path / f"back{number}"))
        assert sorted(path.name for path in (tmp_path / f"back{number}").rglob("*") if path.is_file()) == [
            "model.bin", "model.bin", "notes",
        ] or (tmp_path / f"back{number}" / "notes").read_bytes() == b"one two"  # fmt: skip
        assert client.status(f"{base}/notes")["owner"] == "ann" and client.status("/none", strict=False) is None
        client.set_permission(f"{base}/notes", 640)
        assert client.status(f"{base}/notes")["permission"] == "640"
        client.rename(f"{base}/notes", f"{base}/words")
        assert client.checksum(f"{base}/words")["length"] == 28 and client.content(base)["fileCount"] >= 2
        assert client.delete(base, recursive=True) is True
    assert client.resolve("x") == "/user/ann/x"


def test_hdfs_says_that_a_bare_name_is_not_enough(pai, closing):
    import hdfs

    client = closing(hdfs.InsecureClient(pai.url, user="ann"))
    with pytest.raises(hdfs.HdfsError, match="Authentication"):
        client.list("/")


def test_pyhdfs_which_insists_on_every_status(pai, tmp_path):
    import pyhdfs

    client = pyhdfs.HdfsClient(hosts=pai.authority, user_name=pai.tokens["ann"])
    client.mkdirs("/ann/pyhdfs", permission=750)
    client.create("/ann/pyhdfs/f", b"one", permission=640)
    client.append("/ann/pyhdfs/f", b" two")
    with client.open("/ann/pyhdfs/f", offset=1) as reader:
        assert reader.read() == b"ne two"
    with pytest.raises(pyhdfs.HdfsFileAlreadyExistsException):
        client.create("/ann/pyhdfs/f", b"x")
    with pytest.raises(pyhdfs.HdfsFileNotFoundException):
        client.open("/ann/pyhdfs/none")
    status = client.get_file_status("/ann/pyhdfs/f")
    assert (status.permission, status.length, status.owner) == ("600", 7, "ann")
    client.set_times("/ann/pyhdfs/f", modificationtime=1000)
    client.set_xattr("/ann/pyhdfs/f", "user.k", "0x6162", "CREATE")
    assert client.get_xattrs("/ann/pyhdfs/f") == {"user.k": "ab"}
    client.copy_to_local("/ann/pyhdfs/f", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == b"one two"
    assert client.get_home_directory() == "/user/ann"
    other = pyhdfs.HdfsClient(hosts=pai.authority, user_name=pai.tokens["ben"])
    with pytest.raises(pyhdfs.HdfsAccessControlException):
        other.open("/ann/pyhdfs/f")
    nobody = pyhdfs.HdfsClient(hosts=pai.authority, user_name="ann")
    with pytest.raises(pyhdfs.HdfsSecurityException):
        nobody.list_status("/")
    assert client.delete("/ann/pyhdfs", recursive=True) is True


@pytest.mark.parametrize("way", ["token", "user"])
def test_fsspec_writes_in_many_posts_and_reads_in_ranges(pai, closing, way):
    from fsspec.implementations.webhdfs import WebHDFS

    fs = closing(WebHDFS(host="127.0.0.1", port=pai.port, skip_instance_cache=True, **{way: pai.tokens["ann"]}))
    body = bytes(range(256)) * 2048
    with fs.open("/ann/fsspec/f", "wb", block_size=200_000) as file:
        for start in range(0, len(body), 100_000):
            file.write(body[start : start + 100_000])
    with fs.open("/ann/fsspec/f", "rb", block_size=1000) as file:
        file.seek(300_000)
        assert file.read(1000) == body[300_000:301_000]
    assert fs.info("/ann/fsspec/f")["size"] == len(body) and fs.home_directory() == "/user/ann"
    fs.mv("/ann/fsspec/f", "/ann/fsspec/g")
    assert list(fs.find("/ann/fsspec")) == ["/ann/fsspec/g"]
    with pytest.raises(FileNotFoundError):
        fs.info("/ann/fsspec/none")
    other = closing(WebHDFS(host="127.0.0.1", port=pai.port, skip_instance_cache=True, token=pai.tokens["ben"]))
    with pytest.raises(PermissionError):
        other.cat_file("/ann/fsspec/g")
    fs.rm("/ann/fsspec", recursive=True)
    assert not fs.exists("/ann/fsspec")


@pytest.mark.parametrize("field", ["user", "token"])
def test_our_own_client_speaks_with_it(pai, field):
    client = HdfsClient(Access("hdfs", **{field: pai.tokens["ann"]}), pai.authority)
    client.write("/ann/ours/数据", lambda: iter([b"a" * 100_000, b"b"]))
    assert b"".join(client.read("/ann/ours/数据")) == b"a" * 100_000 + b"b"


def test_login_keeps_a_token_apart_from_the_address_and_never_shows_it(pai, tmp_path):
    token = pai.tokens["ann"]
    environ = {"PATH": os.environ["PATH"], "OUTLAST_HOME": str(tmp_path)}

    def outlast(*words: str, given: str = "") -> str:
        command = [sys.executable, "-m", "outlast.cli.entry", *words]
        done = subprocess.run(command, env=environ, input=given, capture_output=True, text=True, timeout=150)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    said = outlast(
        "login", "hdfs", "--endpoint", pai.url, "--user", "ann", "--secret-stdin", "--in-file", given=f"{token}\n"
    )
    (tmp_path / "f").write_text("x")
    said += outlast("cp", str(tmp_path / "f"), f"hdfs://{pai.authority}/ann/kept") + outlast("whoami", "--check")
    assert outlast("cat", f"hdfs://{pai.authority}/ann/kept") == "x" and token not in said


def test_curl_sends_a_file_in_one_command_by_token_or_as_password(pai, tmp_path):
    (tmp_path / "f").write_bytes(bytes(3 << 20))
    for who in (["-H", f"Authorization: Bearer {pai.tokens['ann']}"], ["-u", f"ann:{pai.tokens['ann']}"]):
        for more in ((), ("-H", "Expect:"), ("-H", "Transfer-Encoding: chunked")):
            address = f"{pai.url}/webhdfs/v1/ann/curl?op=CREATE&overwrite=true"
            command = ["curl", "-sS", "-L", "-w", "%{http_code}", "-T", str(tmp_path / "f"), *who, *more, address]
            done = subprocess.run(command, capture_output=True, text=True, timeout=150)
            assert (done.returncode, done.stdout, done.stderr) == (0, "201", "")
    assert pai.hdfs("ann", "GET", "/ann/curl", "GETFILESTATUS").json()["FileStatus"]["length"] == 3 << 20


def test_the_editor_writes_op_in_small_letters_at_the_address_of_the_proxy(pai):
    base = f"/as/{pai.tokens['ann']}/webhdfs/api/v1/ann/editor"
    query = {"user.name": "ann", "permission": "0755"}
    missing = pai.call(None, "GET", base, params={"op": "getfilestatus", **query})
    assert refusal(missing) == (404, "FileNotFoundException")
    assert pai.call(None, "PUT", base, params={"op": "mkdirs", **query}).json() == {"boolean": True}
    step = pai.call(None, "PUT", f"{base}/a.py", params={"op": "create", "overwrite": "true", **query})
    assert (step.status_code, step.content) == (307, b"")
    made = pai.call(None, "PUT", step.headers["location"], content=iter([b"print", b"(1)"]))
    assert (made.status_code, made.content) == (201, b"")
    listed = pai.call(None, "GET", base, params={"op": "liststatus", **query}).json()
    assert [each["pathSuffix"] for each in listed["FileStatuses"]["FileStatus"]] == ["a.py"]


def test_a_delegation_token_lets_in_and_is_repeated_in_the_redirect(pai):
    token = pai.hdfs("ann", "GET", "/", "GETDELEGATIONTOKEN").json()["Token"]["urlString"]
    assert token != pai.tokens["ann"]
    step = pai.call(None, "PUT", "/webhdfs/v1/ann/delegated", params={"op": "CREATE", "delegation": token})
    assert step.status_code == 307 and f"delegation={token}" in step.headers["location"]
    assert pai.call(None, "PUT", step.headers["location"], content=b"x").status_code == 201
