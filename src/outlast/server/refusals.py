"""What the server refuses, sorted by what the one who asked can do; each has its own HTTP status.

OutlastError
├── NotSignedIn           no session and no token, or a wrong one       401
├── NotAllowed            signed in, but the role does not reach        403
├── Conflict              it is there already, or changed meanwhile     409
├── TooLarge              the body is larger than this path takes       413
├── QuotaExceeded         the group has used up what it was given       429
└── TooManyAttempts       wait before the next sign-in                  429
"""

from __future__ import annotations

from outlast.errors import CredentialError, UsageError


class NotSignedIn(CredentialError):
    """Nobody, or nobody we know, is asking."""

    code = "not_signed_in"


class NotAllowed(CredentialError):
    """The role of the one who asks does not reach so far."""

    code = "not_allowed"
    http_status = 403


class Conflict(UsageError):
    """It is there already, or was changed meanwhile."""

    code = "conflict"
    http_status = 409


class TooLarge(UsageError):
    """The body is larger than this path takes."""

    code = "too_large"
    http_status = 413


class QuotaExceeded(UsageError):
    """The group has used up what it was given."""

    code = "quota_exceeded"
    http_status = 429


class TooManyAttempts(CredentialError):
    """Too many wrong sign-ins; `wait_s` says for how long."""

    code = "too_many_attempts"
    http_status = 429

    def __init__(self, message: str, *, hint: str = "", wait_s: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.wait_s = wait_s
