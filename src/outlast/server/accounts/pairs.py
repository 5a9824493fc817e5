"""Access keys and their secrets, and everything else that only this home can compute.

A verifier of signatures needs the secret itself, so a digest will not do. Instead of keeping secrets, each is computed
from its access key and `gateway.key`, a file of 32 random bytes that only the owner of the home can read: a stolen
database holds no secret, and neither does the file without the list of keys.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from outlast.errors import HomeError

KEY_FILE = "gateway.key"
_KEY_BYTES = 32
#: Letters of the secrets; as long and as plain as those of the cloud, so that no client stumbles.
_SECRET_LENGTH = 40


class Pairs:
    """What a home's key file gives: secrets of access keys, the project's id, seals of links."""

    def __init__(self, home: Path) -> None:
        self._key = _read_key(home / KEY_FILE)

    def secret_of(self, access: str) -> str:
        """The secret key that belongs to an access key."""
        return self._seal("secret", access)[:_SECRET_LENGTH]

    def words(self, access: str) -> dict[str, str]:
        """Everything that a client asks for, shown once: when the access key is made."""
        return {"access_key": access, "secret_key": self.secret_of(access), "project_id": self.project_id}

    @property
    def project_id(self) -> str:
        """The one project of this server: 32 hex digits."""
        return self._seal("project")[:32]

    def seal(self, text: str) -> str:
        """What proves that this server wrote `text`."""
        return self._seal("link", text)

    def is_sealed(self, text: str, seal: str) -> bool:
        return hmac.compare_digest(self.seal(text).encode(), seal.encode("utf-8", "replace"))

    def _seal(self, *parts: str) -> str:
        return hmac.new(self._key, "\0".join(parts).encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def _read_key(path: Path) -> bytes:
    """The key file's bytes; it is made the first time, whole or not at all."""
    try:
        with contextlib.suppress(FileExistsError):
            if not path.exists():
                _make_key(path)
        key = path.read_bytes()
    except OSError as error:
        raise HomeError(f"cannot use {path}: {error.strerror}", hint="only its owner may read and write it") from None
    if len(key) != _KEY_BYTES:
        raise HomeError(f"{path} is damaged", hint="bring it back from a copy; without it make all access keys anew")
    return key


def _make_key(path: Path) -> None:
    aside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(secrets.token_bytes(_KEY_BYTES))
            out.flush()
            os.fsync(out.fileno())
        os.link(aside, path)  # of two first processes one wins, and both use its key
    finally:
        aside.unlink()
