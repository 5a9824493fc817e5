"""Whose keys open which store: those that a run was submitted with, and those that are known now.

A run keeps its keys in `secrets.json`, because the keeper that starts its next stint may live in another environment
than the command that submitted it. Keys that came from a profile are read from it again, so that a new log-in counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from outlast.errors import CredentialError, OutlastError
from outlast.inside import layout
from outlast.inside.move.address import Address
from outlast.inside.move.address import parse as parse_address
from outlast.inside.move.mapped import folder_playing
from outlast.inside.net.retry import HURRIED, Policy
from outlast.inside.place import ACCESSES, read_accesses
from outlast.inside.stores import is_remote
from outlast.inside.stores.access import Access
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.secrets import SecretsFile
from outlast.store.registry import open_store, outside_errors


class Granted(NamedTuple):
    """An access, and the profile it came from; empty: from the environment or another tool's files."""

    access: Access
    profile: str = ""


def addresses_of(spec: Mapping[str, Any]) -> list[str]:
    """Every address for which a stint of a run needs keys: its store, inputs and outputs that no folder plays."""
    named = [given["source"] for given in spec.get("inputs", ())] + [each["target"] for each in spec.get("outputs", ())]
    return [spec["store"], *(url for url in named if not is_played(url, spec.get("maps", {})))]


def is_played(url: str, maps: Mapping[str, str]) -> bool:
    """Whether a folder of this machine plays the place of an address."""
    return is_remote(url) and folder_playing(_parse(url), maps) is not None


class Accesses:
    """The keys of one home. Stores are opened once for each address and access."""

    def __init__(self, home: Home, environ: Mapping[str, str] | None = None) -> None:
        self._home = home
        self._environ = os.environ if environ is None else environ
        self._secrets = SecretsFile(home)
        self._stores: dict[tuple[str, Access | None, Policy], Store] = {}

    # ---- for a new run

    def grant(self, addresses: Iterable[str]) -> dict[str, Granted]:
        """What is known now, by `Address.root`, for every address that needs it.

        `CredentialError` says how to log in where nothing is known.
        """
        found: dict[str, Granted] = {}
        for url in filter(is_remote, addresses):
            address = _parse(url)
            if address.root not in found:
                found[address.root] = self._find(address)
        return found

    def grant_usual(self, kind: str) -> dict[str, Granted]:
        """What opens any address of a kind, under `kind://`; nothing when no keys are known."""
        try:
            return {f"{kind}://": self._find(Address(kind, "", "", into=True))}
        except OutlastError:  # a keyring that is locked counts as one without keys
            return {}

    def _find(self, address: Address) -> Granted:
        from outlast.store.profiles import Profiles, locate_access

        found = locate_access(address.scheme, address.profile, self._environ, self._home.path)
        if found.profile is None:
            return Granted(found.access)
        return Granted(Profiles(self._home.path).open(found.profile), found.profile.name)

    # ---- for a run that exists

    def of_run(self, run: str) -> dict[str, Granted]:
        """What a run was submitted with, brought up to date from the profiles."""
        kept = decode(self._secrets.of_run(run).get(ACCESSES, "{}"))
        return {root: self._refreshed(each) for root, each in kept.items()}

    def _refreshed(self, granted: Granted) -> Granted:
        from outlast.store.profiles import Profiles

        if not granted.profile:
            return granted
        try:
            profiles = Profiles(self._home.path)
            profile = profiles.get(granted.profile)
            now = profiles.open(profile) if profile else granted.access
        except OutlastError:  # a keyring that is locked while its owner is away: the keys that worked still do
            return granted
        if now.endpoint == granted.access.endpoint and now.conditional is None:
            now = now._replace(conditional=granted.access.conditional)
        return granted._replace(access=now)

    def secrets_of(self, run: str, addresses: Iterable[str]) -> dict[str, str]:
        """Everything private that a stint's runner needs: the script's secrets, and the keys for these addresses."""
        values = self._secrets.of_run(run)
        known = self.of_run(run)
        for url in filter(is_remote, addresses):
            address = _parse(url)
            if address.root not in known:
                known[address.root] = self._find(address)
        return {**values, ACCESSES: encode(known)} if known else values

    def open(self, url: str, run: str = "", policy: Policy = HURRIED) -> Store:
        """A store with the keys of a run; without a run, or when it kept none, with those known now."""
        if not is_remote(url):
            return self._open(url, None, policy)
        address = _parse(url)
        kept = self.of_run(run).get(address.root) if run else None
        try:
            granted = kept or self._find(address)
        except CredentialError:
            others = (self.of_run(each).get(address.root) for each in self._secrets.runs())
            found = next(filter(None, others), None)
            if found is None:
                raise
            granted = found
        return self._open(url, granted.access, policy)

    def open_run(self, url: str, run: str, policy: Policy = HURRIED) -> Store:
        """The store of a run. Kept keys that are refused give way to those known now, if these work."""
        store = self.open(url, run, policy)
        if not store.pace_s or not self._is_refused(store, run):
            return store
        address = _parse(url)
        kept, fresh = self.of_run(run), self._find(address)
        if kept.get(address.root) == fresh:
            return store
        again = self._open(url, fresh.access, policy)
        if self._is_refused(again, run):
            return store
        self._secrets.save_run(run, {**self._secrets.of_run(run), ACCESSES: encode({**kept, address.root: fresh})})
        return again

    def forget_stores(self) -> None:
        """Open every store anew when it is asked for next: its keys may have changed."""
        self._stores.clear()

    def _is_refused(self, store: Store, run: str) -> bool:
        try:
            with outside_errors():
                store.head(layout.spec_key(run))
        except CredentialError:
            return True
        return False

    def _open(self, url: str, access: Access | None, policy: Policy) -> Store:
        known = (url, access, policy)
        if known not in self._stores:
            self._stores[known] = open_store(url, access, policy)
        return self._stores[known]


def encode(granted: Mapping[str, Granted]) -> str:
    """As the secret `ACCESSES` of a run; the inside half reads the accesses and ignores the profiles."""
    return json.dumps({root: {**each.access._asdict(), "profile": each.profile} for root, each in granted.items()})


def decode(text: str) -> dict[str, Granted]:
    """The other way round."""
    profiles = {root: str(each.get("profile", "")) for root, each in json.loads(text).items()}
    return {root: Granted(access, profiles[root]) for root, access in read_accesses(text).items()}


def _parse(url: str) -> Address:
    with outside_errors():
        return parse_address(url)
