"""Profiles: accesses that `outlast login` keeps under a name, and which access an address is opened with.

The open part of a profile lies in `accesses.json` in the home folder, which only its owner can read; its secret lies in
the system's keyring, or beside the rest where there is no keyring.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from outlast.errors import CredentialError, SpecError
from outlast.inside.stores.access import VARIABLES, Access, from_environ
from outlast.settings import login_name
from outlast.store.awsfiles import aws_section, read_aws_files
from outlast.store.vault import Kept, Vault

KINDS = ("obs", "s3", "hdfs")
_SECRET = ("secret", "token")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class Profile(NamedTuple):
    """What is known of a profile without touching its secret."""

    name: str
    access: Access  # without secret and token
    kept_in: str  # keyring, file, or empty when there is no secret


class Found(NamedTuple):
    """An access, and where it came from in words. That of a profile is still without its secret."""

    access: Access
    origin: str
    profile: Profile | None = None


class Profiles:
    """The profiles of one home. Reading creates nothing; saving needs the folder."""

    def __init__(self, home: Path) -> None:
        self._vault = Vault(home, "accesses.json", "profiles")

    @property
    def path(self) -> Path:
        return self._vault.path

    def all(self) -> list[Profile]:
        """Every profile, by name."""
        return [_profile(name, kept) for name, kept in self._vault.all().items()]

    def of_kind(self, kind: str) -> list[Profile]:
        return [each for each in self.all() if each.access.kind == kind]

    def get(self, name: str) -> Profile | None:
        return next((each for each in self.all() if each.name == name), None)

    def open(self, profile: Profile) -> Access:
        """The whole access, with its secret."""
        login = login_command(profile.access.kind, profile.name)
        kept = self._vault.secrets(profile.name, "profile", login)
        return profile.access._replace(secret=kept.get("secret", ""), token=kept.get("token", ""))

    def save(self, name: str, access: Access, in_file: bool = False) -> str:
        """Keep an access, replacing one of that name, and say where its secret lies: keyring or file."""
        check_name(name)
        record = {field: value for field, value in access._asdict().items() if value not in ("", None)}
        secrets = {field: record.pop(field) for field in _SECRET if field in record}
        return self._vault.save(name, record, secrets, in_file)

    def forget(self, name: str) -> bool:
        """Remove a profile and its secret; False when there is none."""
        return self._vault.forget(name)


def check_name(name: str) -> str:
    """Return a profile's name; `SpecError` if it could not stand before the @ of an address."""
    if not _NAME.fullmatch(name):
        raise SpecError(f"{name!r} is not a name for a profile; use letters, digits, '.', '_' and '-', like lab")
    return name


def login_command(kind: str, profile: str = "") -> str:
    """What to type to log in."""
    return f"outlast login {kind}" + (f" --profile {profile}" if profile not in ("", kind) else "")


def find_access(kind: str, profile: str, environ: Mapping[str, str], home: Path) -> Access:
    """The access that opens addresses of a kind; see `locate_access`."""
    found = locate_access(kind, profile, environ, home)
    return Profiles(home).open(found.profile) if found.profile else found.access


def locate_access(kind: str, profile: str, environ: Mapping[str, str], home: Path) -> Found:
    """The first of: the profile that was named, the environment's, the default profile, what other tools keep.

    The default profile of a kind is the one that has the kind as its name, or the only one of that kind. `s3://` may
    also be opened with an access to OBS, because ModelArts calls the same buckets so. HDFS needs no keys: without any
    access it is entered under the login name. Otherwise `CredentialError` says what to do.
    """
    profiles = Profiles(home)
    if profile:
        return _named(profiles, kind, profile)
    found = next(_candidates(kind, profiles, environ), None)
    if found is not None:
        return found
    several = profiles.of_kind(kind)
    if several:
        names = ", ".join(each.name for each in several)
        raise CredentialError(
            f"there are {len(several)} profiles for {kind}:// ({names}) and none is the default",
            hint=f"name one, like {kind}://{several[0].name}@…, or log in to a default with: {login_command(kind)}",
        )
    variables = VARIABLES[kind]
    raise CredentialError(
        f"no keys for {kind}:// are known",
        hint=f"log in with: {login_command(kind)} (or set {variables['key'][0]} and {variables['secret'][0]})",
    )


def _candidates(kind: str, profiles: Profiles, environ: Mapping[str, str]) -> Iterator[Found]:
    for each in (kind, "obs") if kind == "s3" else (kind,):
        access = from_environ(each, environ)
        if access is not None:
            yield Found(completed(access), _variable(each, environ))
        default = default_profile(profiles, each)
        if default is not None:
            yield _from_profile(default)
    if kind == "s3":
        access = read_aws_files(environ)
        if access is not None:
            yield Found(access, f"~/.aws, section {aws_section(environ)}")
    if kind == "hdfs":
        yield Found(Access(kind, user=login_name(environ)), "the login name")


def _named(profiles: Profiles, kind: str, name: str) -> Found:
    found = profiles.get(name)
    if found is None:
        known = ", ".join(each.name for each in profiles.all()) or "none"
        raise CredentialError(
            f"no profile {name!r} is kept; known: {known}", hint=f"log in with: {login_command(kind, name)}"
        )
    theirs = found.access.kind
    if theirs != kind and (kind, theirs) != ("s3", "obs"):
        raise CredentialError(
            f"profile {name!r} is for {theirs}://, not for {kind}://", hint=f"log in with: {login_command(kind)}"
        )
    return _from_profile(found)


def _from_profile(profile: Profile) -> Found:
    return Found(profile.access, f"profile {profile.name}", profile)


def default_profile(profiles: Profiles, kind: str) -> Profile | None:
    """The one named like the kind, or the only one there is."""
    there = profiles.of_kind(kind)
    named = next((each for each in there if each.name == kind), None)
    return named or (there[0] if len(there) == 1 else None)


def completed(access: Access) -> Access:
    """An OBS access whose endpoint follows from its region."""
    if access.kind == "obs" and access.region and not access.endpoint:
        return access._replace(endpoint=obs_endpoint(access.region))
    return access


def obs_endpoint(region: str) -> str:
    """Where a region of Huawei Cloud keeps its OBS."""
    return f"https://obs.{region}.myhuaweicloud.com"


def _variable(kind: str, environ: Mapping[str, str]) -> str:
    names = VARIABLES[kind]["user" if kind == "hdfs" else "key"]
    return "environment " + next(name for name in names if environ.get(name))


def _profile(name: str, kept: Kept) -> Profile:
    return Profile(
        name, Access(**{field: kept.values[field] for field in Access._fields if field in kept.values}), kept.kept_in
    )
