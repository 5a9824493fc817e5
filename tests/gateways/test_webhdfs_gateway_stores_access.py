"""Who may do what in the stores behind the WebHDFS door: the rules are those of the API, for every operation."""

import itertools
import json

import httpx
import pytest
from pai_lab import PATIENCE_S, refusal, serving_alone
from test_webhdfs_gateway_access import _ALL, _HARMLESS, _QUERY

from outlast.client import Client
from outlast.inside.stores.access import Access
from outlast.server.accounts.people import Actor, Role
from outlast.server.gateways.webhdfs.stores.opening import Stores, store_errors
from outlast.settings import Settings
from outlast.store.profiles import Profiles
from outlast.webhdfs import exchange, protocol
from outlast.webhdfs.refusals import Refusal

SECRET = b"weights of somebody's run"


def test_every_operation_refuses_nobody_and_a_bare_or_wrong_name(pai, base):
    pai.put("ann", f"{base}/guarded/f", SECRET)
    ways = [{}, {"user.name": "ann"}, {"user.name": "outlast_wrong"}, {"delegation": "outlast_wrong"}, {"doas": "ann"}]
    for (method, op), way in itertools.product(_ALL, ways):
        asked = {"op": op, **_QUERY.get(op, {}), **way, "namenoderpcaddress": pai.authority}
        answer = pai.call(None, method, f"/webhdfs/v1{base}/guarded/f", params=asked)
        assert refusal(answer) == (401, "SecurityException"), (method, op, way, answer.text)


def test_every_operation_refuses_a_viewer(pai, shelf):
    for path in ("/stores", "/stores/obs", "/stores/file", *(f"{base}/guarded/f" for base in shelf.bases.values())):
        for (method, op), mark in itertools.product(_ALL, ({"namenoderpcaddress": pai.authority}, {})):
            if op != "GETDELEGATIONTOKEN":
                answer = pai.call("vic", method, f"/webhdfs/v1{path}", params={"op": op, **_QUERY.get(op, {}), **mark})
                assert refusal(answer) == (403, "AccessControlException"), (method, op, answer.text)
    listed = pai.hdfs("vic", "GET", "/", "LISTSTATUS").json()["FileStatuses"]["FileStatus"]
    assert "stores" not in [each["pathSuffix"] for each in listed]


def test_every_operation_refuses_a_member_the_files_of_the_servers_machine(pai, shelf):
    (shelf.machine / "f").write_bytes(SECRET)
    for path in ("/stores/file", "/stores/file/etc/passwd", f"/stores/file{shelf.machine}/f"):
        for (method, op), mark in itertools.product(_ALL, ({"namenoderpcaddress": pai.authority}, {})):
            if op != "GETDELEGATIONTOKEN":
                answer = pai.call("ann", method, f"/webhdfs/v1{path}", params={"op": op, **_QUERY.get(op, {}), **mark})
                assert refusal(answer) == (403, "AccessControlException"), (method, op, answer.text)
    assert (shelf.machine / "f").read_bytes() == SECRET


def test_an_admin_reaches_the_files_of_the_servers_machine_and_removes_none(pai, shelf):
    base = f"/stores/file{shelf.machine}/own"
    pai.put("root", f"{base}/a/f", b"one")
    assert refusal(pai.hdfs("root", "PUT", f"{base}/a/f", "CREATE", b"x")) == (403, "FileAlreadyExistsException")
    assert pai.hdfs("root", "POST", f"{base}/a/f", "APPEND", b" two").status_code == 200
    assert pai.hdfs("root", "PUT", f"{base}/a", "RENAME", destination=f"{base}/b").json() == {"boolean": True}
    assert (shelf.machine / "own" / "b" / "f").read_bytes() == b"one two"
    (shelf.machine / "own" / "link").symlink_to("b")
    assert pai.hdfs("root", "GET", f"{base}/link/f", "OPEN", offset=4).content == b"two"
    listed = pai.hdfs("root", "GET", base, "LISTSTATUS").json()["FileStatuses"]["FileStatus"]
    assert [(each["pathSuffix"], each["type"]) for each in listed] == [("b", "DIRECTORY"), ("link", "SYMLINK")]
    for path in (base, f"{base}/b/f"):
        refused = pai.hdfs("root", "DELETE", path, "DELETE", recursive="true")
        assert refusal(refused) == (403, "AccessControlException")
    assert not [each.name for each in (shelf.machine / "own" / "b").iterdir() if each.name != "f"]


@pytest.fixture
def walled(tmp_path):
    """Stores of which one, `obs://lab/keep/runs`, holds everybody's runs."""
    settings = Settings.load({}, home=tmp_path / "home")
    folder = tmp_path / "lab"
    (folder / "keep" / "runs" / "1115-x").mkdir(parents=True)
    (folder / "keep" / "runs" / "1115-x" / "f").write_bytes(SECRET)
    (folder / "free").mkdir()
    (folder / "free" / "f").write_bytes(b"free")
    Client(home=settings.home).stores.map("obs://lab", folder)
    noted = []

    class Audit:
        def add(self, *words, **_more):
            noted.append(words)

    stores = Stores(settings, lambda: ["file:///somewhere", "obs://lab/keep/runs"], Audit())

    def do(role, method, path, op, **query):
        """What a call answers: bytes, or the name of a refusal."""
        target = "&".join([f"op={op}", *(f"{name}={value}" for name, value in query.items())])
        call = protocol.parse(method, f"/webhdfs/v1{path}?{target}&namenoderpcaddress=x")
        try:
            with store_errors(path):
                found = exchange.answer(call, stores.view(path, Actor(1, "ann", role)), [b"stolen"], "http://x")
        except Refusal as error:
            return error.name
        if found.stream is None:
            return found.body
        pieces = b"".join(found.stream.opened.pieces(found.stream.start, found.stream.size_bytes))
        found.stream.opened.close()
        return pieces

    yield do, folder
    stores.close()


def test_every_operation_refuses_a_member_the_runs_of_everybody(walled):
    do, folder = walled
    inner = ("/keep/runs", "/keep/runs/1115-x", "/keep/runs/1115-x/f", "/keep/runs/new")
    for scheme, path, (method, op) in itertools.product(("obs", "s3"), inner, _ALL):
        if op not in _HARMLESS and not op.endswith(("XATTR", "XATTRS")) and not op.startswith("SET"):
            said = do(Role.MEMBER, method, f"/stores/{scheme}/lab{path}", op, **_QUERY.get(op, {}))
            assert said == "AccessControlException", (method, op, path, said)
    assert (folder / "keep" / "runs" / "1115-x" / "f").read_bytes() == SECRET
    assert not (folder / "keep" / "runs" / "new").exists()


def test_no_operation_on_a_folder_above_reaches_the_runs_in_it(walled):
    do, folder = walled
    for path in ("", "/keep"):
        base = f"/stores/obs/lab{path}"
        for method, op, query in (
            ("DELETE", "DELETE", {"recursive": "true"}), ("GET", "GETCONTENTSUMMARY", {}),
            ("PUT", "RENAME", {"destination": "/stores/obs/lab/free/k"}), ("PUT", "CREATE", {"overwrite": "true"}),
        ):  # fmt: skip
            assert do(Role.MEMBER, method, base, op, **query) == "AccessControlException", (op, path)
    # Into a folder that is there, under the name of the store of runs.
    (folder / "free" / "runs").write_bytes(b"stolen")
    moved = do(Role.MEMBER, "PUT", "/stores/obs/lab/free/runs", "RENAME", destination="/stores/obs/lab/keep")
    assert moved == "AccessControlException"
    assert b"keep" in do(Role.MEMBER, "GET", "/stores/obs/lab", "LISTSTATUS")
    assert do(Role.MEMBER, "GET", "/stores/obs/lab/free/f", "OPEN") == b"free"
    assert do(Role.ADMIN, "GET", "/stores/obs/lab/keep/runs/1115-x/f", "OPEN") == SECRET


def test_no_number_and_no_link_is_a_way_past_the_rules(walled, pai, shelf):
    do, folder = walled
    for number in range(16385, 16400):
        for path in (f"/.reserved/.inodes/{number}", f"/.reserved/.inodes/{number}/1115-x/f"):
            assert do(Role.MEMBER, "GET", f"/stores/obs/lab{path}", "OPEN") == "FileNotFoundException"
    (folder / "free" / "out").symlink_to(folder / "keep" / "runs")
    for op in ("OPEN", "LISTSTATUS"):
        assert SECRET not in do(Role.MEMBER, "GET", "/stores/obs/lab/free/out/1115-x/f", op).encode()
    assert b'fileId": 0,' in do(Role.MEMBER, "GET", "/stores/obs/lab/free/f", "GETFILESTATUS")
    root = pai.hdfs("ann", "GET", "/", "GETFILESTATUS").json()["FileStatus"]["fileId"]
    for method, op in (("PUT", "MKDIRS"), ("PUT", "CREATE"), ("GET", "LISTSTATUS")):
        for path in (f"/.reserved/.inodes/{root}/stores", f"/.reserved/.inodes/{root}/stores/obs/x"):
            assert pai.hdfs("ann", method, path, op, b"x").status_code == 403
    assert not (pai.settings.home / "hdfs" / "files" / "stores").exists()


def test_the_folders_of_a_kind_name_every_access_and_a_server_that_fails_hides_no_other(walled, shelf):
    do, folder = walled
    profiles = Profiles(folder.parent / "home")
    nowhere = {"endpoint": shelf.cluster.url, "key": "k", "secret": "s"}  # no S3 answers there
    profiles.save("obs", Access("obs", **nowhere), in_file=True)
    profiles.save("s3", Access("s3", **nowhere), in_file=True)
    profiles.save("hdfs", Access("hdfs", "http://node:9870", user="ann"), in_file=True)
    profiles.save("far", Access("hdfs", "https://far.lab", user="ann"), in_file=True)

    def names(role, path):
        said = do(role, "GET", path, "LISTSTATUS")
        return said if isinstance(said, str) else [
            each["pathSuffix"] for each in json.loads(said)["FileStatuses"]["FileStatus"]
        ]  # fmt: skip

    assert names(Role.MEMBER, "/stores") == ["hdfs", "obs", "s3"]
    assert names(Role.ADMIN, "/stores") == ["file", "hdfs", "obs", "s3"]
    assert names(Role.MEMBER, "/stores/hdfs") == ["far@far.lab", "node_9870"]
    assert names(Role.ADMIN, "/stores/obs") == ["lab"]
    assert names(Role.MEMBER, "/stores/s3") == [] and names(Role.ADMIN, "/stores/s3") == "IOException"
    assert names(Role.MEMBER, "/stores/file") == names(Role.VIEWER, "/stores") == "AccessControlException"


@pytest.mark.parametrize("path", ["/stores/../etc", "/stores/obs/played/../../x", "/stores/obs/%2e%2e/x", "/stores//x"])
def test_no_path_climbs(pai, shelf, path):
    for user in ("ann", "root"):
        request = pai._clients[user].build_request("GET", f"{pai.url}/x", params={"op": "OPEN"})
        request.url = request.url.copy_with(raw_path=f"/webhdfs/v1{path}?op=OPEN".encode())
        assert pai._clients[user].send(request).status_code in (400, 404)


def test_a_folder_of_that_name_from_earlier_days_keeps_it_until_it_is_renamed(tmp_path):
    with (
        serving_alone(tmp_path / "home") as url,
        httpx.Client(base_url=f"{url}/webhdfs/v1", trust_env=False, timeout=PATIENCE_S) as client,
    ):
        old = tmp_path / "home" / "hdfs" / "files" / "stores"
        old.mkdir()
        (old / "f").write_bytes(b"old")

        def names(path):
            listed = client.get(f"{path}?op=LISTSTATUS").json()["FileStatuses"]["FileStatus"]
            return [each["pathSuffix"] for each in listed]

        assert names("/stores") == ["f"] and names("/").count("stores") == 1
        assert client.put("/stores?op=RENAME&destination=/old").json() == {"boolean": True}
        assert names("/stores") == ["file"] and names("/old") == ["f"] and names("/").count("stores") == 1
        assert client.put("/old?op=RENAME&destination=/stores").status_code == 403
