"""Accounts on platforms: what `outlast login modelarts` keeps under a name, and `--on NAME` uses.

The open part lies in `platforms.json` in the home folder, which only its owner can read; the secrets lie in the
system's keyring, or beside the rest where there is no keyring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from outlast.errors import CredentialError
from outlast.store.keyrings import open_keyring
from outlast.store.private import PrivateFile
from outlast.store.profiles import check_name

KEYRING, FILE = "keyring", "file"


@dataclass(frozen=True)
class Account:
    """One account: the values of its platform's `fields`, by name."""

    name: str
    kind: str  # modelarts, openpai, xihe
    values: Mapping[str, str]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    kept_in: str = ""  # keyring, file, or empty when there is no secret

    def __getitem__(self, name: str) -> str:
        """An open value or a secret; empty when it was not given."""
        return self.values.get(name) or self.secrets.get(name, "")


class Accounts:
    """The accounts of one home. Reading creates nothing; saving needs the folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._file = PrivateFile(home / "platforms.json", ("accounts",), "move it away and log in again")

    @property
    def path(self) -> Path:
        return self._file.path

    def all(self) -> list[Account]:
        """Every account by name, without its secrets."""
        return [_account(name, record) for name, record in sorted(self._file.read()["accounts"].items())]

    def get(self, name: str) -> Account | None:
        """One account without its secrets."""
        return next((each for each in self.all() if each.name == name), None)

    def open(self, name: str) -> Account:
        """One account with its secrets; `CredentialError` when there is none or the keyring keeps silent."""
        record = self._file.read()["accounts"].get(name)
        if record is None:
            raise CredentialError(f"there is no account {name!r}", hint=f"log in with: outlast login {name}")
        account = _account(name, record)
        if account.kept_in != KEYRING:
            return replace(account, secrets=dict(record.get("secrets", {})))
        keyring = open_keyring(self._home)
        if keyring is None:
            raise CredentialError(
                f"the secrets of account {name!r} are in the keyring, which cannot be used here",
                hint=f"pip install 'outlast[keyring]', or log in again: outlast login {account.kind} --profile {name}",
            )
        return replace(account, secrets=keyring.read(_entry(name)))

    def save(self, account: Account, in_file: bool = False) -> str:
        """Keep an account, replacing one of that name, and say where its secrets lie: keyring or file."""
        check_name(account.name)
        secrets = dict(account.secrets)
        keyring = None if in_file else open_keyring(self._home)
        kept_in = FILE if secrets else ""
        with self._file.changing() as body:
            before = body["accounts"].get(account.name)
            if secrets and keyring is not None and keyring.save(_entry(account.name), secrets):
                kept_in, secrets = KEYRING, {}
            elif before is not None:
                self._forget_secrets(_account(account.name, before))
            record = {"kind": account.kind, "values": dict(account.values), "secrets": secrets, "kept_in": kept_in}
            body["accounts"][account.name] = record
        return kept_in

    def forget(self, name: str) -> bool:
        """Remove an account and its secrets; False when there is none."""
        if not self._file.path.exists():
            return False
        with self._file.changing() as body:
            record = body["accounts"].pop(name, None)
        if record is not None:
            self._forget_secrets(_account(name, record))
        return record is not None

    def _forget_secrets(self, account: Account) -> None:
        keyring = open_keyring(self._home) if account.kept_in == KEYRING else None
        if keyring is not None:
            keyring.forget(_entry(account.name))


def _account(name: str, record: Mapping[str, Any]) -> Account:
    return Account(name, record["kind"], dict(record["values"]), kept_in=record.get("kept_in", ""))


def _entry(name: str) -> str:
    """Its name in the keyring, where the profiles of stores lie too."""
    return f"platform {name}"
