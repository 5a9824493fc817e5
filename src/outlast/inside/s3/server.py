"""Signed requests to one bucket, tried again where that helps, with their faults in our words."""

from __future__ import annotations

import calendar
import re
import time
from email.utils import parsedate
from typing import Optional, Sequence, Tuple

from ..errors import AccessDenied, Damaged, InsideError, NotFound, PlaceError, RequestError, StoreFull
from ..net.connection import Body, Connection, Head, Stale, Steps, Unreachable
from ..net.http import Answer, Http
from ..net.retry import Again, Patience, Policy, retry_after_s
from ..signing import signer_for
from ..signing.v4 import UNSIGNED, quote_path
from ..stores.access import OBS, V4, Access
from .wire import Fault, fault_in

Pairs = Sequence[Tuple[str, str]]
_BUSY = frozenset((429, 500, 502, 503, 504))
_BUSY_CODES = frozenset(
    "SlowDown RequestTimeout InternalError ServiceUnavailable TooManyRequests ConditionalRequestConflict".split()
)
_TORN_CODES = frozenset(("BadDigest", "XAmzContentChecksumMismatch", "IncompleteBody", "InvalidDigest"))
_KEY_CODES = frozenset(("InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken"))
_SKEWED = "RequestTimeTooSkewed"
#: Servers refuse 15 minutes, or 5; a difference this small is the time an answer takes.
_SKEW_S = 60.0
_FULL_CODES = frozenset(("QuotaExceeded", "InsufficientStorage", "XMinioStorageFull", "InsufficientStorageSpace"))


class Server:
    """One bucket of one store (or the store itself, without a bucket), as one access reaches it."""

    def __init__(self, access: Access, bucket: str = "", policy: Policy = Policy()) -> None:  # noqa: B008
        self.access = access
        self.bucket = bucket
        self.url = "%s://%s" % (access.kind, bucket)
        self.policy = policy
        self.signer = signer_for(access)
        self.prefix = self.signer.header_prefix
        self.in_path = _in_path(access, bucket)
        endpoint = _endpoint(access, "" if self.in_path else bucket)
        self.http = Http(endpoint, access.ca_file, access.verify, policy.timeout_s)
        self._mended_at: Optional[float] = None
        #: OBS checks Content-MD5 and knows no CRC; S3 says by its first answer whether it does.
        self.checks_crc: Optional[bool] = None if (access.signature or V4) == V4 and access.kind == "s3" else False

    def path_of(self, key: str) -> str:
        """The encoded path of a key, or of the bucket for an empty one."""
        lead = self.http.base + ("/" + self.bucket if self.in_path and self.bucket else "")
        return "%s/%s" % (lead, quote_path(key)) if key or not lead else lead

    def exchange(
        self, method: str, key: str, query: Pairs, headers: Pairs, body: Body, payload: str = UNSIGNED
    ) -> Steps[Tuple[Connection, Head]]:
        """One signed request, up to the body of its answer."""
        http = self.http
        bucket = "" if self.in_path else self.bucket
        target, signed = self.signer.sign(method, http.authority, self.path_of(key), query, headers, payload, bucket)
        return (yield from http.exchange(method, http.head_of(method, target, signed, body), body))

    def call(
        self,
        method: str,
        key: str = "",
        query: Pairs = (),
        headers: Pairs = (),
        body: Body = b"",
        ok: Sequence[int] = (200,),
        payload: str = UNSIGNED,
    ) -> Steps[Answer]:
        """A whole request with retries; an answer outside `ok` is raised as what it means."""
        patience: Optional[Patience] = None
        tries = 0
        while True:
            tries += 1
            try:
                connection, head = yield from self.exchange(method, key, query, headers, body, payload)
                content = yield from connection.receive_body(head, method)
                self.http.give_back(connection)
                if head.status in ok and not _undecided(head.status, content):
                    return Answer(head, content, tries)
                raise self.trouble(method, key, head, content)
            except Stale:
                continue
            except Unreachable as error:
                again = Again(error)
            except Again as error:
                again = error
            patience = patience or Patience(self.policy)
            yield patience.pause_s(again)

    def trouble(self, method: str, key: str, head: Head, body: bytes) -> Exception:
        """What a failed answer means: an error for good, or `Again` around one that may pass."""
        fault = fault_in(body)
        where = "%s/%s" % (self.url, key) if key else self.url
        said = " ".join(part for part in (str(head.status), fault.code or head.reason, fault.message) if part)
        text = "%s %s: the server said %s" % (method, where, said)
        # The answer to HEAD has no body that would name the cause; its date tells as much.
        if head.status == 403 and fault.code in ("", _SKEWED) and self._mend_clock(head):
            return Again(self._for_good(key, head, fault, where, text))
        if fault.code in _FULL_CODES or head.status == 507:
            return StoreFull(text)
        if head.status in _BUSY or fault.code in _BUSY_CODES:
            return Again(PlaceError(text), retry_after_s(head.header("retry-after")))
        if fault.code in _TORN_CODES:
            return Again(Damaged("%s did not arrive whole: %s" % (where, said)))
        return self._for_good(key, head, fault, where, text)

    def _for_good(self, key: str, head: Head, fault: Fault, where: str, text: str) -> InsideError:
        if fault.code == "NoSuchBucket" or (head.status == 404 and not key):
            return RequestError("there is no bucket %s; make it with: outlast mb %s" % (self.url, self.url))
        if head.status == 404:
            return NotFound(key)
        region = fault.fields.get("Region") or head.header("x-amz-bucket-region")
        if head.status in (301, 307, 400) and region and region != self.access.region:
            return RequestError("bucket %s is in region %s; log in again with that region" % (self.url, region))
        if head.status in (401, 403):
            if fault.code in _KEY_CODES:
                return AccessDenied("the keys for %s are not accepted (%s)" % (self.url, fault.code))
            if fault.code == _SKEWED:
                return AccessDenied("this machine's clock is wrong: the server of %s refuses its time" % self.url)
            return AccessDenied("access to %s is denied (%s)" % (where, fault.code or head.status))
        return RequestError(text)

    def _mend_clock(self, head: Head) -> bool:
        """Sign with the server's clock from now on. True when that may help the request that was refused."""
        parsed = parsedate(head.header("date"))
        if parsed is None:
            return False
        offset_s = calendar.timegm(parsed) - time.time()
        if abs(offset_s - self.signer.offset_s) > _SKEW_S:
            self.signer.offset_s = offset_s
            self._mended_at = time.monotonic()
        # What was under way just then was signed with the wrong clock, too.
        return self._mended_at is not None and time.monotonic() - self._mended_at < self.policy.timeout_s

    def presign(self, method: str, key: str, expires_s: int) -> str:
        """A link to a key that anybody may use until it expires."""
        path = self.path_of(key)
        bucket = "" if self.in_path else self.bucket
        query = self.signer.presign(method, self.http.authority, path, expires_s, bucket)
        scheme = "https" if self.http.secure else "http"
        return "%s://%s%s?%s" % (scheme, self.http.authority, path, query)


def _undecided(status: int, body: bytes) -> bool:
    """Some answers begin with 200 before the work is done and hold an error (completing an upload, copying).

    And of several conditional writes at once some are told, with 409, to ask again.
    """
    if status == 409:
        return b"ConditionalRequestConflict" in body
    return status == 200 and body[:200].lstrip().startswith((b"<Error", b"<?xml")) and b"<Error>" in body[:300]


def _in_path(access: Access, bucket: str) -> bool:
    if access.path_style is not None:
        return access.path_style
    if not access.endpoint:
        return "." in bucket
    host = access.endpoint.partition("://")[2].partition("/")[0]
    name = host.rpartition(":")[0] or host
    # A number, a bare name or a port of its own: such servers rarely own the names below theirs.
    numeric = re.match(r"^[0-9.]+$|^\[", name) is not None
    return numeric or "." not in name or ":" in host or "." in bucket


def _endpoint(access: Access, bucket: str) -> str:
    url = access.endpoint
    if not url:
        if access.kind == OBS:
            if not access.region:
                raise RequestError("no endpoint is known for obs://; log in with: outlast login obs")
            url = "https://obs.%s.myhuaweicloud.com" % access.region
        else:
            url = "https://s3.%s.amazonaws.com" % (access.region or "us-east-1")
    if not bucket:
        return url
    scheme, _, rest = url.partition("://")
    return "%s://%s.%s" % (scheme, bucket, rest)
