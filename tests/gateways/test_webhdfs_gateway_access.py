"""Who may do what at the WebHDFS door: every operation is tried as nobody, as somebody else, and as a viewer."""

import itertools

import pytest
from pai_lab import refusal

from outlast.webhdfs.protocol import OPERATIONS

SECRET = b"private weights"
#: Those that are refused to everybody, or tell nothing but the caller's own name.
_HARMLESS = {
    "GETHOMEDIRECTORY", "GETTRASHROOT", "GETDELEGATIONTOKEN", "CREATESYMLINK", "GETACLSTATUS", "SETACL",
    "MODIFYACLENTRIES", "REMOVEACL", "REMOVEACLENTRIES", "REMOVEDEFAULTACL",
}  # fmt: skip
_QUERY = {
    "RENAME": {"destination": "/ben/stolen"}, "SETPERMISSION": {"permission": "777"}, "SETOWNER": {"owner": "ben"},
    "SETXATTR": {"xattr.name": "user.k", "xattr.value": "0x61", "flag": "CREATE"}, "CONCAT": {"sources": "/ann/own/g"},
    "TRUNCATE": {"newlength": "0"}, "CREATE": {"overwrite": "true"}, "DELETE": {"recursive": "true"},
    "REMOVEXATTR": {"xattr.name": "user.k"}, "CHECKACCESS": {"fsaction": "r--"}, "SETTIMES": {"modificationtime": "1"},
}  # fmt: skip
_ALL = [(method, op) for method, ops in OPERATIONS.items() for op in sorted(ops)]


@pytest.fixture(scope="session")
def own(pai):
    for name in ("f", "g"):
        pai.put("ann", f"/ann/own/{name}", SECRET)
    pai.hdfs("ann", "PUT", "/ann/own/folder", "MKDIRS")
    pai.put("ben", "/ben/other", b"")
    return "/ann/own/f"


def test_every_operation_refuses_nobody_and_a_bare_or_wrong_name(pai, own):
    ways = [{}, {"user.name": "ann"}, {"user.name": "outlast_wrong"}, {"delegation": "outlast_wrong"}, {"doas": "ann"}]
    for (method, op), way in itertools.product(_ALL, ways):
        asked = {"op": op, **_QUERY.get(op, {}), **way, "namenoderpcaddress": pai.authority}
        answer = pai.call(None, method, f"/webhdfs/v1{own}", params=asked)
        assert refusal(answer) == (401, "SecurityException"), (method, op, way, answer.text)
    assert pai.call(None, "GET", f"/webhdfs/v1{own}?op=OPEN&user.name=ann").status_code == 401
    for address in ("/as/outlast_wrong", "/as/x", f"/as/{pai.tokens['ann']}x"):
        answer = pai.call(None, "GET", f"{address}/webhdfs/v1/?op=LISTSTATUS")
        assert refusal(answer) == (401, "SecurityException")


def test_every_operation_on_anothers_file_is_refused(pai, own):
    for (method, op), path in itertools.product(_ALL, (own, "/ann/own", "/ann/own/folder")):
        if op in _HARMLESS:
            continue
        for mark in ({"namenoderpcaddress": pai.authority}, {}):
            asked = {"op": op, **_QUERY.get(op, {}), **mark}
            answer = pai.call("ben", method, f"/webhdfs/v1{path}", params=asked)
            if answer.status_code == 307:  # the name node sends a client on without looking, as Hadoop's does
                answer = pai.call("ben", method, answer.headers["location"], content=b"stolen")
            assert refusal(answer) == (403, "AccessControlException"), (method, op, answer.text)
            assert SECRET not in answer.content
    assert pai.hdfs("ann", "GET", own, "OPEN").content == SECRET


def test_nobody_acts_as_somebody_else_but_an_admin(pai, own):
    for way in ({"user.name": "ann"}, {"doas": "ann"}):
        answer = pai.call("ben", "GET", f"/webhdfs/v1{own}", params={"op": "GETFILESTATUS", **way})
        assert refusal(answer) == (403, "AccessControlException")
    assert pai.hdfs("root", "GET", own, "OPEN").content == SECRET
    pai.put("root", "/ann/own/given", b"", **{"user.name": "ann"})
    assert pai.hdfs("ann", "GET", "/ann/own/given", "GETFILESTATUS").json()["FileStatus"]["owner"] == "ann"


def test_a_viewer_changes_nothing(pai):
    for method, op in _ALL:
        if method != "GET":
            answer = pai.call("vic", method, "/webhdfs/v1/vic/f", params={"op": op, **_QUERY.get(op, {})})
            assert refusal(answer) == (403, "AccessControlException"), (method, op)
    assert pai.hdfs("vic", "GET", "/", "LISTSTATUS").status_code == 200


def _names(pai, user, path):
    found = pai.hdfs(user, "GET", path, "LISTSTATUS").json()["FileStatuses"]["FileStatus"]
    return {each["pathSuffix"] for each in found}


def test_the_root_shows_each_user_what_they_may_read(pai, own):
    assert "ann" in _names(pai, "ann", "/") and "ann" not in _names(pai, "ben", "/")
    assert {"ann", "ben"} <= _names(pai, "root", "/")
    assert {"user", "Output", "Container"} <= _names(pai, "ben", "/")


def test_a_folder_with_somebodys_name_is_theirs_to_make(pai):
    for path in ("/cat", "/user/cat/x", "/Output/cat"):
        assert refusal(pai.hdfs("ben", "PUT", path, "MKDIRS")) == (403, "AccessControlException")
        assert refusal(pai.hdfs("ben", "PUT", f"{path}/f", "CREATE", b"x")) == (403, "AccessControlException")
    pai.hdfs("ben", "PUT", "/ben/cat", "MKDIRS")
    for destination in ("/cat", "/"):
        answer = pai.hdfs("ben", "PUT", "/ben/cat", "RENAME", destination=destination)
        assert refusal(answer) == (403, "AccessControlException")
    assert pai.hdfs("cat", "PUT", "/cat", "MKDIRS").json() == {"boolean": True}
    assert pai.hdfs("ben", "PUT", "/not-a-user", "MKDIRS").json() == {"boolean": True}
    assert refusal(pai.hdfs("cat", "DELETE", "/not-a-user", "DELETE")) == (403, "AccessControlException")


def test_sharing_is_an_act_of_the_owner(pai):
    pai.put("ann", "/ann-shared/f", SECRET, permission="777")
    assert pai.hdfs("ann", "GET", "/ann-shared", "GETFILESTATUS").json()["FileStatus"]["permission"] == "700"
    assert refusal(pai.hdfs("cat", "GET", "/ann-shared/f", "OPEN")) == (403, "AccessControlException")
    for path, permission in (("/ann-shared", "750"), ("/ann-shared/f", "640")):
        assert pai.hdfs("ann", "PUT", path, "SETOWNER", group="lab").status_code == 200
        assert pai.hdfs("ann", "PUT", path, "SETPERMISSION", permission=permission).status_code == 200
    assert pai.hdfs("cat", "GET", "/ann-shared/f", "OPEN").content == SECRET
    assert "ann-shared" in _names(pai, "cat", "/") and "ann-shared" not in _names(pai, "ben", "/")
    for method, op in (("PUT", "CREATE"), ("POST", "APPEND"), ("DELETE", "DELETE")):
        answer = pai.hdfs("cat", method, "/ann-shared/f", op, b"x", **_QUERY.get(op, {}))
        assert refusal(answer) == (403, "AccessControlException")
    assert refusal(pai.hdfs("ben", "GET", "/ann-shared/f", "OPEN")) == (403, "AccessControlException")
    assert refusal(pai.hdfs("ann", "PUT", "/ann-shared", "SETOWNER", group="none")) == (403, "AccessControlException")
    assert refusal(pai.hdfs("ann", "PUT", "/ann-shared", "SETOWNER", owner="ben")) == (403, "AccessControlException")


def test_what_another_keeps_in_a_shared_folder_is_not_removed_with_it(pai):
    pai.hdfs("ann", "PUT", "/ann-open", "MKDIRS")
    pai.hdfs("ann", "PUT", "/ann-open", "SETPERMISSION", permission="777")
    pai.put("cat", "/ann-open/hers/f", SECRET)
    answer = pai.hdfs("ann", "DELETE", "/ann-open", "DELETE", recursive="true")
    assert refusal(answer) == (403, "AccessControlException")
    assert refusal(pai.hdfs("ann", "GET", "/ann-open", "GETCONTENTSUMMARY")) == (403, "AccessControlException")
    assert pai.hdfs("cat", "GET", "/ann-open/hers/f", "OPEN").content == SECRET


def test_the_number_of_a_file_is_no_way_around_the_folders_above_it(pai, own):
    number = pai.hdfs("ann", "GET", own, "GETFILESTATUS").json()["FileStatus"]["fileId"]
    place = f"/.reserved/.inodes/{number}"
    assert pai.hdfs("ann", "GET", place, "OPEN").content == SECRET
    for (method, op), path in itertools.product(_ALL, (place, f"{place}/x")):
        if op not in _HARMLESS:
            answer = pai.hdfs("ben", method, path, op, b"stolen", **_QUERY.get(op, {}))
            assert refusal(answer) == (404, "FileNotFoundException"), (method, op, answer.text)
            assert "/ann" not in answer.text
    assert pai.hdfs("ann", "GET", own, "OPEN").content == SECRET


@pytest.mark.parametrize(
    "path", ["/../../server.db", "/ann/%2e%2e/%2e%2e/x", "/ann/..%2f..%2fserver.db", "//etc/passwd"]
)
def test_no_path_leads_out_of_the_folder(pai, path):
    for user in ("ann", "root"):
        for prefix in ("/webhdfs/v1", "/webhdfs/api/v1", "/webhdfs/webhdfs/v1"):
            request = pai._clients[user].build_request("GET", f"{pai.url}/x", params={"op": "OPEN"})
            request.url = request.url.copy_with(raw_path=f"{prefix}{path}?op=OPEN".encode())
            answer = pai._clients[user].send(request)
            assert answer.status_code in (400, 404), answer.text
    for destination in ("/../../x", "/ann/../../../x"):
        answer = pai.hdfs("ann", "PUT", "/ann", "RENAME", destination=destination)
        assert answer.status_code in (400, 403)
    assert not (pai.folder / "x").exists()


def test_links_in_the_folder_lead_nowhere(pai):
    tree = pai.settings.home / "hdfs" / "files"
    pai.put("ann", "/ann/linked/f", b"")
    (tree / "ann" / "linked" / "out").symlink_to("/etc")
    for path in ("/ann/linked/out/passwd", "/ann/linked/out"):
        assert pai.hdfs("ann", "GET", path, "OPEN").status_code in (403, 404)
        assert pai.hdfs("ann", "PUT", f"{path}/x", "CREATE", b"x").status_code in (403, 404)


def test_a_file_that_nobody_is_known_to_own_is_for_admins(pai):
    tree = pai.settings.home / "hdfs" / "files"
    (tree / "put-by-hand").write_bytes(SECRET)
    (tree / "put-by-hand").chmod(0o644)
    assert refusal(pai.hdfs("ann", "GET", "/put-by-hand", "OPEN")) == (403, "AccessControlException")
    assert pai.hdfs("root", "GET", "/put-by-hand", "OPEN").content == SECRET


def test_web_pages_are_refused_and_strange_addresses_are_not_webhdfs(pai):
    answer = pai.call("ann", "GET", "/webhdfs/v1/?op=LISTSTATUS", headers={"Origin": "http://127.0.0.1"})
    assert refusal(answer) == (403, "AccessControlException")
    for path in ("/webhdfs/v2/x?op=OPEN", "/webhdfs/", "/as/x/y"):
        assert pai.call("ann", "GET", path).status_code == 404
    assert refusal(pai.call("ann", "GET", "/webhdfs/v1/?op=NONSENSE")) == (400, "IllegalArgumentException")
