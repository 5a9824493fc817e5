"""Checking the signature of a request as S3 does: version 4, in the Authorization header.

What the header says about the payload (its SHA-256, UNSIGNED-PAYLOAD, STREAMING-…) is signed and therefore checked; the
payload itself is not hashed, because the benchmark measures clients.
"""

from __future__ import annotations

import hashlib
import hmac
import re

ALGORITHM = "AWS4-HMAC-SHA256"
_PAYLOAD = re.compile(r"^([0-9a-f]{64}|UNSIGNED-PAYLOAD|STREAMING-[A-Z0-9-]+)$")
_SPACES = re.compile(r"\s+")


class Checker:
    """Knows one pair of keys. Signing keys of a day are derived once."""

    def __init__(self, key: str, secret: str) -> None:
        self._key = key
        self._secret = secret
        self._signing_keys: dict[str, bytes] = {}

    def fault(self, method: str, target: str, headers: dict[str, str]) -> str:
        """The S3 error code of a request that is not signed well; empty when it is."""
        authorization = headers.get("authorization", "")
        if not authorization.startswith(ALGORITHM + " "):
            return "AccessDenied"
        try:
            credential, signed, signature = (
                part.strip().partition("=")[2] for part in authorization[len(ALGORITHM) + 1 :].split(",")
            )
            key, scope = credential.split("/", 1)
            payload, date = headers["x-amz-content-sha256"], headers["x-amz-date"]
            lines = [f"{name}:{_squeezed(headers[name])}" for name in signed.split(";")]
        except (ValueError, KeyError):
            return "AuthorizationHeaderMalformed"
        if key != self._key:
            return "InvalidAccessKeyId"
        if not scope.startswith(date[:8]) or "host" not in signed or not _PAYLOAD.match(payload):
            return "AuthorizationHeaderMalformed"
        path, _, query = target.partition("?")
        request = "\n".join((method, path, _canonical(query), *lines, "", signed, payload))
        text = f"{ALGORITHM}\n{date}\n{scope}\n{hashlib.sha256(request.encode('latin-1')).hexdigest()}"
        right = hmac.digest(self._signing_key(scope), text.encode(), "sha256").hex()
        return "" if hmac.compare_digest(right, signature) else "SignatureDoesNotMatch"

    def _signing_key(self, scope: str) -> bytes:
        found = self._signing_keys.get(scope)
        if found is None:
            found = ("AWS4" + self._secret).encode()
            for part in scope.split("/"):
                found = hmac.digest(found, part.encode(), "sha256")
            self._signing_keys[scope] = found
        return found


def _canonical(query: str) -> str:
    if not query:
        return ""
    return "&".join(sorted(part if "=" in part else part + "=" for part in query.split("&")))


def _squeezed(value: str) -> str:
    return _SPACES.sub(" ", value) if "  " in value else value
