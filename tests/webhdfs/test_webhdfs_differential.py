"""Ours and Hadoop's are asked the same, and answer the same."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from webhdfs_scenes import SCENES
from webhdfs_served import USER, ask, crc32c, put

from outlast.webhdfs.checksum import file_checksum

#: What a status says about the file and not about the cluster.
COMPARED = ("type", "length", "pathSuffix", "childrenNum", "owner")


def plain(document, home):
    """A document with everything removed that may differ between two servers."""
    if isinstance(document, list):
        return [plain(each, home) for each in document]
    if isinstance(document, str):
        return document.replace(home, "~")
    if not isinstance(document, dict):
        return document
    if "fileId" in document:
        assert document["fileId"] > 0 and document["modificationTime"] >= 0 and document["accessTime"] >= 0
        return {**{name: document[name] for name in COMPARED}, "keys": sorted(document)}
    if "exception" in document:
        message = (document["message"] or "").partition("\n")[0]
        return {**document, "message": message.replace(home, "~")}
    return {name: plain(value, home) for name, value in document.items()}


def seen(server, step, home):
    path, query = step.path.format(home), step.query.replace("{}", home)
    user = "" if "user.name" in query.lower() else f"&user.name={USER}"
    answers = []
    for answer in ask(server.authority, step.method, path, query + user, step.body):
        kind = answer.headers.get("content-type", "").partition(";")[0]
        body = answer.body
        if kind == "application/json" and body:
            body = plain(json.loads(body), home)
        answers.append((answer.status, body, location(answer, home)))
    return answers


def location(answer, home):
    """Where an answer leads, without host and port; parameters that repeat the defaults may be there or not."""
    if "location" not in answer.headers:
        return None
    parts = urlsplit(answer.headers["location"])
    query = parse_qs(parts.query)
    return parts.scheme, parts.path.replace(home, "~").rstrip("/"), query.get("op"), query.get("user.name")


@pytest.mark.parametrize("scene", SCENES)
def test_the_same_questions_get_the_same_answers(hadoop, served, scene):
    home = hadoop.folder()
    for step in SCENES[scene]:
        theirs, ours = seen(hadoop, step, home), seen(served, step, home)
        if step.differs:
            assert theirs != ours, f"{step} does not differ any more"
        else:
            assert ours == theirs, step


def test_what_was_set_is_shown_alike(hadoop, served):
    home = hadoop.folder()
    path = f"{home}/f"
    for query in ("permission=1640&replication=2&blocksize=4096", "permission=0"):
        shown = []
        for server in (hadoop, served):
            put(server, path, b"x", f"overwrite=true&{query}")
            for more in ("SETOWNER&owner=ann&group=lab", "SETTIMES&modificationtime=1000&accesstime=2000"):
                ask(server.authority, "PUT", path, f"op={more}&user.name={USER}")
            (answer,) = ask(server.authority, "GET", path, f"op=GETFILESTATUS&user.name={USER}")
            status = answer.document()["FileStatus"]
            shown.append({name: status[name] for name in status if name not in ("fileId", "blockSize")})
        assert shown[0] == shown[1]


def test_numbers_stay_with_files_and_lead_to_them(hadoop, served):
    for server in (hadoop, served):
        home = server.folder() if server is hadoop else "/tests"
        put(server, f"{home}/sub/f", b"one")

        def status(path, server=server):
            (answer,) = ask(server.authority, "GET", path, f"op=GETFILESTATUS&user.name={USER}")
            return answer.document()["FileStatus"] if answer.status == 200 else answer.refusal()[0]

        number = status(f"{home}/sub/f")["fileId"]
        folder = status(f"{home}/sub")["fileId"]
        ask(server.authority, "PUT", f"{home}/sub", f"op=RENAME&destination={home}/moved&user.name={USER}")
        assert status(f"{home}/moved/f")["fileId"] == number == status(f"/.reserved/.inodes/{number}")["fileId"]
        assert status(f"/.reserved/.inodes/{folder}/f")["fileId"] == number
        *_, last = ask(server.authority, "GET", f"/.reserved/.inodes/{number}", f"op=OPEN&user.name={USER}")
        assert last.body == b"one"
        put(server, f"{home}/moved/f", b"two")
        assert status(f"{home}/moved/f")["fileId"] != number
        assert status(f"/.reserved/.inodes/{number}") == "FileNotFoundException"
        put(server, f"/.reserved/.inodes/{folder}/new", b"by number")
        assert status(f"{home}/moved/new")["length"] == 9


@pytest.mark.parametrize("size", [1, 512, 1024, 1025, 3000, 5 * 1024])
def test_checksums_are_made_as_hadoop_makes_them(hadoop, size):
    body = bytes(number % 251 for number in range(size))
    path = hadoop.folder() + "/f"
    put(hadoop, path, body, "blocksize=1024")
    *_, last = ask(hadoop.authority, "GET", path, f"op=GETFILECHECKSUM&user.name={USER}")
    assert last.document()["FileChecksum"] == file_checksum(iter([body]), 1024, crc32c, "CRC32C")
