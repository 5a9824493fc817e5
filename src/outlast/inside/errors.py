"""What can go wrong inside a stint, split by who can mend it.

InsideError
├── RequestError    the request is at fault: retrying the same thing cannot help
│   └── AccessDenied  the keys are missing, wrong, or may not do this
├── PlaceError      the machine or the network is at fault: another try may work
│   └── StoreFull   no space left where bytes are kept
├── NotFound        a key that the store does not have
├── Damaged         bytes that are not what their digest or format says
└── Changed         a file was rewritten while it was being committed
"""

from __future__ import annotations


class InsideError(Exception):
    """Root of the errors that the inside half raises on purpose."""


class RequestError(InsideError):
    """The request cannot work anywhere: a missing input, a requirement that does not exist."""


class AccessDenied(RequestError):
    """Credentials are missing or wrong, or do not allow this."""


class PlaceError(InsideError):
    """This place cannot do it now: no network, no disk, no permission."""


class StoreFull(PlaceError):
    """The store has no space left."""


class NotFound(InsideError):
    """The store has no such key."""

    def __init__(self, key: str) -> None:
        super().__init__("no such key: %s" % key)
        self.key = key


class Damaged(InsideError):
    """Bytes differ from what their digest or their format promises."""


class Changed(InsideError):
    """A file was rewritten while it was being committed; nothing was."""
