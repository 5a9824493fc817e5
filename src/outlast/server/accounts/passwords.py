"""Passwords, kept as scrypt hashes: slow to try, and from the standard library."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from outlast.errors import UsageError

#: 32 MiB and about a tenth of a second for one try; the parameters stand in each hash, so they can grow later.
_COST, _BLOCK, _PARALLEL = 2**15, 8, 1
_MIN_LENGTH, _MAX_LENGTH = 8, 1024


def check_password(password: str) -> None:
    """`UsageError` for what cannot be a password."""
    if not _MIN_LENGTH <= len(password) <= _MAX_LENGTH:
        raise UsageError(f"a password has {_MIN_LENGTH} to {_MAX_LENGTH} characters", hint="choose another one")


def hash_password(password: str) -> str:
    """`scrypt$cost$block$parallel$salt$hash`; `UsageError` for one that is too short."""
    check_password(password)
    salt = secrets.token_bytes(16)
    made = _scrypt(password, salt, _COST, _BLOCK, _PARALLEL)
    return "$".join(["scrypt", str(_COST), str(_BLOCK), str(_PARALLEL), _text(salt), _text(made)])


def is_password(password: str, kept: str | None) -> bool:
    """Whether `password` is the one that `kept` was made from.

    Without a kept one the same work is done in vain: the time must not tell which accounts exist.
    """
    known = kept or _NOBODY
    _, cost, block, parallel, salt, wanted = known.split("$")
    if len(password) > _MAX_LENGTH:
        return False
    made = _scrypt(password, base64.b64decode(salt), int(cost), int(block), int(parallel))
    return hmac.compare_digest(made, base64.b64decode(wanted)) and kept is not None


def _scrypt(password: str, salt: bytes, cost: int, block: int, parallel: int) -> bytes:
    memory = 256 * cost * block  # OpenSSL's own limit of 32 MiB is just too small for these parameters
    words = password.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(words, salt=salt, n=cost, r=block, p=parallel, maxmem=memory, dklen=32)


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()


_NOBODY = "$".join(["scrypt", str(_COST), str(_BLOCK), str(_PARALLEL), _text(bytes(16)), _text(bytes(32))])
