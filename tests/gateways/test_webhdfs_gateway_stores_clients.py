"""The clients that people have, with the server's stores behind the WebHDFS door."""

import io

import pytest

from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.stores.access import Access


@pytest.fixture
def closing():
    held = []
    yield lambda client: held.append(client) or client
    for client in held:
        (getattr(client, "_session", None) or client.session).close()


def test_hdfs_uploads_downloads_walks_and_removes(pai, base, closing, tmp_path):
    import hdfs

    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "out" / "model.bin").write_bytes(bytes(range(256)) * 2000)
    (tmp_path / "out" / "sub" / "notes").write_text("one")
    client = closing(hdfs.TokenClient(pai.url, pai.tokens["ann"]))
    home = f"{base}/clients/hdfs"
    client.upload(home, str(tmp_path / "out"), n_threads=2)
    client.upload(home, f"{tmp_path}/out/", overwrite=True)  # into the folder, file by file
    client.upload(f"{home}/out", str(tmp_path / "out"))
    client.upload(f"{home}/out", str(tmp_path / "out"), overwrite=True)  # beside it, then renamed
    client.write(f"{home}/sub/notes", io.BytesIO(b" two"), append=True)
    with pytest.raises(hdfs.HdfsError, match="already exists"):
        client.write(f"{home}/sub/notes", b"x")
    with client.read(f"{home}/sub/notes", offset=2, length=3) as reader:
        assert reader.read() == b"e t"
    with client.write(f"{home}/lines", encoding="utf-8", overwrite=True) as writer:
        writer.write("词\n" * 1000)
    client.download(home, str(tmp_path / "back"))
    assert (tmp_path / "back" / "model.bin").read_bytes() == (tmp_path / "out" / "model.bin").read_bytes()
    assert (tmp_path / "back" / "sub" / "notes").read_text() == "one two"
    walked = {f"{path}/{name}".removeprefix(home) for path, _, files in client.walk(home) for name in files}
    assert {"/model.bin", "/sub/notes", "/lines"} <= walked
    assert client.status(f"{home}/none", strict=False) is None
    assert client.content(f"{home}/sub")["fileCount"] == 1 and client.checksum(f"{home}/lines")["length"] == 28
    client.rename(f"{home}/lines", f"{home}/words")
    client.makedirs(f"{home}/empty/deep", permission=755)
    assert client.delete(home, recursive=True) is True


def test_pyhdfs_which_insists_on_every_status(pai, base, tmp_path):
    import pyhdfs

    client = pyhdfs.HdfsClient(hosts=pai.authority, user_name=pai.tokens["ann"])
    home = f"{base}/clients/pyhdfs"
    assert client.mkdirs(home)
    client.create(f"{home}/f", b"one")
    client.append(f"{home}/f", b" two")
    with client.open(f"{home}/f", offset=1) as reader:
        assert reader.read() == b"ne two"
    with pytest.raises(pyhdfs.HdfsFileAlreadyExistsException):
        client.create(f"{home}/f", b"x")
    with pytest.raises(pyhdfs.HdfsFileNotFoundException):
        client.open(f"{home}/none")
    with pytest.raises(pyhdfs.HdfsUnsupportedOperationException):
        client.set_times(f"{home}/f", modificationtime=1000)
    assert client.get_file_status(f"{home}/f").length == 7
    assert client.get_content_summary(home).fileCount == 1
    assert client.get_file_checksum(f"{home}/f").length == 28
    client.copy_to_local(f"{home}/f", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == b"one two"
    assert client.rename(f"{home}/f", f"{home}/g") is True and client.listdir(home) == ["g"]
    assert [files for _, _, files in client.walk(home)] == [["g"]]
    assert client.delete(home, recursive=True) is True
    viewer = pyhdfs.HdfsClient(hosts=pai.authority, user_name=pai.tokens["vic"])
    with pytest.raises(pyhdfs.HdfsAccessControlException):
        viewer.list_status(base)


def test_fsspec_writes_in_many_posts_and_reads_in_ranges(pai, base, closing):
    from fsspec.implementations.webhdfs import WebHDFS

    fs = closing(WebHDFS(host="127.0.0.1", port=pai.port, skip_instance_cache=True, token=pai.tokens["ann"]))
    home = f"{base}/clients/fsspec"
    body = bytes(range(256)) * 2048
    with fs.open(f"{home}/f", "wb", block_size=200_000) as file:
        for start in range(0, len(body), 100_000):
            file.write(body[start : start + 100_000])
    with fs.open(f"{home}/f", "rb", block_size=1000) as file:
        file.seek(300_000)
        assert file.read(1000) == body[300_000:301_000]
    assert fs.cat_file(f"{home}/f") == body and fs.info(f"{home}/f")["size"] == len(body)
    fs.mv(f"{home}/f", f"{home}/g")
    fs.makedirs(f"{home}/sub", exist_ok=True)
    assert list(fs.find(home)) == [f"{home}/g"] and fs.exists(f"{home}/g") and not fs.exists(f"{home}/f")
    with pytest.raises(FileNotFoundError):
        fs.info(f"{home}/none")
    viewer = closing(WebHDFS(host="127.0.0.1", port=pai.port, skip_instance_cache=True, token=pai.tokens["vic"]))
    with pytest.raises(PermissionError):
        viewer.cat_file(f"{home}/g")
    fs.rm(home, recursive=True)
    assert not fs.exists(home)


def test_our_own_client_speaks_with_it(pai, base):
    client = HdfsClient(Access("hdfs", token=pai.tokens["ann"]), pai.authority)
    path = f"{base}/clients/ours/数据 100%"
    assert client.write(path, lambda: iter([b"a" * 100_000, b"b"]), overwrite=False) is True
    assert client.write(path, lambda: iter([b"other"]), overwrite=False) is False
    assert b"".join(client.read(path)) == b"a" * 100_000 + b"b"
