"""Logging in to a server: the token is tried, then kept as the secrets of stores are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from outlast.errors import OutlastError, SpecError, UsageError
from outlast.inside.stores.access import Access
from outlast.keeper.home import Home
from outlast.operations.login import Identity
from outlast.remote.server import Server
from outlast.settings import Settings, read_server
from outlast.store.profiles import Profile, Profiles, check_name

KIND = "server"


@dataclass(frozen=True)
class ServerLogin:
    """A server that lets us in, and where its token is kept."""

    profile: str
    url: str
    user: str
    role: str
    kept_in: str  # keyring or file
    path: str  # the file of the profiles


def login_server(
    settings: Settings, url: str, token: str, *, profile: str = "", ca_file: str = "", verify: bool = True,
    in_file: bool = False,
) -> ServerLogin:  # fmt: skip
    address = read_server(url)
    if not address:
        raise UsageError("which server?", hint="for example: outlast login server https://lab.example")
    if not token:
        raise SpecError("no token is given", hint="make one in the console, or with: outlast token create")
    if ca_file and not Path(ca_file).expanduser().is_file():
        raise SpecError(f"there is no certificate file {ca_file}")
    ca_file = str(Path(ca_file).expanduser().absolute()) if ca_file else ""
    me = Server(address, token, ca_file=ca_file, verify=verify).ask("GET", "/me")
    profiles = Profiles(Home(settings.home).path)
    name = check_name(profile) if profile else _free_name(profiles, address)
    before = profiles.get(name)
    if before is not None and before.access.kind != KIND:
        raise UsageError(f"profile {name!r} is for {before.access.kind}://", hint="choose another --profile")
    for other in _of_address(profiles, address):
        profiles.forget(other.name)  # one token for one server: the newest
    access = Access(KIND, endpoint=address, secret=token, user=me["name"], ca_file=ca_file, verify=verify)
    kept_in = profiles.save(name, access, in_file)
    return ServerLogin(name, address, me["name"], me["role"], kept_in, str(profiles.path))


def known_servers(settings: Settings, *, check: bool = False) -> list[Identity]:
    """The servers that a token is kept for; with `check` each is asked who we are."""
    profiles = Profiles(settings.home)
    return [_identity(profiles, each, check) for each in profiles.of_kind(KIND)]


def _identity(profiles: Profiles, profile: Profile, check: bool) -> Identity:
    access = profile.access
    ok, detail = _try(profiles, profile) if check else (None, "")
    return Identity(
        kind=KIND, profile=profile.name, origin=f"profile {profile.name}", endpoint=access.endpoint, key="",
        user=access.user, kept_in=profile.kept_in, used_for=(), ok=ok, detail=detail,
    )  # fmt: skip


def _try(profiles: Profiles, profile: Profile) -> tuple[bool, str]:
    try:
        access = profiles.open(profile)
        server = Server(access.endpoint, access.secret, ca_file=access.ca_file, verify=access.verify)
        me = server.ask("GET", "/me")
    except OutlastError as error:
        return False, error.message
    return True, f"{me['name']} is {me['role']} there"


def _of_address(profiles: Profiles, address: str) -> list[Profile]:
    return [each for each in profiles.of_kind(KIND) if each.access.endpoint == address]


def _free_name(profiles: Profiles, address: str) -> str:
    """The name under which the server is kept already, or one made of its host."""
    there = _of_address(profiles, address)
    if there:
        return there[0].name
    parts = urlsplit(address)
    plain = "".join(letter if letter.isalnum() or letter in ".-_" else "-" for letter in parts.netloc).strip(".-")
    return check_name((plain or KIND)[:64])
