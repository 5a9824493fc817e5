"""Knocking at an endpoint before any key is shown: is somebody there, is it the right kind of door, what time is it?

One request without credentials and without retries. Each way it can fail is one message with the next step.
"""

from __future__ import annotations

import calendar
import re
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate
from urllib.parse import urlsplit

from outlast.errors import CredentialError, SpecError, StoreError
from outlast.inside.net.http import Http, Unreachable
from outlast.inside.s3.wire import fault_in
from outlast.inside.stores.access import Access
from outlast.store.registry import outside_errors

_PATIENCE_S = 15.0
_SECOND_KNOCK_S = 5.0
#: `mybucket.obs.cn-north-4.myhuaweicloud.com` is what consoles show for a bucket; the rest is the store.
_OF_BUCKET = re.compile(r"(.+)\.((?:obs|s3)[.-].*(?:myhuaweicloud|amazonaws)\.com(?:\.cn)?)")


@dataclass(frozen=True)
class Greeting:
    """What a server says to a stranger."""

    status: int
    kind: str  # of the content
    body: bytes
    request_id: str
    skew_s: float | None  # how far this machine's clock is ahead of the server's; None: it names no time


def as_endpoint(kind: str, text: str) -> str:
    """An endpoint as people paste it, whole: with a scheme, without a slash at its end and without a bucket."""
    text = text.strip().rstrip("/")
    if "://" not in text:
        text = ("http://" if kind == "hdfs" else "https://") + text
    parts = urlsplit(text)
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        raise SpecError(f"{text!r} is not an endpoint", hint=f"write it like {_example(kind)}")
    of_bucket = _OF_BUCKET.fullmatch(host)
    if of_bucket:
        raise SpecError(
            f"{text} is the address of the bucket {of_bucket[1]}, not of the store",
            hint=f"give --endpoint {parts.scheme}://{of_bucket[2]} --bucket {of_bucket[1]}",
        )
    return text


def knock(access: Access, target: str = "/") -> Greeting:
    """Ask for a page without credentials; `StoreError` or `CredentialError` when nobody suitable answers."""
    try:
        greeting = _ask(access.endpoint, access.ca_file, access.verify, target, _PATIENCE_S)
    except Unreachable as error:
        raise _explain(access, error) from None
    # Servers that want TLS say so in plain words, with this status, and then hang up.
    if greeting.status == 400 and access.endpoint.startswith("http://") and _speaks(_other(access.endpoint)):
        raise _mixed_up(access.endpoint)
    return greeting


def knock_at_store(access: Access) -> Greeting:
    """Knock where S3 or OBS should be; a web server of another kind is told apart."""
    greeting = knock(access)
    if greeting.request_id or fault_in(greeting.body).code or b"<ListAllMyBucketsResult" in greeting.body:
        return greeting
    what = f"it sent {greeting.kind}" if greeting.kind else "it sent nothing that could be read"
    raise StoreError(
        f"{access.endpoint} answers with {greeting.status}, but not like an object store: {what}",
        hint=f"check the endpoint: the port of the store itself, not of its web console; like {_example(access.kind)}",
        retryable=False,
    )


def _ask(url: str, ca_file: str, verify: bool, target: str, timeout_s: float) -> Greeting:
    with outside_errors():
        http = Http(url, ca_file, verify, timeout_s)
    try:
        with http.request("GET", http.base + target) as answer:
            body = answer.read()
            request_id = answer.header("x-amz-request-id") or answer.header("x-obs-request-id")
            return Greeting(
                answer.status, answer.header("content-type"), body, request_id, _skew_s(answer.header("date"))
            )
    finally:
        http.close()


def _skew_s(date: str) -> float | None:
    parsed = parsedate(date)
    return time.time() - calendar.timegm(parsed) if parsed else None


def _explain(access: Access, error: Unreachable) -> StoreError | CredentialError:
    if isinstance(error.__context__, ssl.SSLCertVerificationError):
        return CredentialError(
            f"the certificate of {access.endpoint} is not trusted: {error.__context__.verify_message}",
            hint="name the certificate of its authority with --ca-file FILE, or give up checking with --insecure",
        )
    if _speaks(_other(access.endpoint)):
        return _mixed_up(access.endpoint)
    return StoreError(str(error), hint=f"check the endpoint {access.endpoint} and the network, then try again")


def _mixed_up(endpoint: str) -> StoreError:
    other = _other(endpoint)
    says = "plain http" if other.startswith("http://") else "https"
    return StoreError(f"{endpoint} speaks {says}", hint=f"give --endpoint {other}", retryable=False)


def _other(endpoint: str) -> str:
    """The same door with the other of http and https."""
    scheme, _, rest = endpoint.partition("://")
    return ("http" if scheme == "https" else "https") + "://" + rest


def _speaks(endpoint: str) -> bool:
    """Whether somebody answers there properly. A port that was left out means another door, so that is not asked."""
    if urlsplit(endpoint).port is None:
        return False
    try:
        return _ask(endpoint, "", False, "/", _SECOND_KNOCK_S).status != 400
    except Unreachable:
        return False


def _example(kind: str) -> str:
    return {
        "obs": "https://obs.cn-north-4.myhuaweicloud.com",
        "s3": "https://s3.eu-west-1.amazonaws.com",
        "hdfs": "http://namenode:9870",
    }[kind]
