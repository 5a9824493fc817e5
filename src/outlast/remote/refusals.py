"""What a server refuses, as the errors that the same command raises at home: same classes, same exit codes."""

from __future__ import annotations

import json
from typing import Any

from outlast.errors import (
    CredentialError,
    HomeError,
    NotFoundError,
    OutlastError,
    PlatformError,
    RunFailed,
    SpecError,
    StoreError,
    UsageError,
)

_BY_CODE: dict[str, type[OutlastError]] = {
    "bad_spec": SpecError, "bad_home": HomeError, "not_found": NotFoundError, "run_failed": RunFailed,
    "platform": PlatformError, "store": StoreError, "store_credentials": CredentialError,
    "not_allowed": CredentialError, "too_many_attempts": CredentialError, "credentials": CredentialError,
}  # fmt: skip
#: The server speaks to programs; at a terminal the next step is a command.
_HINTS = {
    "list the runs: GET /api/v1/runs": "list the runs with: outlast ps --all",
    "upload it first: POST /api/v1/uploads": "give its path on this machine",
    "see runs with: GET /api/v1/runs": "see runs with: outlast ps",
}
#: What the server says of an address that it does not have.
_NO_ADDRESS = "no such address"


def refused(url: str, status: int, body: bytes, *, with_token: bool) -> OutlastError:
    """The error that an answer of 300 and above stands for."""
    told = _told(body)
    if told is None:
        return _no_outlast(url, status)
    code, message = str(told.get("code", "")), str(told.get("message", ""))
    hint = str(told.get("hint") or "")
    if code == "not_signed_in":
        return not_signed_in(url, with_token=with_token)
    if message == _NO_ADDRESS or code == "not_possible":
        return PlatformError(
            f"the server at {url} is older than this outlast and cannot do this",
            hint="ask its admin to upgrade it, or use the version of outlast that it has",
            retryable=False,
        )
    return failure(code, message, hint, status)


def failure(code: str, message: str, hint: str = "", status: int = 500) -> OutlastError:
    """The error of a code that the server gave; one that we do not know is told by its status."""
    kind = _BY_CODE.get(code) or _by_status(status)
    return kind(message, hint=_HINTS.get(hint, hint))


def not_signed_in(url: str, *, with_token: bool) -> CredentialError:
    login = f"outlast login server {url}"
    if with_token:
        return CredentialError(
            f"the server at {url} does not accept this token: it is wrong, was revoked or has expired",
            hint=f"make a new one (outlast token, or in the console), then: {login}",
        )
    return CredentialError(f"the server at {url} wants to know who you are", hint=f"log in with: {login}")


def unreachable(url: str, reason: str) -> PlatformError:
    return PlatformError(
        f"no outlast server answers at {url}: {reason}",
        hint="check the address and that it is running there (outlast serve), or leave out --server to work here",
    )


def _told(body: bytes) -> dict[str, Any] | None:
    """The server's own words; None when something else answered."""
    try:
        told = json.loads(body)
    except ValueError:
        return None
    return told if isinstance(told, dict) and told.get("ok") is False and "message" in told else None


def _no_outlast(url: str, status: int) -> OutlastError:
    if status in (502, 503, 504):
        return PlatformError(f"a proxy at {url} cannot reach the outlast server behind it", hint="try again later")
    return UsageError(
        f"what answers at {url} is no outlast server (status {status})",
        hint="give its address as outlast serve prints it, like http://127.0.0.1:8700",
    )


def _by_status(status: int) -> type[OutlastError]:
    if status in (401, 403):
        return CredentialError
    if status == 404:
        return NotFoundError
    return UsageError if status < 500 else PlatformError
