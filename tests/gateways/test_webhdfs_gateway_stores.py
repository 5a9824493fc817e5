"""The server's stores at the WebHDFS door: what every kind of store can do there, and what only some can."""

import hashlib
import json

import pytest
from pai_lab import refusal


def names(pai, user, path, **query):
    answer = pai.hdfs(user, "GET", path, "LISTSTATUS", **query)
    assert answer.status_code == 200, answer.text
    return [each["pathSuffix"] for each in answer.json()["FileStatuses"]["FileStatus"]]


def status(pai, path):
    return pai.hdfs("ann", "GET", path, "GETFILESTATUS").json()["FileStatus"]


def content(pai, path, **query):
    answer = pai.hdfs("ann", "GET", path, "OPEN", **query)
    assert answer.status_code == 200, answer.text
    return answer.content


def told(answer):
    """What a call says that answers with a boolean."""
    assert answer.status_code == 200, answer.text
    return answer.json()["boolean"]


def test_the_stores_are_folders_beside_the_tree(pai, shelf):
    assert {"stores", "user", "Output", "Container"} <= set(names(pai, "ann", "/"))
    assert {"obs", "s3"} <= set(names(pai, "ann", "/stores")) and "file" not in names(pai, "ann", "/stores")
    assert {"file", "obs", "s3"} <= set(names(pai, "root", "/stores"))
    assert "played" in names(pai, "ann", "/stores/obs")
    assert {"shared", shelf.bucket} <= set(names(pai, "root", "/stores/s3"))
    assert shelf.bucket not in names(pai, "ann", "/stores/s3")  # an account's buckets are for admins, as in the API
    for path in ("/stores", "/stores/obs", *shelf.bases.values()):
        assert status(pai, path)["type"] == "DIRECTORY"
        assert told(pai.hdfs("ann", "PUT", path, "MKDIRS"))
    for path in ("/stores/none", "/stores/ftp/x", "/stores/s3/No_Bucket", "/stores/obs/not-played-here/x"):
        assert pai.hdfs("ann", "GET", path, "GETFILESTATUS").status_code in (403, 404)
    assert pai.hdfs("ann", "GET", "/", "GETHOMEDIRECTORY").json() == {"Path": "/user/ann"}
    assert pai.hdfs("ann", "GET", "/stores/obs/played", "GETHOMEDIRECTORY").json() == {"Path": "/user/ann"}


def test_a_file_is_written_seen_read_and_removed(pai, base):
    path = f"{base}/one/数据 1%.bin"
    pai.put("ann", path, b"hello", permission="600")
    assert names(pai, "ben", f"{base}/one") == ["数据 1%.bin"]
    found = status(pai, path)
    assert (found["type"], found["length"], found["pathSuffix"]) == ("FILE", 5, "")
    assert status(pai, f"{base}/one")["type"] == "DIRECTORY"
    assert names(pai, "ann", path) == [""]
    assert content(pai, path) == b"hello"
    assert content(pai, path, offset=1, length=3) == b"ell"
    assert content(pai, path, offset=2) == b"llo"
    assert content(pai, path, length=0) == b""
    assert refusal(pai.hdfs("ann", "GET", path, "OPEN", offset=5)) == (403, "IOException")
    summed = pai.hdfs("ann", "GET", path, "GETFILECHECKSUM").json()["FileChecksum"]
    assert summed["algorithm"] == "MD5-of-0MD5-of-512CRC32"
    assert told(pai.hdfs("ben", "DELETE", path, "DELETE")) is True
    assert told(pai.hdfs("ben", "DELETE", path, "DELETE")) is False
    assert refusal(pai.hdfs("ann", "GET", path, "OPEN")) == (404, "FileNotFoundException")


def test_an_empty_file_and_one_in_many_pieces(pai, base):
    pai.put("ann", f"{base}/sizes/empty", b"")
    assert content(pai, f"{base}/sizes/empty") == b""
    block = bytes(range(256)) * 4096
    pai.put("ann", f"{base}/sizes/large", iter([block] * 20 + [b"end"]))
    assert status(pai, f"{base}/sizes/large")["length"] == 20 * len(block) + 3
    whole = content(pai, f"{base}/sizes/large")
    assert hashlib.sha256(whole).digest() == hashlib.sha256(block * 20 + b"end").digest()


def test_what_is_there_is_replaced_only_on_request(pai, base):
    path = f"{base}/kept/f"
    pai.put("ann", path, b"old", overwrite="false")
    refused = pai.hdfs("ann", "PUT", path, "CREATE", b"new")
    assert refused.json()["RemoteException"] == {
        "exception": "FileAlreadyExistsException", "message": f"{path} already exists",
        "javaClassName": "org.apache.hadoop.fs.FileAlreadyExistsException",
    }  # fmt: skip
    assert refusal(pai.hdfs("ann", "PUT", f"{base}/kept", "CREATE", b"new", overwrite="true")) == (
        403, "FileAlreadyExistsException",
    )  # fmt: skip
    assert content(pai, path) == b"old"
    pai.put("ann", path, b"new", overwrite="true")
    assert content(pai, path) == b"new"
    assert pai.hdfs("ann", "PUT", f"{path}/below", "CREATE", b"x").status_code == 403
    missing = pai.hdfs("ann", "PUT", f"{base}/none/deep/f", "CREATE", b"x", createparent="false")
    assert refusal(missing) == (404, "FileNotFoundException")


def test_bytes_are_added(pai, base):
    path = f"{base}/grown/f"
    assert refusal(pai.hdfs("ann", "POST", path, "APPEND", b"x")) == (404, "FileNotFoundException")
    pai.put("ann", path, b"")
    large = bytes(range(256)) * (6 << 12)  # 6 MiB: more than what is copied through this machine
    for piece in (b"one ", b"two ", b"", large, b" end"):
        answer = pai.hdfs("ann", "POST", path, "APPEND", piece)
        assert (answer.status_code, answer.content) == (200, b""), answer.text
    assert content(pai, path) == b"one two " + large + b" end"


def test_folders_are_made_and_removed_with_all_that_is_in_them(pai, base):
    assert told(pai.hdfs("ann", "PUT", f"{base}/made/empty", "MKDIRS"))
    assert told(pai.hdfs("ann", "PUT", f"{base}/made/empty", "MKDIRS"))
    assert names(pai, "ann", f"{base}/made") == ["empty"] and names(pai, "ann", f"{base}/made/empty") == []
    for name in ("a", "b/c", "b/d/e"):
        pai.put("ann", f"{base}/made/{name}", b"12345")
    assert refusal(pai.hdfs("ann", "PUT", f"{base}/made/a", "MKDIRS")) == (403, "FileAlreadyExistsException")
    summed = pai.hdfs("ann", "GET", f"{base}/made", "GETCONTENTSUMMARY").json()["ContentSummary"]
    assert (summed["directoryCount"], summed["fileCount"], summed["length"]) == (4, 3, 15)
    of_one = pai.hdfs("ann", "GET", f"{base}/made/a", "GETCONTENTSUMMARY").json()["ContentSummary"]
    assert (of_one["directoryCount"], of_one["fileCount"], of_one["length"]) == (0, 1, 5)
    full = pai.hdfs("ann", "DELETE", f"{base}/made", "DELETE")
    assert refusal(full) == (403, "PathIsNotEmptyDirectoryException")
    assert told(pai.hdfs("ann", "DELETE", f"{base}/made", "DELETE", recursive="true")) is True
    assert refusal(pai.hdfs("ann", "GET", f"{base}/made", "LISTSTATUS")) == (404, "FileNotFoundException")
    assert refusal(pai.hdfs("ann", "DELETE", base, "DELETE", recursive="true")) == (403, "AccessControlException")


def test_files_and_folders_get_other_names_within_their_store(pai, base):
    for name in ("f", "g", "in/x", "in/y/z"):
        pai.put("ann", f"{base}/names/{name}", name.encode())

    def rename(source, target, **query):
        return pai.hdfs("ann", "PUT", f"{base}/names/{source}", "RENAME", destination=target, **query)

    assert told(rename("f", f"{base}/names/h")) is True
    assert told(rename("in", f"{base}/names/out")) is True
    assert told(rename("h", f"{base}/names/out")) is True  # into a folder that is there
    assert content(pai, f"{base}/names/out/h") == b"f" and content(pai, f"{base}/names/out/y/z") == b"in/y/z"
    assert names(pai, "ann", f"{base}/names") == ["g", "out"]
    assert told(rename("none", f"{base}/names/x")) is False
    assert told(rename("g", f"{base}/names/out/h")) is False  # never over a file that is there, unless asked
    assert told(rename("g", f"{base}/no-such-folder/g")) is False
    assert told(rename("out", f"{base}/names/out/below")) is False
    over = rename("g", f"{base}/names/out/h", renameoptions="OVERWRITE")
    assert (over.status_code, over.content) == (200, b"")
    assert content(pai, f"{base}/names/out/h") == b"g"
    for elsewhere in ("/ann/g", "/stores", "/stores/none", "/stores/obs/other-place/g"):
        for more in ({}, {"renameoptions": "OVERWRITE"}):
            assert rename("out", elsewhere, **more).status_code == 403
    pai.put("ann", "/ann/kept-in-the-tree", b"x")
    into = pai.hdfs("ann", "PUT", "/ann/kept-in-the-tree", "RENAME", destination=f"{base}/names/stolen")
    assert refusal(into) == (403, "AccessControlException")


def test_what_stores_know_nothing_of_is_refused_in_words(pai, base):
    pai.put("ann", f"{base}/plain/f", b"x")
    for method, op, query in (
        ("PUT", "SETPERMISSION", {"permission": "600"}), ("PUT", "SETOWNER", {"owner": "ann"}),
        ("PUT", "SETTIMES", {"modificationtime": "1"}), ("PUT", "SETREPLICATION", {"replication": "2"}),
        ("PUT", "SETXATTR", {"xattr.name": "user.k", "flag": "CREATE"}), ("GET", "LISTXATTRS", {}),
        ("PUT", "REMOVEXATTR", {"xattr.name": "user.k"}), ("GET", "GETXATTRS", {}),
    ):  # fmt: skip
        answer = pai.hdfs("ann", method, f"{base}/plain/f", op, **query)
        assert refusal(answer) == (400, "UnsupportedOperationException"), (op, answer.text)
        assert "its store cannot do that" in answer.text
    assert pai.hdfs("ann", "GET", f"{base}/plain/f", "CHECKACCESS", fsaction="rw-").status_code == 200
    assert refusal(pai.hdfs("ann", "GET", f"{base}/plain/none", "CHECKACCESS", fsaction="r--")) == (
        404, "FileNotFoundException",
    )  # fmt: skip


def test_a_listing_comes_by_pages(pai, base):
    for number in range(5):
        pai.put("ann", f"{base}/paged/{number}", b"x")
    page = pai.hdfs("ann", "GET", f"{base}/paged", "LISTSTATUS_BATCH", startAfter="2").json()["DirectoryListing"]
    assert page["remainingEntries"] == 0
    assert [each["pathSuffix"] for each in page["partialListing"]["FileStatuses"]["FileStatus"]] == ["3", "4"]


@pytest.mark.parametrize("op", ["TRUNCATE", "CONCAT"])
def test_a_folder_that_plays_a_store_can_more_than_a_bucket(pai, shelf, op):
    query = {"TRUNCATE": {"newlength": "2"}, "CONCAT": {}}[op]
    for place, expected in (("folder", 200), ("bucket", 400)):
        base = shelf.bases[place]
        pai.put("ann", f"{base}/more/f", b"one")
        pai.put("ann", f"{base}/more/g", b"two")
        more = {"sources": f"{base}/more/g"} if op == "CONCAT" else {}
        assert pai.hdfs("ann", "POST", f"{base}/more/f", op, **query, **more).status_code == expected
    assert content(pai, f"{shelf.bases['folder']}/more/f") == (b"on" if op == "TRUNCATE" else b"onetwo")


def test_in_a_bucket_objects_are_what_others_see(pai, shelf):
    base, boto = shelf.bases["bucket"], shelf.seaweed.boto
    pai.put("ann", f"{base}/seen/by/boto", b"1")
    assert boto.get_object(Bucket=shelf.bucket, Key="seen/by/boto")["Body"].read() == b"1"
    boto.put_object(Bucket=shelf.bucket, Key="seen/a:colon", Body=b"x")  # no name in HDFS
    boto.put_object(Bucket=shelf.bucket, Key="seen/of/boto", Body=b"22")
    assert names(pai, "ann", f"{base}/seen") == ["by", "of"]
    assert content(pai, f"{base}/seen/of/boto") == b"22"
    assert told(pai.hdfs("ann", "DELETE", f"{base}/seen/of", "DELETE", recursive="true"))
    assert {key for key in shelf.objects() if key.startswith("seen/")} == {"seen/a:colon", "seen/by/boto"}


def test_a_bucket_is_made_like_a_folder(pai, shelf):
    name = f"{shelf.bucket}-new"
    assert refusal(pai.hdfs("ann", "GET", f"/stores/s3/{name}", "LISTSTATUS")) == (404, "FileNotFoundException")
    assert refusal(pai.hdfs("ann", "PUT", f"/stores/s3/{name}/f", "CREATE", b"x")) == (404, "FileNotFoundException")
    assert told(pai.hdfs("ann", "PUT", f"/stores/s3/{name}", "MKDIRS"))
    pai.put("ann", f"/stores/s3/s3@{name}/f", b"x")  # by its profile it is the same bucket
    assert names(pai, "ann", f"/stores/s3/{name}") == ["f"]
    assert told(pai.hdfs("ann", "DELETE", f"/stores/s3/{name}/f", "DELETE"))
    shelf.seaweed.boto.delete_bucket(Bucket=name)


def test_changes_are_on_record(pai, shelf):
    base = shelf.bases["folder"]
    pai.put("ann", f"{base}/noted/f", b"x")
    pai.hdfs("ann", "PUT", f"{base}/noted/f", "RENAME", destination=f"{base}/noted/g")
    pai.hdfs("ann", "DELETE", f"{base}/noted", "DELETE", recursive="true")
    entries = pai.call("root", "GET", "/api/v1/audit").json()["items"]
    noted = [(each["actor"], each["action"], each["target"]) for each in entries if "noted" in json.dumps(each)]
    folder = "obs://played/noted"
    assert noted == [
        ("ann", "store.remove", folder), ("ann", "store.rename", f"{folder}/f"), ("ann", "store.write", f"{folder}/f"),
    ]  # fmt: skip
