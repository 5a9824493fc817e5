"""SDK-HMAC-SHA256: published vectors, and everything that must not pass."""

from __future__ import annotations

import calendar
import hashlib
import stat

import pytest

from outlast.errors import HomeError
from outlast.server.accounts.pairs import KEY_FILE, Pairs
from outlast.server.gateways.modelarts.signing import WINDOW_S, Asked, Refused, canonical, read_header, sign, verify

PROJECT = "0123456789abcdef0123456789abcdef"
SIGNED = "content-type;host;x-project-id;x-sdk-date"
MOMENT = "20240102T030405Z"
NOW = float(calendar.timegm((2024, 1, 2, 3, 4, 5)))
HEADERS = [
    ("host", "modelarts.cn-north-4.myhuaweicloud.com"), ("content-type", "application/json"),
    ("x-project-id", PROJECT), ("x-sdk-date", MOMENT),
]  # fmt: skip
LIST = Asked("GET", f"/v2/{PROJECT}/training-job-flavors", "flavor_type=GPU", HEADERS)
STOP = Asked("POST", f"/v2/{PROJECT}/training-jobs/j1/actions", "", HEADERS, b'{"action_type":"terminate"}')


def claim(signature, signed=SIGNED):
    return read_header(f"SDK-HMAC-SHA256 Access=AKTEST, SignedHeaders={signed}, Signature={signature}")


@pytest.mark.parametrize(
    ("asked", "digest", "signature"),
    [
        (LIST, "ffd3b997c78c674a4cbdc65148afbf1e4adbdcd3db5f14a11fb4350d418ea0b8",
         "715db699858c39e187d58180f551ccbd5b507687eb587c84a1137e56a798e7b1"),
        (STOP, "1d0269a26a3126a1f37597b0984d8170272b21691f4985a785e7eb0af6b125b8",
         "e411ba1bd543194d43878ed503569b5e6694a4f355574c516dee5a29e4f6abb2"),
    ],
)  # fmt: skip
def test_the_vectors_of_the_real_service_hold(asked, digest, signature):
    text = canonical(asked, SIGNED.split(";"), hashlib.sha256(asked.body).hexdigest())
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    assert sign(text, MOMENT, "SKTEST") == signature
    verify(asked, claim(signature), "SKTEST", NOW)


RIGHT = "e411ba1bd543194d43878ed503569b5e6694a4f355574c516dee5a29e4f6abb2"


@pytest.mark.parametrize(
    "changed",
    [
        {"method": "PUT"}, {"path": f"/v2/{PROJECT}/training-jobs/j2/actions"}, {"query": "a=1"}, {"body": b"{}"},
        {"body": b""}, {"headers": [*HEADERS[:3], ("x-sdk-date", "20240102T030406Z")]},
        {"headers": [("host", "another.example"), *HEADERS[1:]]}, {"headers": HEADERS[1:]},
        {"headers": [*HEADERS, ("host", "another.example")]}, {"headers": HEADERS[:3]},
        {"headers": [*HEADERS, ("x-sdk-content-sha256", "0" * 64)]},
        {"headers": [*HEADERS, ("x-sdk-content-sha256", "UNSIGNED-PAYLOAD")]},
    ],
)  # fmt: skip
def test_whatever_is_changed_breaks_the_signature(changed):
    with pytest.raises(Refused):
        verify(STOP._replace(**changed), claim(RIGHT), "SKTEST", NOW)


def test_another_secret_does_not_fit_and_the_answer_helps_to_find_out():
    with pytest.raises(
        Refused, match=r"canonicalRequest:POST\|/v2/.*/actions/\|\|content-type:application/json\|host:"
    ):
        verify(STOP, claim(RIGHT), "another", NOW)


@pytest.mark.parametrize("off_s", [-WINDOW_S - 1, WINDOW_S + 1])
def test_a_clock_that_is_too_far_off_is_told(off_s):
    verify(STOP, claim(RIGHT), "SKTEST", NOW + off_s * 0.99)
    with pytest.raises(Refused, match="signature expired: X-Sdk-Date is 20240102T030405Z, the server's clock says"):
        verify(STOP, claim(RIGHT), "SKTEST", NOW + off_s)


def test_a_request_whose_host_or_date_is_not_signed_is_refused():
    for left in ("host", "x-sdk-date"):
        signed = SIGNED.replace(left, "").replace(";;", ";").strip(";")
        text = canonical(STOP, signed.split(";"), hashlib.sha256(STOP.body).hexdigest())
        with pytest.raises(Refused, match=f"the header {left} is not signed"):
            verify(STOP, claim(sign(text, MOMENT, "SKTEST"), signed), "SKTEST", NOW)


@pytest.mark.parametrize(
    "header",
    ["", "Bearer x", "SDK-HMAC-SHA256", "SDK-HMAC-SHA256 Access=a, SignedHeaders=host, Signature=zz",
     "SDK-HMAC-SHA256 Access=, SignedHeaders=host, Signature=" + "0" * 64,
     "AWS4-HMAC-SHA256 Access=a, SignedHeaders=host, Signature=" + "0" * 64],
)  # fmt: skip
def test_a_header_that_is_none_is_refused(header):
    with pytest.raises(Refused):
        read_header(header)


def test_paths_and_queries_are_written_in_one_way():
    asked = Asked("GET", "/v2/a b/~x*", "b=2&a=%2F&a=&b=1&c", HEADERS)
    lines = canonical(asked, ["host"], "-").split("\n")
    assert lines[1:3] == ["/v2/a%20b/~x%2A/", "a=&a=%2F&b=1&b=2&c="]


def test_secrets_come_from_a_file_that_only_its_owner_reads(tmp_path):
    first, again = Pairs(tmp_path), Pairs(tmp_path)
    assert first.secret_of("A") == again.secret_of("A") != first.secret_of("B")
    assert first.project_id == again.project_id and len(first.project_id) == 32
    assert first.is_sealed("x", again.seal("x")) and not first.is_sealed("y", first.seal("x"))
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    (tmp_path / "other").mkdir()
    assert Pairs(tmp_path / "other").secret_of("A") != first.secret_of("A")
    (tmp_path / KEY_FILE).write_bytes(b"short")
    with pytest.raises(HomeError, match="is damaged"):
        Pairs(tmp_path)
