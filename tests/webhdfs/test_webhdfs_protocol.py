"""Requests to calls, results to documents, refusals to bodies: all pure."""

import zlib

import pytest
from webhdfs_served import crc32c

from outlast.webhdfs import xattrs
from outlast.webhdfs.checksum import file_checksum
from outlast.webhdfs.filesystem import FILE, LINK, Status
from outlast.webhdfs.parameters import Parameters, check_path
from outlast.webhdfs.protocol import OPERATIONS, location_of, parse, status_document
from outlast.webhdfs.refusals import Refusal


def test_a_request_is_read_once_and_completely():
    call = parse(
        "PUT", "/webhdfs/v1/a%20b/c%25?Op=create&user.name=ann&user.name=bob&overwrite=True&tempdir=None&length="
    )
    assert call.operation == "CREATE" and call.path == "/a b/c%" and call.user == call.said_by == "ann"
    assert call.parameters == Parameters(overwrite=True) and not call.is_data
    call = parse("GET", "/webhdfs/v1?op=GETHOMEDIRECTORY&doas=ann&user.name=bob")
    assert (call.path, call.user, call.said_by) == ("/", "ann", "bob")
    assert parse("GET", "/webhdfs/v1/x?op=OPEN").user == "dr.who"
    assert parse("HEAD", "/webhdfs/v1/x?op=OPEN").operation == "OPEN"
    for target in ("/", "/webhdfs", "/webhdfs/v2/x?op=OPEN", "/webhdfs/v1x?op=OPEN", "//webhdfs/v1/x?op=OPEN"):
        assert parse("GET", target) is None


def test_the_second_step_is_asked_just_like_the_first():
    first = parse("PUT", "/webhdfs/v1/a%20b%25/%E6%95%B0?op=CREATE&permission=600&noredirect=true&doas=ann&x=y")
    location = location_of(first, "http://host:50070")
    assert location == (
        "http://host:50070/webhdfs/v1/a%20b%25/%E6%95%B0?op=CREATE&user.name=dr.who&doas=ann"
        "&namenoderpcaddress=host:50070&permission=600"
    )
    second = parse("PUT", location[len("http://host:50070") :])
    assert second.is_data and second.name_node == "host:50070"
    assert (second.operation, second.path, second.user) == (first.operation, first.path, first.user)
    assert second.parameters == Parameters(permission=0o600)


def test_every_operation_has_a_method_and_something_to_do():
    from outlast.webhdfs.exchange import _ASKING, _TRANSFERS

    assert {name for names in OPERATIONS.values() for name in names} == {*_ASKING, *_TRANSFERS}


@pytest.mark.parametrize(
    ("method", "target", "name", "message"),
    [
        ("GET", "/x", "UnsupportedOperationException", "op=NULL is not supported"),
        ("GET", "/x?op=GETQUOTAUSAGE", "UnsupportedOperationException", "op=GETQUOTAUSAGE is not supported"),
        ("GET", "/x?op=fly", "IllegalArgumentException", "GetOpParam.Op.FLY"),
        ("DELETE", "/x?op=OPEN", "IllegalArgumentException", "DeleteOpParam.Op.OPEN"),
        ("GET", "/x?op=OPEN&user.name=1st", "IllegalArgumentException", '"user.name"'),
        ("GET", "/x?op=OPEN&doas=a%20b", "IllegalArgumentException", '"doas"'),
        ("GET", "/x?op=OPEN&offset=1e3", "IllegalArgumentException", "radix-10"),
        ("GET", "/x?op=OPEN&offset=99999999999999999999", "IllegalArgumentException", "radix-10"),
        ("PUT", "/x?op=SETPERMISSION&permission=01777777", "IllegalArgumentException", "radix-8"),
        ("PUT", "/x?op=RENAME&destination=/a/../../b", "IOException", "Invalid name: /a/../../b"),
        ("PUT", "/x?op=RENAME&destination=/a/b%00", "IOException", "Invalid name"),
        ("PUT", "/x?op=SETXATTR&xattr.value=0x6", "IllegalArgumentException", "hex"),
        ("PUT", "/x?op=SETXATTR&flag=BAD", "IllegalArgumentException", "XAttrSetFlag.BAD"),
        ("GET", "/x?op=GETXATTRS&encoding=ROT13", "IllegalArgumentException", "XAttrCodec.ROT13"),
        ("POST", "/x?op=CONCAT&sources=/a,../b", "InvalidPathException", "../b"),
        ("GET", "/a/%2e%2e/b?op=OPEN", "InvalidPathException", "Invalid path name /a/../b"),
        ("GET", "/a%2f..%2fb?op=OPEN", "InvalidPathException", "/a/../b"),
    ],
)
def test_what_cannot_be_meant_is_refused(method, target, name, message):
    with pytest.raises(Refusal) as caught:
        parse(method, "/webhdfs/v1" + target)
    assert caught.value.name == name and message in caught.value.message


@pytest.mark.parametrize("path", ["/a//b", "/a/./b", "/a/..", "/..", "//", "/a//", "/a:b", "/a\0", "a", "/a/../.."])
def test_paths_that_can_never_be(path):
    with pytest.raises(Refusal, match="Invalid path name"):
        check_path(path)


@pytest.mark.parametrize(
    ("path", "expected"), [("/", "/"), ("/a", "/a"), ("/a/", "/a"), ("/...", "/..."), ("/a b/%41", "/a b/%41")]
)
def test_paths_that_can(path, expected):
    assert check_path(path) == expected


@pytest.mark.parametrize(
    ("name", "status", "java"),
    [
        ("FileNotFoundException", 404, "java.io.FileNotFoundException"),
        ("IllegalArgumentException", 400, "java.lang.IllegalArgumentException"),
        ("AccessControlException", 403, "org.apache.hadoop.security.AccessControlException"),
        ("DiskOutOfSpaceException", 403, "org.apache.hadoop.util.DiskChecker$DiskOutOfSpaceException"),
        ("RuntimeException", 500, "java.lang.RuntimeException"),
    ],
)
def test_a_refusal_has_hadoops_status_and_class(name, status, java):
    refusal = Refusal(name, 'why "so"')
    assert refusal.status == status
    assert refusal.body() == (
        b'{"RemoteException": {"exception": "%s", "javaClassName": "%s", "message": "why \\"so\\""}}'
        % (name.encode(), java.encode())
    )


def test_a_status_is_written_as_hadoop_writes_it():
    status = Status(FILE, 5, "ann", "lab", 0o644, 1000, 2000, 4096, 3, 16386, 0, "f")
    assert status_document(status) == {
        "accessTime": 1000, "blockSize": 4096, "childrenNum": 0, "fileId": 16386, "group": "lab", "length": 5,
        "modificationTime": 2000, "owner": "ann", "pathSuffix": "f", "permission": "644", "replication": 3,
        "storagePolicy": 0, "type": "FILE",
    }  # fmt: skip
    assert status_document(status._replace(kind=LINK, link="/x"))["symlink"] == "/x"


@pytest.mark.parametrize(
    ("text", "value"), [("0x6162", b"ab"), ("0sYWI=", b"ab"), ('"ab"', b"ab"), ("ab", b"ab"), ('"', b'"'), ('""', b"")]
)
def test_attribute_values_come_in_three_codes(text, value):
    assert xattrs.decode("xattr.value", text) == value


def test_a_checksum_of_known_bytes():
    found = file_checksum(iter([b"01234", b"56789"]), 1 << 20, crc32c, "CRC32C")
    # What a Hadoop 2.7.3 says of these ten bytes.
    assert found == {
        "algorithm": "MD5-of-0MD5-of-512CRC32C",
        "bytes": "000002000000000000000000b8b6b317656779aff5773e33b180618800000000",
        "length": 28,
    }
    body = bytes(range(256)) * 20
    whole = file_checksum(iter([body]), 1024)
    assert whole == file_checksum((body[start : start + 7] for start in range(0, len(body), 7)), 1024, zlib.crc32)
    assert whole["algorithm"] == "MD5-of-2MD5-of-512CRC32"
