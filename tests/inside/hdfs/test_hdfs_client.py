"""The client of a real HDFS, beside a client that nobody here wrote."""

import contextlib
import io
import json

import pytest

from outlast.inside.errors import AccessDenied, Changed, NotFound, RequestError
from outlast.inside.hdfs.client import HdfsClient
from outlast.inside.hdfs.nodes import endpoint_of
from outlast.inside.hdfs.wire import Exists, NotEmpty, check_path, inode_path, target_of, trouble
from outlast.inside.net.retry import Again
from outlast.inside.stores.access import Access

NAMES = ["数据 集", 'it\'s "so"', "a+b&c=d?e#f;g", "new\nline\\", "~!@$^*()[]{}|<>,"]
PERCENT = ["100%", "c%20d", "a%2Fb"]


@pytest.fixture
def client(hadoop):
    return HdfsClient(hadoop.access, hadoop.authority)


@pytest.fixture
def other(hadoop):
    import hdfs

    client = hdfs.InsecureClient(hadoop.url, user=hadoop.access.user)
    yield client
    client._session.close()


@pytest.fixture
def folder(hadoop):
    return hadoop.folder()


def test_what_one_client_writes_the_other_reads(client, other, folder):
    for number, name in enumerate(NAMES):
        ours, theirs = f"{folder}/ours/{name}", f"{folder}/theirs/{name}"
        body = name.encode() * (number + 1)
        client.write(ours, lambda body=body: iter([body]))
        with other.read(ours) as reader:
            assert reader.read() == body
        other.write(theirs, io.BytesIO(body))
        assert b"".join(client.read(theirs)) == body
    assert sorted(other.list(f"{folder}/ours")) == sorted(NAMES)
    assert sorted(each.name for each in client.list(f"{folder}/theirs")) == sorted(NAMES)


def test_percent_signs_survive_data_nodes_that_decode_twice(client, folder):
    for name in PERCENT:
        path = f"{folder}/{name}/{name}"
        client.write(path, lambda name=name: iter([name.encode()]))
        client.append(path, [b" more"])
        assert b"".join(client.read(path)) == name.encode() + b" more"
        assert client.checksum(path).startswith("MD5-of-")
    assert sorted(each.name for each in client.list(folder)) == sorted(PERCENT)


def test_ranges_cross_blocks_and_end_with_the_file(client, folder):
    body = bytes(range(256)) * (5 << 12)  # 5 MiB: five blocks
    client.write(f"{folder}/f", lambda: iter([body[:100], b"", body[100:]]))
    for start, length in ((0, None), ((1 << 20) - 3, 7), (len(body) - 5, 100), (len(body), 1), (len(body) + 9, None)):
        end = None if length is None else start + length
        assert b"".join(client.read(f"{folder}/f", start, length)) == body[start:end]


def test_a_reader_gets_one_file_or_is_told(client, folder):
    path = f"{folder}/f"
    client.write(path, lambda: iter([b"a" * (3 << 20)]))
    tag = client.status(path).tag
    pieces = client.read(path)
    assert set(next(pieces)) == {ord("a")}
    client.write(path, lambda: iter([b"b" * (3 << 20)]))
    with pytest.raises(Changed, match="meanwhile"):
        list(client.read(path, tag=tag))
    with contextlib.suppress(Changed):
        assert set(b"".join(pieces)) == {ord("a")}


def test_rename_replaces_only_when_it_may_and_never_moves_into_a_folder(client, folder):
    for name in ("one", "two"):
        client.write(f"{folder}/{name}", lambda name=name: iter([name.encode()]))
    client.make_folders(f"{folder}/sub")
    with pytest.raises(Exists):
        client.rename(f"{folder}/one", f"{folder}/two")
    for overwrite in (False, True):
        with pytest.raises(RequestError):
            client.rename(f"{folder}/one", f"{folder}/sub", overwrite)
    assert client.list(f"{folder}/sub") == []
    client.rename(f"{folder}/one", f"{folder}/two", overwrite=True)
    assert b"".join(client.read(f"{folder}/two")) == b"one"
    with pytest.raises(NotFound):
        client.rename(f"{folder}/one", f"{folder}/three")


def test_status_owner_permission_and_times(client, folder):
    path = f"{folder}/f"
    client.write(path, lambda: iter([b"12345"]))
    client.set_permission(path, 0o600)
    client.set_owner(path, "ann", "lab")
    client.set_modified(path, 1_600_000_000_123)
    found = client.status(path)
    assert (found.size_bytes, found.mode, found.owner, found.group) == (5, 0o600, "ann", "lab")
    assert found.modified_ms == 1_600_000_000_123
    assert client.summary(folder)["fileCount"] == 1 and client.summary(folder)["length"] == 5
    assert client.status(f"{folder}/none") is None


def test_a_private_file_is_private(hadoop, client, folder):
    path = f"{folder}/f"
    client.write(path, lambda: iter([b"secret"]))
    client.set_permission(path, 0o600)
    stranger = HdfsClient(hadoop.access_of("stranger"), hadoop.authority)
    with pytest.raises(AccessDenied, match="stranger"):
        list(stranger.read(path))
    with pytest.raises(AccessDenied):
        stranger.write(f"{folder}/mine", lambda: iter([b"x"]))


def test_delete_spares_full_folders_unless_told(client, folder):
    client.write(f"{folder}/sub/f", lambda: iter([b"x"]))
    with pytest.raises(NotEmpty):
        client.delete(f"{folder}/sub")
    assert client.delete(f"{folder}/sub", recursive=True) is True
    assert client.delete(f"{folder}/sub") is False


def test_a_port_that_speaks_something_else_is_named():
    from servers.faults import ALWAYS, answer
    from servers.faulty import Faulty

    with Faulty("http://127.0.0.1:9") as proxy:
        proxy.add(answer(404, times=ALWAYS))
        with pytest.raises(RequestError, match=rf"{proxy.authority} does not answer as WebHDFS.*9870"):
            HdfsClient(Access("hdfs", user="me"), proxy.authority).status("/x")


@pytest.mark.parametrize(
    ("endpoint", "authority", "expected"),
    [
        ("", "nn:50070", "http://nn:50070"),
        ("", "nn", "http://nn:9870"),
        ("", "[::1]", "http://[::1]:9870"),
        ("https://nn:9871", "nn:9870", "https://nn:9871"),
        ("http://pai.lab/webhdfs", "pai.lab", "http://pai.lab/webhdfs"),
        ("http://elsewhere:9870", "nn:50070", "http://nn:50070"),
    ],
)
def test_an_endpoint_is_used_for_its_own_host_only(endpoint, authority, expected):
    assert endpoint_of(Access("hdfs", endpoint), authority) == expected


@pytest.mark.parametrize("path", ["relative", "", "/a//b", "/a/../b", "/a/./b", "/a/", "/a:b", "/a\0", "/\udcff"])
def test_paths_that_can_never_be(path):
    with pytest.raises(RequestError):
        check_path(path)


def test_targets_are_quoted_and_carry_the_user():
    target = target_of(
        "/base", "/a b/c%", "RENAME", {"user.name": "me"}, {"destination": "/x&y", "overwrite": True, "offset": 3}
    )
    assert target == ("/base/webhdfs/v1/a%20b/c%25?op=RENAME&user.name=me&destination=%2Fx%26y&overwrite=true&offset=3")
    assert inode_path(7, "x") == "/.reserved/.inodes/7/x"


@pytest.mark.parametrize(
    ("name", "message", "again", "kind"),
    [
        ("StandbyException", "Operation category READ is not supported in state standby", True, "PlaceError"),
        ("RetriableException", "busy", True, "PlaceError"),
        ("SafeModeException", "Name node is in safe mode.", True, "PlaceError"),
        ("DSQuotaExceededException", "The DiskSpace quota of /q is exceeded", False, "StoreFull"),
        ("IOException", "File /x could only be replicated to 0 nodes instead of minReplication", True, "StoreFull"),
        ("AccessControlException", "Permission denied: user=bob", False, "AccessDenied"),
        ("FileNotFoundException", "File does not exist: /x", False, "NotFound"),
        ("PathComponentTooLongException", "too long", False, "RequestError"),
        ("IOException", "something else\n\tat org.apache.hadoop.Foo", False, "PlaceError"),
    ],
)
def test_exceptions_become_our_errors(name, message, again, kind):
    body = json.dumps({"RemoteException": {"exception": name, "message": message}}).encode()
    error = trouble(403, "Forbidden", body, "", "nn:9870", "/x")
    assert isinstance(error, Again) is again
    error = error.error if again else error
    assert type(error).__name__ == kind
    assert "\n" not in str(error) and "org.apache" not in str(error)
