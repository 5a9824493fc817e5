"""Sending by parts: what arrives is what was sent, or it does not count."""

import hashlib
import io
import random
import tarfile

import pytest

from outlast.server.uploads import PART_BYTES


def _begin(api, data, user="ann", digest=None, **words):
    digest = digest or hashlib.sha256(data).hexdigest()
    body = {"sha256": digest, "size_bytes": len(data), **words}
    return digest, api.call(user, "POST", "/uploads", json=body)


def _put(api, digest, number, data, user="ann", **headers):
    return api.call(user, "PUT", f"/uploads/{digest}/parts/{number}", content=data, headers=headers)


def test_an_upload_goes_on_where_it_broke_off(api):
    data = random.Random(1).randbytes(2 * PART_BYTES + 77)
    digest, first = _begin(api, data, kind="file", name="weights.bin")
    assert first.json()["missing"] == [1, 2, 3] and first.json()["part_bytes"] == PART_BYTES
    assert _put(api, digest, 3, data[2 * PART_BYTES :]).status_code == 204
    assert _put(api, digest, 1, data[:PART_BYTES]).status_code == 204
    refused = api.call("ann", "POST", f"/uploads/{digest}/complete")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    _, again = _begin(api, data, kind="file", name="weights.bin")
    assert again.json()["missing"] == [2]
    assert _put(api, digest, 2, data[PART_BYTES : 2 * PART_BYTES]).status_code == 204
    for _ in range(2):
        assert api.call("ann", "POST", f"/uploads/{digest}/complete").json()["complete"] is True
    _, known = _begin(api, data, kind="file", name="weights.bin")
    assert known.json()["complete"] is True and known.json()["missing"] == []
    assert [each["sha256"] for each in api.call("ann", "GET", "/uploads").json()["uploads"]].count(digest) == 1
    assert api.call("ann", "DELETE", f"/uploads/{digest}").status_code == 204
    assert api.call("ann", "GET", f"/uploads/{digest}").status_code == 404


@pytest.mark.parametrize("sent", [b"short", b"way too long", b""])
def test_a_part_of_another_length_does_not_count(api, sent):
    digest, _ = _begin(api, b"eight by", kind="file")
    assert _put(api, digest, 1, sent).status_code in (400, 413)
    assert api.call("ann", "GET", f"/uploads/{digest}").json()["missing"] == [1]
    assert _put(api, digest, 2, b"x").status_code == 400


def test_a_part_that_was_damaged_on_the_way_is_noticed_at_once(api):
    digest, _ = _begin(api, b"good", kind="file")
    sha = hashlib.sha256(b"good").hexdigest()
    assert _put(api, digest, 1, b"evil", **{"Outlast-Part-SHA256": sha}).status_code == 400
    assert _put(api, digest, 1, b"good", **{"Outlast-Part-SHA256": sha}).status_code == 204


def test_a_whole_that_is_not_what_was_announced_is_thrown_away(api):
    digest, _ = _begin(api, b"abcd", digest="ab" * 32, kind="file")
    assert _put(api, digest, 1, b"abcd").status_code == 204
    response = api.call("ann", "POST", f"/uploads/{digest}/complete")
    assert response.status_code == 400 and "is not" in response.json()["message"]
    assert api.call("ann", "GET", f"/uploads/{digest}").json()["missing"] == [1]


def _tar(*members, mode="w"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def _member(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


@pytest.mark.parametrize(
    "data",
    [
        _tar(_member("../evil", b"x")), _tar(_member("/etc/evil", b"x")),
        _tar(_member("link", type=tarfile.SYMTYPE, linkname="/etc")),
        _tar(_member("link", type=tarfile.SYMTYPE, linkname="../../..")),
        _tar(_member("pipe", type=tarfile.FIFOTYPE)), _tar(_member("a", b"0" * 100000), mode="w:gz"),
        b"no archive at all",
    ],
)  # fmt: skip
def test_a_hostile_archive_is_refused_and_leaves_nothing(api, data):
    digest, _ = _begin(api, data)
    assert _put(api, digest, 1, data).status_code == 204
    response = api.call("ann", "POST", f"/uploads/{digest}/complete")
    assert response.status_code == 400, response.text
    assert api.call("ann", "GET", f"/uploads/{digest}").json()["complete"] is False


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "\0"])
def test_a_name_that_is_no_name_is_refused(api, name):
    _, response = _begin(api, b"x", kind="file", name=name)
    assert response.status_code == 400


def test_equal_bytes_of_two_users_are_two_uploads(api):
    digest, _ = _begin(api, b"same", kind="file")
    assert _put(api, digest, 1, b"same").status_code == 204
    assert api.call("ann", "POST", f"/uploads/{digest}/complete").status_code == 200
    _, other = _begin(api, b"same", user="ben", kind="file")
    assert other.json()["complete"] is False


def test_a_group_that_is_full_takes_no_more(api):
    _, response = _begin(api, b"eleven bytes", user="tim", kind="file")
    assert (response.status_code, response.json()["code"]) == (429, "quota_exceeded")
    _, response = _begin(api, b"ten bytes.", user="tim", kind="file")
    assert response.status_code == 200
    _, response = _begin(api, b"x", user="tim", kind="file")
    assert response.status_code == 429
    assert _begin(api, b"ten bytes.", user="tim", kind="file")[1].status_code == 200


def test_a_member_trains_what_they_sent(api):
    script = (
        b"import pathlib\nprint('rows', len(pathlib.Path('rows/a.txt').read_text()))\n"
        b"pathlib.Path('out').mkdir()\npathlib.Path('out/model.txt').write_text('weights')\n"
    )
    code = _tar(_member("train.py", script))
    rows = _tar(_member("a.txt", b"12345"))
    digests = []
    for data in (code, rows):
        digest, _ = _begin(api, data, user="ben")
        _put(api, digest, 1, data, user="ben")
        api.call("ben", "POST", f"/uploads/{digest}/complete").raise_for_status()
        digests.append(digest)
    body = {"target": "train.py", "code": digests[0], "data": [f"rows=upload:{digests[1]}"], "output": "out"}
    started = api.call("ben", "POST", "/runs", json=body)
    assert started.status_code == 201, started.text
    run = started.json()["id"]
    assert started.json()["user"] == "ben" and started.headers["location"].endswith(run)
    with api.client("ben") as client, client.stream("GET", f"/runs/{run}/logs/stream") as response:
        text = "".join(response.iter_text())
    assert "rows 5" in text and "event: end" in text and '"succeeded"' in text, text
    assert api.call("ben", "GET", f"/runs/{run}/outputs/files/out/model.txt").text == "weights"
