"""Records under names whose secrets lie in the system's keyring, or beside the rest where there is no keyring.

The open part lies in a private file of the home folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from outlast.errors import CredentialError
from outlast.store.keyrings import open_keyring
from outlast.store.private import PrivateFile

KEYRING, FILE = "keyring", "file"


class Kept(NamedTuple):
    """What is known of a record without touching its secrets."""

    values: Mapping[str, Any]
    kept_in: str  # keyring, file, or empty when there is no secret


class Vault:
    """One table of records. Reading creates nothing; saving needs the folder."""

    def __init__(self, home: Path, file: str, table: str, entry: Callable[[str], str] = str) -> None:
        """`entry` makes the name in the keyring, which several tables of one home share."""
        self._home = home
        self._table = table
        self._entry = entry
        self._file = PrivateFile(home / file, (table,), "move it away and log in again")

    @property
    def path(self) -> Path:
        return self._file.path

    def all(self) -> dict[str, Kept]:
        """Every record, by name."""
        return {name: _kept(record) for name, record in sorted(self._records().items())}

    def secrets(self, name: str, what: str, login: str) -> dict[str, str]:
        """The secrets of a record, which `what` and `login` describe when the keyring cannot be used here."""
        record = self._records().get(name, {})
        if record.get("kept_in") != KEYRING:
            return dict(record.get("secrets", {}))
        keyring = open_keyring(self._home)
        if keyring is None:
            raise CredentialError(
                f"the secret of {what} {name!r} is in the keyring, which cannot be used here",
                hint=f"pip install 'outlast[keyring]', or {login}",
            )
        return keyring.read(self._entry(name))

    def save(self, name: str, values: Mapping[str, Any], secrets: Mapping[str, str], in_file: bool = False) -> str:
        """Keep a record, replacing one of that name, and say where its secrets lie: keyring or file."""
        keyring = None if in_file else open_keyring(self._home)
        kept_in = FILE if secrets else ""
        with self._file.changing() as body:
            before = body[self._table].get(name)
            if secrets and keyring is not None and keyring.save(self._entry(name), dict(secrets)):
                kept_in, secrets = KEYRING, {}
            elif before is not None:
                self._forget_secrets(name, before)
            body[self._table][name] = {"values": dict(values), "secrets": dict(secrets), "kept_in": kept_in}
        return kept_in

    def forget(self, name: str) -> bool:
        """Remove a record and its secrets; False when there is none."""
        if not self.path.exists():
            return False
        with self._file.changing() as body:
            record = body[self._table].pop(name, None)
        if record is not None:
            self._forget_secrets(name, record)
        return record is not None

    def _records(self) -> dict[str, Any]:
        return self._file.read()[self._table]

    def _forget_secrets(self, name: str, record: Mapping[str, Any]) -> None:
        keyring = open_keyring(self._home) if record.get("kept_in") == KEYRING else None
        if keyring is not None:
            keyring.forget(self._entry(name))


def _kept(record: Mapping[str, Any]) -> Kept:
    return Kept(record["values"], str(record.get("kept_in", "")))
