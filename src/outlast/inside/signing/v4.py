"""AWS Signature Version 4, for S3: requests and temporary links."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import List, Optional, Sequence, Tuple
from urllib.parse import quote

UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()
#: A week: what the servers accept for a temporary link.
LONGEST_LINK_S = 7 * 24 * 3600

Pairs = Sequence[Tuple[str, str]]


def quote_path(key: str) -> str:
    """A key as it stands in a path, in the one spelling that is signed too."""
    return quote(key, safe="/~-._", errors="surrogateescape")


def query_text(query: Pairs) -> str:
    """A query, sorted and encoded as it is signed."""
    return "&".join(
        "%s=%s" % pair
        for pair in sorted((quote(name, safe="~-._"), quote(value, safe="~-._")) for name, value in query)
    )


class V4Signer:
    """Signs for one key pair in one region. The derived key is kept for the day it is good for."""

    header_prefix = "x-amz-"

    def __init__(self, key: str, secret: str, token: str, region: str) -> None:
        self._key = key
        self._secret = secret
        self._token = token
        self._region = region
        self._day = ""
        self._derived = b""
        self._second = 0
        self._stamp = ""
        #: Added to this machine's clock, when the server has another time.
        self.offset_s = 0.0

    def sign(
        self,
        method: str,
        host: str,
        path: str,
        query: Pairs,
        headers: Pairs,
        payload: str = UNSIGNED,
        bucket: str = "",
    ) -> Tuple[str, List[Tuple[str, str]]]:
        """The target and all headers of a signed request; `headers` have names in lower case.

        `payload` is the SHA-256 of the body in hex, or `UNSIGNED`. `path` is encoded already. `bucket` is not used
        in this family.
        """
        stamp = self._now()
        text = query_text(query) if query else ""
        target = path + "?" + text if text else path
        if not self._key:
            return target, list(headers)
        signed = [("host", host), ("x-amz-content-sha256", payload), ("x-amz-date", stamp), *headers]
        if self._token:
            signed.append(("x-amz-security-token", self._token))
        signed.sort()
        names = ";".join([name for name, _ in signed])
        lines = "\n".join(["%s:%s" % pair for pair in signed])
        canonical = "%s\n%s\n%s\n%s\n\n%s\n%s" % (method, path, text, lines, names, payload)
        scope = "%s/%s/s3/aws4_request" % (stamp[:8], self._region)
        signature = self._signature(canonical, stamp, scope)
        signed.append(
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s"
                % (self._key, scope, names, signature),
            )
        )
        return target, [pair for pair in signed if pair[0] != "host"]

    def presign(
        self, method: str, host: str, path: str, expires_s: int, bucket: str = "", at: Optional[float] = None
    ) -> str:
        """The query of a link that anybody may use until it expires."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + self.offset_s if at is None else at))
        scope = "%s/%s/s3/aws4_request" % (stamp[:8], self._region)
        query = [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", self._key + "/" + scope),
            ("X-Amz-Date", stamp),
            ("X-Amz-Expires", str(expires_s)),
            ("X-Amz-SignedHeaders", "host"),
        ]
        if self._token:
            query.append(("X-Amz-Security-Token", self._token))
        text = query_text(query)
        canonical = "%s\n%s\n%s\nhost:%s\n\nhost\n%s" % (method, path, text, host, UNSIGNED)
        return "%s&X-Amz-Signature=%s" % (text, self._signature(canonical, stamp, scope))

    def _signature(self, canonical: str, stamp: str, scope: str) -> str:
        digest = hashlib.sha256(canonical.encode("utf-8")).hexdigest()
        text = "AWS4-HMAC-SHA256\n%s\n%s\n%s" % (stamp, scope, digest)
        return hmac.digest(self._key_of(stamp[:8]), text.encode("ascii"), "sha256").hex()

    def _key_of(self, day: str) -> bytes:
        if day != self._day:
            derived = ("AWS4" + self._secret).encode("utf-8")
            for word in (day, self._region, "s3", "aws4_request"):
                derived = hmac.new(derived, word.encode("utf-8"), hashlib.sha256).digest()
            self._derived, self._day = derived, day
        return self._derived

    def _now(self) -> str:
        second = int(time.time() + self.offset_s)
        if second != self._second:
            self._stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(second))
            self._second = second
        return self._stamp
