"""The clients that people have, used as they use them."""

import io
import subprocess
from pathlib import Path

import pytest
from webhdfs_served import USER

from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.hdfs.tree import HdfsTree
from outlast.inside.move.base import Job, Moving, Report
from outlast.webhdfs.ground import UNFINISHED

NAMES = ["数据 集", 'it\'s "so"', "a+b&c=d?e#f;g", "new\nline\\", "~!@$^*()[]{}|<>,", "100%", "c%20d", "a%2Fb"]


@pytest.fixture
def insecure(served):
    import hdfs

    client = hdfs.InsecureClient(served.url, user=USER)
    yield client
    client._session.close()


@pytest.fixture
def pyhdfs_client(served):
    import pyhdfs

    client = pyhdfs.HdfsClient(hosts=served.authority, user_name=USER)
    return client


@pytest.fixture
def fs(served):
    from fsspec.implementations.webhdfs import WebHDFS

    host, port = served.authority.split(":")
    fs = WebHDFS(host=host, port=int(port), user=USER, skip_instance_cache=True)
    yield fs
    fs.session.close()


def test_the_training_of_the_openpai_tutorial_downloads_trains_and_uploads(served, insecure, tmp_path, monkeypatch):
    (served.folder / "demo" / "data" / "sub").mkdir(parents=True)
    (served.folder / "demo" / "data" / "train.csv").write_text("1,2\n")
    (served.folder / "demo" / "data" / "sub" / "more.csv").write_text("3,4\n")
    monkeypatch.chdir(tmp_path)
    insecure.download("/demo/data", ".", overwrite=True)
    assert (tmp_path / "data" / "sub" / "more.csv").read_text() == "3,4\n"
    (tmp_path / "output").mkdir()
    (tmp_path / "output" / "model.bin").write_bytes(bytes(200_000))
    # The slash at the end makes the files land in the folder itself.
    insecure.makedirs("/demo/output")
    insecure.upload("/demo/output", "./output/", overwrite=True)
    assert (served.folder / "demo" / "output" / "model.bin").stat().st_size == 200_000
    (tmp_path / "output" / "model.bin").write_bytes(b"better")
    insecure.upload("/demo/output", "./output/", overwrite=True, n_threads=2)
    assert (served.folder / "demo" / "output" / "model.bin").read_bytes() == b"better"
    insecure.upload("/demo/fresh", "./output")
    assert insecure.list("/demo/fresh") == ["model.bin"]


def test_hdfs_walks_renames_deletes_and_sets(served, insecure):
    import hdfs

    insecure.write("/a/b/f", b"one", permission=600)
    insecure.write("/a/b/f", b" two", append=True)
    with pytest.raises(hdfs.HdfsError, match="already exists"):
        insecure.write("/a/b/f", b"other")
    with insecure.read("/a/b/f", offset=2, length=3) as reader:
        assert reader.read() == b"e t"
    assert [(path, folders, files) for path, folders, files in insecure.walk("/a")] == [
        ("/a", ["b"], []),
        ("/a/b", [], ["f"]),
    ]
    assert insecure.status("/a/b/f")["permission"] == "600"
    insecure.set_permission("/a/b/f", 777)
    insecure.set_owner("/a/b/f", owner="ann", group="lab")
    insecure.set_times("/a/b/f", access_time=1000, modification_time=2000)
    insecure.set_replication("/a/b/f", 3)
    found = insecure.status("/a/b/f")
    assert [found[name] for name in ("permission", "owner", "group", "modificationTime", "replication")] == [
        "777", "ann", "lab", 2000, 3,
    ]  # fmt: skip
    assert insecure.content("/a")["spaceConsumed"] == 21 and insecure.status("/none", strict=False) is None
    assert insecure.checksum("/a/b/f")["length"] == 28
    with pytest.raises(hdfs.HdfsError, match="not a directory"):
        insecure.list("/a/b/f")
    insecure.rename("/a/b/f", "/a/g")
    with pytest.raises(hdfs.HdfsError):
        insecure.rename("/a/none", "/a/h")
    with pytest.raises(hdfs.HdfsError, match="non empty"):
        insecure.delete("/a")
    assert insecure.delete("/a", recursive=True) is True and insecure.delete("/a") is False
    assert insecure.resolve("x") == f"/user/{USER}/x"
    assert list(served.folder.iterdir()) == [served.folder / UNFINISHED]


@pytest.mark.parametrize("name", NAMES)
def test_what_one_client_writes_every_other_reads(served, insecure, pyhdfs_client, fs, name):
    ours = HdfsClient(served.access, served.authority)
    body = name.encode() * 3
    ours.write(f"/{name}/ours", lambda: iter([body]))
    insecure.write(f"/{name}/hdfs", io.BytesIO(body))
    assert sorted(insecure.list(f"/{name}")) == sorted(pyhdfs_client.listdir(f"/{name}")) == ["hdfs", "ours"]
    for path in (f"/{name}/ours", f"/{name}/hdfs"):
        assert (served.folder / path[1:]).read_bytes() == body
        assert b"".join(ours.read(path)) == body
        with insecure.read(path) as reader:
            assert reader.read() == body
        if "%" not in name and "#" not in name:  # which these two do not quote
            assert fs.cat_file(path) == body


def test_pyhdfs_which_insists_on_every_status(served, pyhdfs_client, tmp_path):
    import pyhdfs

    client = pyhdfs_client
    client.mkdirs("/d", permission=750)
    client.create("/d/f", b"one", permission=640, replication=2)
    client.append("/d/f", b" two")
    with client.open("/d/f", offset=1) as reader:
        assert reader.read() == b"ne two"
    with pytest.raises(pyhdfs.HdfsFileAlreadyExistsException):
        client.create("/d/f", b"x")
    with pytest.raises(pyhdfs.HdfsFileNotFoundException):
        client.open("/d/none")
    with pytest.raises(pyhdfs.HdfsPathIsNotEmptyDirectoryException):
        client.delete("/d")
    with pytest.raises(pyhdfs.HdfsIllegalArgumentException):
        client.set_permission("/d/f", permission=888)
    with pytest.raises(pyhdfs.HdfsUnsupportedOperationException):
        client.create_symlink("/d/link", "/d/f")
    status = client.get_file_status("/d/f")
    assert (status.permission, status.replication, status.length, status.owner) == ("640", 2, 7, USER)
    assert client.list_status("/d")[0].pathSuffix == "f" and client.exists("/d/f") and not client.exists("/d/g")
    assert client.get_content_summary("/d").length == 7
    assert client.get_file_checksum("/d/f").algorithm == "MD5-of-0MD5-of-512CRC32"
    assert client.get_home_directory() == f"/user/{USER}"
    client.set_owner("/d/f", owner="ann")
    client.set_times("/d/f", modificationtime=1000)
    assert client.set_replication("/d/f", replication=1) is True
    client.set_xattr("/d/f", "user.k", "0x6162", "CREATE")
    assert client.get_xattrs("/d/f") == {"user.k": "ab"} and client.list_xattrs("/d/f") == ["user.k"]
    client.remove_xattr("/d/f", "user.k")
    client.create("/d/g", b" three")
    client.concat("/d/f", ["/d/g"])
    assert client.rename("/d/f", "/d/h") is True
    (tmp_path / "local").write_bytes(b"from here")
    client.copy_from_local(str(tmp_path / "local"), "/d/k")
    client.copy_to_local("/d/h", str(tmp_path / "back"))
    assert (tmp_path / "back").read_bytes() == b"one two three"
    assert [files for _, _, files in client.walk("/d")] == [["h", "k"]]
    assert client.delete("/d", recursive=True) is True


def test_fsspec_writes_in_many_posts_and_reads_in_ranges(served, fs):
    body = bytes(range(256)) * 4096
    with fs.open("/d/sub/f", "wb", block_size=300_000) as file:
        for start in range(0, len(body), 100_000):
            file.write(body[start : start + 100_000])
    assert (served.folder / "d" / "sub" / "f").read_bytes() == body
    with fs.open("/d/sub/f", "rb", block_size=1000) as file:
        file.seek(500_000)
        assert file.read(1000) == body[500_000:501_000]
    assert fs.info("/d/sub/f")["size"] == len(body) and fs.isdir("/d/sub")
    assert list(fs.find("/d")) == ["/d/sub/f"]
    assert fs.home_directory() == f"/user/{USER}"
    fs.mv("/d/sub/f", "/d/g")
    fs.chmod("/d/g", "600")
    assert [entry["permission"] for entry in fs.ls("/d", detail=True) if entry["type"] == "file"] == ["600"]
    with pytest.raises(FileNotFoundError):
        fs.info("/d/none")
    assert fs.ukey("/d/g")["algorithm"].startswith("MD5-of-")
    fs.rm("/d", recursive=True)
    assert not fs.exists("/d")


@pytest.mark.parametrize("size", [0, 10, 3 << 20])
def test_curl_sends_a_file_in_one_command(served, tmp_path, size):
    (tmp_path / "f").write_bytes(bytes(size))
    address = f"{served.url}/webhdfs/v1/d/f?op=CREATE&user.name={USER}&overwrite=true"
    chunked = [("-H", "Transfer-Encoding: chunked")] if size else []  # of an empty file curl never sends the end
    for more in ((), ("-H", "Expect:"), *chunked):
        done = subprocess.run(
            ["curl", "-sS", "-L", "-w", "%{http_code}", "-T", str(tmp_path / "f"), *more, address],
            capture_output=True, text=True, timeout=150,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "201", "")
        assert (served.folder / "d" / "f").stat().st_size == size
    done = subprocess.run(
        ["curl", "-sS", "-L", "-o", str(tmp_path / "g"), f"{served.url}/webhdfs/v1/d/f?op=OPEN"], timeout=60
    )
    assert done.returncode == 0 and (tmp_path / "g").stat().st_size == size


def test_our_tree_moves_files_there_and_back(served, tmp_path):
    tree = HdfsTree(served.access, served.authority)
    (tmp_path / "in").mkdir()
    jobs = []
    for number in range(20):
        local = tmp_path / "in" / str(number)
        local.write_bytes(bytes([number]) * number * 100_000)
        jobs.append(Job(str(local), f"/data/{number % 3}/{number}", local.stat().st_size))
    tree.send(jobs, Report(), Moving(workers=4, full_check=True))
    found = {item.path: item for item in tree.walk("/data")}
    assert {path: item.size_bytes for path, item in found.items()} == {job.path: job.size_bytes for job in jobs}
    (tmp_path / "out").mkdir()
    back = [
        Job(str(tmp_path / "out" / path.rpartition("/")[2]), path, item.size_bytes, item.modified_ns, "", item.tag)
        for path, item in found.items()
    ]
    tree.fetch(back, Report(), Moving(workers=4, full_check=True))
    for job in jobs:
        assert (tmp_path / "out" / job.path.rpartition("/")[2]).read_bytes() == Path(job.local).read_bytes()
