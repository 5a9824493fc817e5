"""Everything that can go wrong, sorted by what the user can do about it.

OutlastError
├── UsageError            change the request            exit 2
│   ├── SpecError         the request itself: a flag, a file, a value
│   └── HomeError         the home folder: read-only, written by a newer version
├── NotFoundError         no such run, stint, file      exit 10
├── CredentialError       log in                        exit 11
├── PlatformError         theirs; `retryable` says whether waiting helps   exit 12
│   ├── Unavailable       it takes no stint now; another platform may
│   └── StoreError        the store cannot be reached, is full
└── RunFailed             your script, or the run as a whole   exit 1

Messages: what happened, the value, what is possible, the next command. Lower case, no full stop on one-liners.
"""

from __future__ import annotations

from typing import ClassVar, Literal


class OutlastError(Exception):
    """Root of every error that Outlast raises on purpose."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    http_status: ClassVar[int] = 500

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        stop = "" if self.message.endswith("?") else "."
        return f"{self.message}{stop} {self.hint}" if self.hint else self.message


class UsageError(OutlastError):
    """The request cannot work as it is; change it."""

    code = "usage"
    exit_code = 2
    http_status = 400


class SpecError(UsageError):
    """A flag, a field or a file of the request is wrong."""

    code = "bad_spec"


class HomeError(UsageError):
    """The home folder cannot be used."""

    code = "bad_home"


class NotFoundError(OutlastError):
    """There is no such run, stint or file."""

    code = "not_found"
    exit_code = 10
    http_status = 404


class CredentialError(OutlastError):
    """Credentials are missing or refused."""

    code = "credentials"
    exit_code = 11
    http_status = 401


class PlatformError(OutlastError):
    """A platform or a store failed; not the user's doing."""

    code = "platform"
    exit_code = 12
    http_status = 503

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable


class Unavailable(PlatformError):
    """A platform takes no stint now; another one may, or the same one later.

    `why` decides what follows: `full` and `quota` wait or go elsewhere, `down` counts towards the circuit breaker,
    `refused` (credentials, a request that it will never take) goes elsewhere until the user has acted.
    """

    code = "unavailable"

    def __init__(
        self,
        message: str,
        *,
        why: Literal["full", "quota", "down", "refused"],
        retry_after_s: float | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint, retryable=why != "refused")
        self.why = why
        self.retry_after_s = retry_after_s


class StoreError(PlatformError):
    """The store cannot be reached or has no space left."""

    code = "store"


class RunFailed(OutlastError):
    """The run ended without success; the message carries the script's last lines."""

    code = "run_failed"
    exit_code = 1
    http_status = 409


INTERRUPTED_EXIT_CODE = 130
