"""How a try to deliver a message can end badly."""

from __future__ import annotations

from collections.abc import Callable

from outlast.errors import PlatformError

#: Called right before the first byte of a message leaves; False: somebody else took over, so nothing may leave.
Departing = Callable[[], bool]


class Undelivered(PlatformError):
    """A message did not arrive, or (`unsure`) nobody can tell. Never names the address."""

    code = "undelivered"
    http_status = 502

    def __init__(self, message: str, *, hint: str = "", retryable: bool = True, unsure: bool = False) -> None:
        super().__init__(message, hint=hint, retryable=retryable and not unsure)
        self.unsure = unsure
