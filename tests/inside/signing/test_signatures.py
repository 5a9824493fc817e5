"""Signatures against known answers, and against what an independent signer makes of the same request."""

from __future__ import annotations

import pytest

from outlast.inside.errors import RequestError
from outlast.inside.signing import signer_for
from outlast.inside.signing.v2 import V2Signer
from outlast.inside.signing.v4 import V4Signer, query_text, quote_path
from outlast.inside.stores.access import Access

DATE = "Tue, 02 Jan 2024 03:04:05 GMT"


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "query", "headers", "bucket", "expected"),
    [
        ("PUT", "/bkt/dir/a.txt", [], [("content-type", "text/plain")], "", "LJK8fYMQJsgjqwhCtkOiB088wLk="),
        ("PUT", "/dir/a.txt", [], [("content-type", "text/plain")], "bkt", "LJK8fYMQJsgjqwhCtkOiB088wLk="),
        ("GET", "/", [("prefix", "x")], [], "bkt", "0tUJoORgt+zzCUgjtrbIenuf/x4="),
        ("GET", "/bkt", [("marker", "m")], [], "", "iF3iDldwxFRm4Zi6iaHWrMv7IOk="),
        ("POST", "/bkt/dir/a.txt", [("uploads", "")], [], "", "OJrtb+VxbDtTYYlEWhwwjT5ZIdk="),
    ],
)
def test_obs_and_v2_signatures_equal_known_ones(native, method, path, query, headers, bucket, expected):
    signer = V2Signer("AKTEST", "SKTEST", "", native=native)
    assert signer.signature(method, path, query, headers, DATE, bucket) == expected


def test_obs_and_v2_differ_in_their_words_only():
    for native, word, prefix in ((True, "OBS", "x-obs-"), (False, "AWS", "x-amz-")):
        _, headers = V2Signer("AK", "SK", "TOKEN", native).sign("GET", "host", "/b/k", [], [])
        named = dict(headers)
        assert named["authorization"].startswith(f"{word} AK:")
        assert named[prefix + "security-token"] == "TOKEN"


def test_v4_agrees_with_botocore(monkeypatch):
    awsrequest, auth = pytest.importorskip("botocore.awsrequest"), pytest.importorskip("botocore.auth")
    from botocore.credentials import Credentials

    monkeypatch.setattr("time.time", lambda: 1_704_164_645.0)
    ours = V4Signer("AK", "SK/+secret", "TOKEN", "eu-west-3")
    path = "/bucket/" + quote_path("größe/a b+c%20(1)~.bin")
    query = [("partNumber", "7"), ("uploadId", "a/b+c=="), ("x", "")]
    headers = [("content-md5", "abc=="), ("x-amz-checksum-crc32", "AAAA==")]
    target, signed = ours.sign("PUT", "host:9000", path, query, headers)
    named = dict(signed)

    request = awsrequest.AWSRequest("PUT", f"http://host:9000{path}?{query_text(query)}", headers=dict(headers))
    request.headers["x-amz-content-sha256"] = "UNSIGNED-PAYLOAD"
    request.context["client_config"] = None
    request.context["payload_signing_enabled"] = False

    class Theirs(auth.S3SigV4Auth):
        def payload(self, request):
            return "UNSIGNED-PAYLOAD"

    monkeypatch.setattr(auth, "get_current_datetime", lambda *_: _fixed(), raising=False)
    Theirs(Credentials("AK", "SK/+secret", "TOKEN"), "s3", "eu-west-3").add_auth(request)
    theirs = request.headers["Authorization"]
    if request.headers["X-Amz-Date"] != named["x-amz-date"]:
        pytest.skip("this botocore takes its time elsewhere")
    assert _parts(theirs) == _parts(named["authorization"])
    assert target.startswith(path + "?")


def _fixed():
    import datetime

    return datetime.datetime(2024, 1, 2, 3, 4, 5)


def _parts(text):
    return text.replace(",", " ").split()


def test_nothing_is_signed_without_a_key():
    for signer in (V4Signer("", "", "", "r"), V2Signer("", "", "", True)):
        target, headers = signer.sign("GET", "h", "/b/k", [("prefix", "a b")], [("range", "bytes=0-1")])
        assert target == "/b/k?prefix=a%20b"
        assert headers == [("range", "bytes=0-1")]


def test_the_kind_of_store_chooses_the_signature():
    assert isinstance(signer_for(Access("s3")), V4Signer)
    assert signer_for(Access("obs")).header_prefix == "x-obs-"
    assert signer_for(Access("obs", signature="v2")).header_prefix == "x-amz-"
    assert isinstance(signer_for(Access("obs", signature="v4")), V4Signer)
    with pytest.raises(RequestError, match="'v9'; known"):
        signer_for(Access("s3", signature="v9"))
