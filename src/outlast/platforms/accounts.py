"""Accounts on platforms: what `outlast login modelarts` keeps under a name, and `--on NAME` uses.

The open part lies in `platforms.json` in the home folder, which only its owner can read; the secrets lie in the
system's keyring, or beside the rest where there is no keyring.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from outlast.errors import CredentialError
from outlast.store.profiles import check_name
from outlast.store.vault import Kept, Vault


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
        # The keyring holds the profiles of stores, too.
        self._vault = Vault(home, "platforms.json", "accounts", entry="platform {}".format)

    @property
    def path(self) -> Path:
        return self._vault.path

    def all(self) -> list[Account]:
        """Every account by name, without its secrets."""
        return [_account(name, kept) for name, kept in self._vault.all().items()]

    def get(self, name: str) -> Account | None:
        """One account without its secrets."""
        return next((each for each in self.all() if each.name == name), None)

    def open(self, name: str) -> Account:
        """One account with its secrets; `CredentialError` when there is none or the keyring keeps silent."""
        account = self.get(name)
        if account is None:
            raise CredentialError(f"there is no account {name!r}", hint=f"log in with: outlast login {name}")
        again = f"log in again: outlast login {account.kind} --profile {name}"
        return replace(account, secrets=self._vault.secrets(name, "account", again))

    def save(self, account: Account, in_file: bool = False) -> str:
        """Keep an account, replacing one of that name, and say where its secrets lie: keyring or file."""
        check_name(account.name)
        values = {"kind": account.kind, "values": dict(account.values)}
        return self._vault.save(account.name, values, account.secrets, in_file)

    def forget(self, name: str) -> bool:
        """Remove an account and its secrets; False when there is none."""
        return self._vault.forget(name)


def _account(name: str, kept: Kept) -> Account:
    return Account(name, kept.values["kind"], dict(kept.values["values"]), kept_in=kept.kept_in)
