"""The older family: AWS Signature Version 2, and OBS's native form of it, which differ in two words and a prefix."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from email.utils import formatdate
from typing import List, Optional, Sequence, Tuple
from urllib.parse import quote

from .v4 import query_text

Pairs = Sequence[Tuple[str, str]]

#: Parts of a query that are signed; the others (prefix, marker, max-keys …) are not.
SUBRESOURCES = frozenset(
    "acl append backtosource cors delete deletebucket directcoldaccess encryption inventory length lifecycle location "
    "logging metadata modify name notification object-lock partNumber policy policystatus position publicaccessblock "
    "quota rename replication requestPayment restore retention storageClass storageinfo storagePolicy tagging torrent "
    "truncate uploadId uploads versionId versioning versions website response-content-type response-content-language "
    "response-expires response-cache-control response-content-disposition response-content-encoding "
    "x-image-process".split()
)


class V2Signer:
    """Signs with HMAC-SHA1 over a short text. With `native` in OBS's own words."""

    def __init__(self, key: str, secret: str, token: str, native: bool) -> None:
        self._key = key
        self._secret = secret.encode("utf-8")
        self._token = token
        self._word, self.header_prefix = ("OBS", "x-obs-") if native else ("AWS", "x-amz-")
        self._key_name = "AccessKeyId" if native else "AWSAccessKeyId"
        self.offset_s = 0.0

    def sign(
        self, method: str, host: str, path: str, query: Pairs, headers: Pairs, payload: str = "", bucket: str = ""
    ) -> Tuple[str, List[Tuple[str, str]]]:
        """The target and all headers of a signed request.

        `bucket` is the name of the bucket when the host holds it and the path does not. The payload is never part
        of this signature; Content-MD5 is.
        """
        text = query_text(query) if query else ""
        target = path + "?" + text if text else path
        if not self._key:
            return target, list(headers)
        sent = list(headers)
        if self._token:
            sent.append((self.header_prefix + "security-token", self._token))
        date = formatdate(time.time() + self.offset_s, usegmt=True)
        signature = self.signature(method, path, query, sent, date, bucket)
        sent += [("date", date), ("authorization", "%s %s:%s" % (self._word, self._key, signature))]
        return target, sent

    def signature(self, method: str, path: str, query: Pairs, headers: Pairs, date: str, bucket: str = "") -> str:
        """The signature of a request with that date; for a link the date is its end in seconds since 1970."""
        named = dict(headers)
        special = "".join("%s:%s\n" % pair for pair in sorted(headers) if pair[0].startswith(self.header_prefix))
        if self.header_prefix + "date" in named:
            date = ""
        resource = ("/" + bucket if bucket else "") + path
        signed = sorted(
            (name, value) for name, value in query if name in SUBRESOURCES or name.startswith(self.header_prefix)
        )
        if signed:
            resource += "?" + "&".join(name + ("=" + value if value else "") for name, value in signed)
        text = "%s\n%s\n%s\n%s\n%s%s" % (
            method, named.get("content-md5", ""), named.get("content-type", ""), date, special, resource,
        )  # fmt: skip
        return base64.b64encode(hmac.new(self._secret, text.encode("utf-8"), hashlib.sha1).digest()).decode("ascii")

    def presign(
        self, method: str, host: str, path: str, expires_s: int, bucket: str = "", at: Optional[float] = None
    ) -> str:
        """The query of a link that anybody may use until it expires."""
        end = str(int((time.time() + self.offset_s if at is None else at) + expires_s))
        query = [(self.header_prefix + "security-token", self._token)] if self._token else []
        signature = self.signature(method, path, query, (), end, bucket)
        parts = [(self._key_name, self._key), ("Expires", end), ("Signature", signature), *query]
        return "&".join("%s=%s" % (name, quote(value, safe="")) for name, value in parts)
