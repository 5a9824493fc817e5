"""Logging in to stores, out of them again, and telling who one is there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import CredentialError, NotFoundError, OutlastError, SpecError, UsageError
from outlast.inside.stores.access import Access, from_environ
from outlast.keeper.breakers import Breakers
from outlast.keeper.home import Home
from outlast.operations.checks import Abilities, check_access, short
from outlast.operations.knock import as_endpoint
from outlast.platforms.accounts import Accounts
from outlast.settings import Settings, login_name
from outlast.store.awsfiles import read_aws_files
from outlast.store.profiles import (
    KINDS,
    Found,
    Profiles,
    check_name,
    completed,
    locate_access,
    obs_endpoint,
)

_REGION = re.compile(r"//(?:obs|s3)[.-]([a-z0-9-]+)\.(?:myhuaweicloud|amazonaws)\.com")
_SIGNATURES = ("v4", "v2", "obs")


@dataclass(frozen=True)
class LoggedIn:
    """A profile that was kept."""

    profile: str
    kind: str
    endpoint: str
    key: str  # shortened
    user: str
    kept_in: str  # keyring, file, or empty when there is no secret
    path: str  # the file of the profiles
    abilities: Abilities | None  # None: not checked


@dataclass(frozen=True)
class Identity:
    """One access that is known, without its secret."""

    kind: str
    profile: str
    origin: str
    endpoint: str
    key: str  # shortened
    user: str
    kept_in: str
    used_for: tuple[str, ...]  # schemes that are opened with it when no profile is named
    ok: bool | None = None  # None: not checked
    detail: str = ""


def login(
    settings: Settings,
    access: Access,
    *,
    profile: str = "",
    bucket: str = "",
    check: bool = True,
    in_file: bool = False,
) -> LoggedIn:
    """Check an access with real calls and keep it under a name (default: its kind). Nothing is kept when it fails."""
    access = ready(access)
    name = check_name(profile or access.kind)
    profiles = Profiles(Home(settings.home).path)
    before = profiles.get(name)
    if before is not None and before.access.kind != access.kind:
        hint = f"choose another --profile, or forget that one with: outlast logout {name}"
        raise UsageError(f"profile {name!r} is for {before.access.kind}://", hint=hint)
    abilities = check_access(access, bucket) if check else None
    if abilities is not None and abilities.conditional is not None:
        access = access._replace(conditional=abilities.conditional)
    kept_in = profiles.save(name, access, in_file)
    # The store of a platform may have been what nobody was let into.
    Breakers(settings.home, settings.refusal_wait_s).forgive("refused")
    return LoggedIn(
        profile=name,
        kind=access.kind,
        endpoint=access.endpoint,
        key=short(access.key),
        user=access.user,
        kept_in=kept_in,
        path=str(profiles.path),
        abilities=abilities,
    )


def ready(access: Access) -> Access:
    """An access with everything that follows from the rest filled in; `SpecError` names what is missing."""
    if access.kind not in KINDS:
        raise SpecError(f"unknown kind of store {access.kind!r}", hint="known: " + ", ".join(KINDS))
    if access.signature not in ("", *_SIGNATURES):
        raise SpecError(f"unknown signature {access.signature!r}", hint="known: " + ", ".join(_SIGNATURES))
    if access.ca_file and not Path(access.ca_file).expanduser().is_file():
        raise SpecError(f"there is no certificate file {access.ca_file}")
    if access.ca_file:
        access = access._replace(ca_file=str(Path(access.ca_file).expanduser().absolute()))
    if access.endpoint:
        access = access._replace(endpoint=as_endpoint(access.kind, access.endpoint))
    if access.kind == "hdfs":
        if not access.endpoint:
            raise SpecError("no name node is given", hint="give --endpoint http://namenode:9870")
        return access._replace(user=access.user or login_name(os.environ))
    if not access.key or not access.secret:
        raise SpecError(f"{access.kind}:// needs the id of a key and its secret")
    return _with_region(access) if access.endpoint else _with_endpoint(access)


def _with_region(access: Access) -> Access:
    """The clouds' own endpoints name their region, and signatures need it."""
    named = _REGION.search(access.endpoint)
    return access._replace(region=access.region or named[1]) if named else access


def _with_endpoint(access: Access) -> Access:
    if not access.region:
        raise SpecError("neither an endpoint nor a region is given", hint="give --endpoint URL or --region NAME")
    usual = obs_endpoint if access.kind == "obs" else "https://s3.{}.amazonaws.com".format
    return access._replace(endpoint=usual(access.region))


def kept(settings: Settings, kind: str, profile: str = "") -> Access | None:
    """What a profile of that name holds, without its secret; what a second login need not be told again."""
    found = Profiles(settings.home).get(profile or kind)
    return found.access if found is not None and found.access.kind == kind else None


def logout(settings: Settings, name: str) -> str:
    """Forget a profile, or an account on a platform, and its secret; a kind stands for its default profile."""
    profiles = Profiles(settings.home)
    if profiles.forget(name):
        return name
    of_kind = [each.name for each in profiles.of_kind(name)]
    if len(of_kind) == 1:
        profiles.forget(of_kind[0])
        return of_kind[0]
    if Accounts(settings.home).forget(name):
        return name
    names = [each.name for each in profiles.all()] + [each.name for each in Accounts(settings.home).all()]
    known = ", ".join(names) or "none"
    raise NotFoundError(f"no profile {name!r} is kept", hint=f"profiles: {known}")


def whoami(settings: Settings, environ: Mapping[str, str], *, check: bool = False) -> list[Identity]:
    """Every access that is known: profiles, the environment's, those of the AWS tools. With `check` each is used."""
    used = _used(settings, environ)
    return [_identity(settings, found, used, check) for found in _known(settings, environ)]


def _known(settings: Settings, environ: Mapping[str, str]) -> Iterator[Found]:
    for profile in Profiles(settings.home).all():
        if profile.access.kind not in KINDS:
            continue  # a server's token opens no store
        yield Found(profile.access, f"profile {profile.name}", profile)
    for kind in KINDS:
        access = from_environ(kind, environ)
        if access is not None:
            yield Found(completed(access), "environment")
    access = read_aws_files(environ)
    if access is not None:
        yield Found(access, "~/.aws")


def _used(settings: Settings, environ: Mapping[str, str]) -> dict[str, Found]:
    """Scheme -> what opens it when no profile is named."""
    used = {}
    for kind in KINDS:
        try:
            used[kind] = locate_access(kind, "", environ, settings.home)
        except CredentialError:
            continue
    return used


def _identity(settings: Settings, found: Found, used: Mapping[str, Found], check: bool) -> Identity:
    ok, detail = _try(settings, found) if check else (None, "")
    access, profile = found.access, found.profile
    return Identity(
        kind=access.kind,
        profile=profile.name if profile else "",
        origin=found.origin,
        endpoint=access.endpoint,
        key=short(access.key),
        user=access.user,
        kept_in=profile.kept_in if profile else "",
        used_for=tuple(kind for kind, each in used.items() if (each.access, each.profile) == (access, profile)),
        ok=ok,
        detail=detail,
    )


def _try(settings: Settings, found: Found) -> tuple[bool | None, str]:
    try:
        access = Profiles(settings.home).open(found.profile) if found.profile else found.access
        if access.kind == "hdfs" and not access.endpoint:
            return None, "not checked: the address names the server"
        if not access.endpoint:
            region = access.region or ("us-east-1" if access.kind == "s3" else "")
            access = _with_endpoint(access._replace(region=region))
        return True, "; ".join(check_access(access).lines())
    except OutlastError as error:
        return False, error.message
