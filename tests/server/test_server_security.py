"""What every answer carries, what no request may exceed, and the one shape of errors."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
from urllib.parse import urlsplit

import pytest

from outlast.errors import NotFoundError, PlatformError, SpecError
from outlast.inside import errors as inside_errors
from outlast.server import security
from outlast.server.security import BODY_LIMIT_BYTES


@pytest.mark.parametrize("path", ["/api/v1/health", "/api/v1/me", "/sign-in", "/nowhere", "/api/v1/docs"])
def test_every_answer_carries_the_security_headers(lab, path):
    with lab.client() as client:
        headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] in ("no-referrer", "same-origin")  # forms of our pages must name their origin
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-frame-options"] == "DENY" and headers["cache-control"] == "no-store"
    assert "server" not in headers and "strict-transport-security" not in headers


@pytest.mark.parametrize("path", ["/sign-in", "/api/v1/docs", "/welcome?code=x"])
def test_nothing_on_a_page_comes_from_another_host(lab, path):
    with lab.client() as client:
        response = client.get(path)
    assert not re.search(r"(?:src|href|action)=[\"']?(?:https?:)?//", response.text)
    assert "<script" not in response.text and "style-src 'sha256-" in response.headers["content-security-policy"]


def test_an_address_that_leads_nowhere_is_a_page_for_a_browser_and_json_for_a_program(lab):
    with lab.client() as client:
        shown = client.get("/nowhere", headers={"Accept": "text/html,*/*", "Accept-Language": "zh-CN"})
        assert shown.status_code == 404 and "没有这个地址" in shown.text and 'href="/"' in shown.text
        for path, accept in (("/nowhere", "*/*"), ("/api/v1/nowhere", "text/html")):
            assert client.get(path, headers={"Accept": accept}).json()["code"] == "not_found"


def test_too_large_bodies_are_refused_with_and_without_a_length(lab):
    with lab.client("ada") as client:
        whole = client.post("/api/v1/tokens", content=b"x" * (BODY_LIMIT_BYTES + 1))
        pieces = client.post("/api/v1/tokens", content=(b"x" * 65536 for _ in range(17)))
        for response in (whole, pieces):
            assert response.status_code == 413 and response.json()["code"] == "too_large"


@pytest.mark.parametrize(
    ("path", "field", "code"),
    [
        ("/api/v1/sign-in", "code", "request_timeout"), ("/rest-server/api/v1/token", "code", "InvalidParametersError"),
        ("/v2/0123/training-jobs", "error_code", "ModelArts.0101"), ("/v3/auth/tokens", "error_code", "ModelArts.0101"),
    ],
)  # fmt: skip
def test_a_body_that_does_not_come_is_given_up_at_every_door(lab, monkeypatch, path, field, code):
    monkeypatch.setattr(security, "BODY_LIMIT_S", 0.2)
    where = urlsplit(lab.url)
    with contextlib.closing(socket.create_connection((where.hostname, where.port), timeout=150)) as slow:
        slow.sendall(f"POST {path} HTTP/1.1\r\nHost: {where.netloc}\r\n".encode())
        slow.sendall(b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        answer = http.client.HTTPResponse(slow)
        answer.begin()
        body = json.loads(answer.read())
    assert (answer.status, body[field]) == (408, code)
    assert "the body did not come within 0.2 s" in str(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON"),
        (b'{"name": 5}', "name: input should be a valid string"),
        (b'{"nme": "x"}', "nme: extra inputs are not permitted"),
        (b'{"expires_s": -1}', "expires_s: input should be greater than 0"),
    ],
)
def test_a_wrong_body_is_named_without_its_value(lab, body, message):
    with lab.client("ada") as client:
        response = client.post("/api/v1/tokens", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422 and response.json()["message"] == message


def test_a_password_never_comes_back_in_an_error(lab):
    with lab.client() as client:
        response = client.post("/api/v1/sign-in", json={"name": "ada", "password": ["hush-hush"]})
    assert response.status_code == 422 and "hush-hush" not in response.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (SpecError("no such file", hint="look"), 400, "bad_spec"),
        (NotFoundError("no run x"), 404, "not_found"),
        (PlatformError("away"), 503, "platform"),
        (inside_errors.NotFound("gone"), 404, "not_found"),
        (inside_errors.AccessDenied("no"), 502, "store_credentials"),
        (ZeroDivisionError("/home/ann/secret"), 500, "bug"),
    ],
)
def test_every_error_has_its_status_and_the_one_shape(shared_empty_lab, error, status, code, caplog, monkeypatch):
    def fail():
        raise error

    monkeypatch.setattr(shared_empty_lab.state.accounts.queues, "list", fail)
    with shared_empty_lab.client() as client:
        response = client.get("/api/v1/queues")
    assert response.status_code == status and response.headers["x-frame-options"] == "DENY"
    body = response.json()
    assert body["ok"] is False and body["code"] == code and set(body) == {"ok", "code", "message", "hint"}
    assert "secret" not in response.text
    assert ("ZeroDivisionError" in caplog.text) == (status == 500)


def test_wrong_methods_and_addresses_point_to_the_page(lab):
    with lab.client() as client:
        assert client.delete("/api/v1/me").status_code == 405
        assert "/api/v1/docs" in client.get("/api/v9/me").json()["hint"]


def test_the_api_page_names_every_address(lab):
    with lab.client() as client:
        document = client.get("/api/v1/openapi.json").json()
        page = client.get("/api/v1/docs").text
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
