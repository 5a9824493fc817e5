"""Our signatures are those of the official signer, and the server's own verifier takes them."""

from __future__ import annotations

import hashlib

import pytest
from huaweicloudsdkcore.auth.credentials import BasicCredentials
from huaweicloudsdkcore.sdk_request import SdkRequest
from huaweicloudsdkcore.signer.signer import Signer
from hypothesis import given
from hypothesis import strategies as st

from outlast.platforms.modelarts.signing import Request, canonical, moment, sign
from outlast.server.gateways.modelarts.signing import Asked, Refused, read_header, verify

HOST, PROJECT = "modelarts.cn-north-4.myhuaweicloud.com", "0123456789abcdef0123456789abcdef"
AT_S = 1704164645.0  # 20240102T030405Z
HEADERS = [("Content-Type", "application/json"), ("X-Project-Id", PROJECT)]
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8)
#: Signers sort by names before or after encoding them; those of the API look the same either way.
NAMES = st.from_regex(r"[A-Za-z_]{1,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("request_", "digest", "signature"),
    [
        (Request("GET", HOST, f"/v2/{PROJECT}/training-job-flavors", (("flavor_type", "GPU"),)),
         "ffd3b997c78c674a4cbdc65148afbf1e4adbdcd3db5f14a11fb4350d418ea0b8",
         "715db699858c39e187d58180f551ccbd5b507687eb587c84a1137e56a798e7b1"),
        (Request("POST", HOST, f"/v2/{PROJECT}/training-jobs/j1/actions", (), b'{"action_type":"terminate"}'),
         "1d0269a26a3126a1f37597b0984d8170272b21691f4985a785e7eb0af6b125b8",
         "e411ba1bd543194d43878ed503569b5e6694a4f355574c516dee5a29e4f6abb2"),
    ],
)  # fmt: skip
def test_known_vectors(request_, digest, signature):
    at = moment(AT_S)
    assert at == "20240102T030405Z"
    text = canonical(request_, [*HEADERS, ("X-Sdk-Date", at)])
    assert hashlib.sha256(text.encode()).hexdigest() == digest
    proof = dict(sign(request_, HEADERS, "AKTEST", "SKTEST", at))["Authorization"]
    assert proof == (
        f"SDK-HMAC-SHA256 Access=AKTEST, SignedHeaders=content-type;host;x-project-id;x-sdk-date, Signature={signature}"
    )


@given(TEXTS, st.dictionaries(NAMES, TEXTS, max_size=3), st.binary(max_size=20))
def test_the_official_signer_and_the_verifier_agree(part, query, body):
    request = Request("POST", HOST, f"/v2/{part}/training-jobs", tuple(query.items()), body)
    at = moment(AT_S)
    ours = sign(request, HEADERS, "AKTEST", "SKTEST", at)
    theirs = SdkRequest(
        method="POST", schema="https", host=HOST, resource_path=request.path, query_params=list(query.items()),
        header_params=dict(HEADERS) | {"X-Sdk-Date": at}, body=body,
    )  # fmt: skip
    signed = Signer(BasicCredentials("AKTEST", "SKTEST")).sign(theirs)
    assert dict(ours)["Authorization"] == signed.header_params["Authorization"]
    path, _, sent = request.target.partition("?")
    assert path.isascii() and sent.isascii()
    lower = [("host", HOST), *((name.lower(), value) for name, value in ours)]
    asked = Asked("POST", request.path, sent, lower, body)
    verify(asked, read_header(dict(ours)["Authorization"]), "SKTEST", AT_S)
    with pytest.raises(Refused):
        verify(asked._replace(body=body + b"!"), read_header(dict(ours)["Authorization"]), "SKTEST", AT_S)
