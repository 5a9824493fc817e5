"""The system's keyring, where there is a real one. The package `keyring` comes with `outlast[keyring]`."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from outlast.errors import CredentialError


class Keyring:
    """Secrets of one home in the system's keyring, by the name of a profile."""

    def __init__(self, backend: Any, home: Path) -> None:
        self._backend = backend
        self._service = f"outlast {home}"  # two homes may use the same names

    @property
    def name(self) -> str:
        return str(self._backend.name)

    def save(self, profile: str, values: dict[str, str]) -> bool:
        """Keep them; False when the keyring would not, as one that is locked or has no desktop to ask on."""
        try:
            self._backend.set_password(self._service, profile, json.dumps(values))
        except Exception:  # noqa: BLE001 - backends raise what their desktop raises; the file takes over
            return False
        return True

    def read(self, profile: str) -> dict[str, str]:
        """What `save` kept; `CredentialError` when the keyring does not give it."""
        try:
            text = self._backend.get_password(self._service, profile)
        except Exception as error:  # noqa: BLE001 - see `save`
            raise _silent(profile, f"the keyring ({self.name}) did not answer: {type(error).__name__}") from None
        if text is None:
            raise _silent(profile, f"the keyring ({self.name}) no longer holds it")
        return dict(json.loads(text))

    def forget(self, profile: str) -> None:
        """Remove it; what the keyring lost or will not touch stays as it is."""
        with contextlib.suppress(Exception):  # without its profile the entry is of no use
            self._backend.delete_password(self._service, profile)


def open_keyring(home: Path) -> Keyring | None:
    """The keyring, or None where the package is missing or would only pretend to keep anything.

    A backend that the package itself does not recommend (plain files, a file with a password of its own) counts only
    when the user chose it by configuration: ours is a private file too, and asks nothing.
    """
    try:
        import keyring.core

        backend = keyring.core.load_env() or keyring.core.load_config() or _recommended(keyring.core.get_keyring())
    except Exception:  # noqa: BLE001 - not installed, or set to a backend that cannot be loaded
        return None
    if backend is None or type(backend).__module__ in ("keyring.backends.fail", "keyring.backends.null"):
        return None
    return Keyring(backend, home)


def _recommended(backend: Any) -> Any:
    """The backend, or the first of a chain, that the package recommends; None when there is none."""
    chain = getattr(backend, "backends", [backend])
    return next((each for each in chain if each.priority >= 1), None)


def _silent(profile: str, reason: str) -> CredentialError:
    return CredentialError(
        f"the secret of profile {profile!r} cannot be read: {reason}",
        hint="unlock the keyring, or log in again with --in-file, which needs none",
    )
