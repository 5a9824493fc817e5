"""Checkpoints, outputs and files in stores, as they are downloaded."""

import hashlib
import io
import os
import tarfile

import pytest

from outlast.client import Client
from outlast.inside import layout

BIG = os.urandom((2 << 20) + 333)
FILES = {"out/model.bin": BIG, "out/empty": b"", "out/" + "long-" * 40 + "é.txt": b"pax"}


@pytest.fixture(scope="session")
def run(api):
    run = api.add_run("ann", name="results")
    api.order(run, 1)
    api.end(run, 1)
    api.keep(run, FILES)
    api.keep(run, {"ckpt/a.bin": BIG}, "0001-000001")
    return run


def test_a_file_comes_whole_by_range_and_not_twice(api, run):
    path = f"/runs/{run}/outputs/files/out/model.bin"
    whole = api.call("ann", "GET", path)
    assert whole.content == BIG and whole.headers["etag"] == f'"{hashlib.sha256(BIG).hexdigest()}"'
    assert whole.headers["content-disposition"].startswith('attachment; filename="model.bin"')
    part = api.call("ann", "GET", path, headers={"Range": "bytes=1048570-1048590"})
    assert (part.status_code, part.content) == (206, BIG[1048570:1048591])
    tag = whole.headers["etag"]
    assert api.call("ann", "GET", path, headers={"If-None-Match": tag}).status_code == 304
    changed = api.call("ann", "GET", path, headers={"Range": "bytes=0-1", "If-Range": '"another"'})
    assert (changed.status_code, len(changed.content)) == (200, len(BIG))
    assert api.call("ann", "GET", f"/runs/{run}/outputs/files/out/empty").content == b""


def test_an_archive_holds_everything_and_says_how_long_it_is(api, run):
    response = api.call("ann", "GET", f"/runs/{run}/outputs/archive")
    assert int(response.headers["content-length"]) == len(response.content)
    with tarfile.open(fileobj=io.BytesIO(response.content)) as archive:
        found = {member.name: archive.extractfile(member).read() for member in archive}
    assert found == FILES


def test_checkpoints_are_listed_and_fetched(api, run):
    listed = api.call("ann", "GET", f"/runs/{run}/checkpoints").json()["checkpoints"]
    assert [(each["id"], each["size_bytes"]) for each in listed] == [("0001-000001", len(BIG))]
    shown = api.call("ann", "GET", f"/runs/{run}/checkpoints/0001-000001").json()
    assert shown["files"][0]["sha256"] == hashlib.sha256(BIG).hexdigest()
    assert api.call("ann", "GET", f"/runs/{run}/checkpoints/0001-000001/files/ckpt/a.bin").content == BIG
    for wrong in ("0001-000009", "..", "x", "0001-000001%2f..%2f..%2fspec"):
        assert api.call("ann", "GET", f"/runs/{run}/checkpoints/{wrong}/archive").status_code in (404, 405)


def test_a_damaged_blob_never_arrives_whole(api):
    import httpx

    run = api.add_run("ann", name="damaged")
    data = os.urandom(1 << 21)
    api.keep(run, {"a.bin": data})
    api.store.put(layout.blob_key(hashlib.sha256(data).hexdigest()), data[:-1] + bytes([data[-1] ^ 1]))
    for path in ("outputs/files/a.bin", "outputs/archive"):
        with pytest.raises(httpx.RemoteProtocolError):
            api.call("ann", "GET", f"/runs/{run}/{path}")


@pytest.fixture(scope="session")
def bucket(api):
    """A folder that plays a bucket. What lies in `shelf` stays as it is; tests write beside it."""
    folder = api.folder / "bucket" / "shelf"
    Client(home=api.settings.home).stores.map("obs://lab-data", folder.parent)
    (folder / "sub").mkdir(parents=True)
    for number in range(5):
        (folder / f"f{number}.txt").write_text(f"file {number}")
    (folder / "sub" / "table.csv").write_text("a,b\n1,2\n")
    return "obs://lab-data"


def test_a_store_is_browsed_by_pages(api, bucket):
    found, cursor = [], ""
    while cursor is not None:
        query = {"address": f"{bucket}/shelf/", "limit": 4, "cursor": cursor}
        page = api.call("ann", "GET", "/stores/items", params=query).json()
        found += [item["name"] for item in page["items"]]
        cursor = page["next"]
    assert found == ["f0.txt", "f1.txt", "f2.txt", "f3.txt", "f4.txt", "sub/"]
    everything = api.call("ann", "GET", "/stores/items", params={"address": bucket, "recursive": True}).json()
    assert "shelf/sub/table.csv" in [item["name"] for item in everything["items"]]


def test_files_of_a_store_are_written_read_renamed_and_removed(api, bucket):
    address = f"{bucket}/new/a b é.txt"
    assert api.call("ann", "PUT", "/stores/file", params={"address": address}, content=BIG).status_code == 201
    got = api.call("ann", "GET", "/stores/file", params={"address": address}, headers={"Range": "bytes=5-9"})
    assert (got.status_code, got.content) == (206, BIG[5:10])
    renamed = api.call("ann", "POST", "/stores/rename", json={"source": f"{bucket}/new", "target": f"{bucket}/old"})
    assert renamed.json()["files"] == 1, renamed.text
    assert api.call("ann", "GET", "/stores/file", params={"address": address}).status_code == 404
    moved = f"{bucket}/old/a b é.txt"
    assert api.call("ann", "GET", "/stores/file", params={"address": moved}).content == BIG
    over = api.call("ann", "POST", "/stores/rename", json={"source": moved, "target": f"{bucket}/shelf/f0.txt"})
    assert (over.status_code, over.json()["code"]) == (409, "conflict")
    into = api.call("ann", "POST", "/stores/rename", json={"source": f"{bucket}/old", "target": f"{bucket}/old/in"})
    assert into.status_code == 400
    folder = api.call("ann", "DELETE", "/stores/items", params={"address": f"{bucket}/old"})
    assert folder.status_code == 400 and "folder" in folder.json()["message"]
    query = {"address": f"{bucket}/old", "recursive": True}
    planned = api.call("ann", "DELETE", "/stores/items", params={**query, "dry_run": True}).json()
    assert (planned["files"], planned["removed"]) == (1, False)
    assert api.call("ann", "DELETE", "/stores/items", params=query).json()["removed"] is True
    assert api.call("ann", "GET", "/stores/file", params={"address": moved}).status_code == 404


def test_a_preview_shows_what_a_file_is(api, bucket):
    table = api.call("ann", "GET", "/stores/preview", params={"address": f"{bucket}/shelf/sub/table.csv"}).json()
    assert (table["kind"], table["rows"]) == ("table", [["a", "b"], ["1", "2"]])
    cases = {
        "x.json": (b'{"a": [1, NaN]}', "json"), "bad.json": (b"{", "text"),
        "x.png": (b"\x89PNG\r\n\x1a\n..", "picture"),
        "page.png": (b"<script>", "text"), "x.bin": (b"\0\1\2", "bytes"), "gbk.txt": ("训练".encode("gb18030"), "text"),
    }  # fmt: skip
    for name, (data, kind) in cases.items():
        query = {"address": f"{bucket}/{name}"}
        api.call("ann", "PUT", "/stores/file", params=query, content=data).raise_for_status()
        assert api.call("ann", "GET", "/stores/preview", params=query).json()["kind"] == kind, name


def test_folders_links_and_uploads_into_a_store(api, bucket):
    made = api.call("ann", "POST", "/stores/folders", json={"address": f"{bucket}/made/"})
    assert made.status_code == 201 and made.json()["new"] is True
    link = api.call("ann", "POST", "/stores/links", json={"address": f"{bucket}/shelf/f0.txt"})
    assert link.status_code == 400 and "played by the folder" in link.json()["message"]
    digest = hashlib.sha256(b"by parts").hexdigest()
    api.call("ann", "POST", "/uploads", json={"sha256": digest, "size_bytes": 8, "kind": "file", "name": "p.txt"})
    api.call("ann", "PUT", f"/uploads/{digest}/parts/1", content=b"by parts")
    api.call("ann", "POST", f"/uploads/{digest}/complete")
    placed = api.call("ann", "POST", f"/uploads/{digest}/place", json={"address": f"{bucket}/made/"})
    assert placed.json()["files"] == 1, placed.text
    assert api.call("ann", "GET", "/stores/file", params={"address": f"{bucket}/made/p.txt"}).text == "by parts"


def test_a_store_without_keys_is_the_servers_trouble_and_no_reason_to_sign_in(api):
    response = api.call("ann", "GET", "/stores/items", params={"address": "obs://nobody-knows-this/"})
    assert (response.status_code, response.json()["code"]) == (502, "store_credentials")


def test_places_are_told(api, bucket):
    assert api.call("ann", "GET", "/platforms").json()["platforms"][0]["name"] == "local"
    assert api.call("ann", "GET", "/environments").json()["environments"]
    assert api.call("ann", "GET", "/doctor").status_code == 403
    assert api.call("ann", "GET", "/stores").json()["maps"] == [bucket]
    assert {each["name"] for each in api.call("root", "GET", "/doctor").json()["findings"]} >= {"python", "store"}
