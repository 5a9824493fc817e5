"""Platforms by name. A platform's module is imported only when that platform is used."""

from __future__ import annotations

import difflib
import functools
import importlib
from typing import TYPE_CHECKING, NamedTuple

from outlast.errors import PlatformError, SpecError
from outlast.platforms.accounts import Accounts
from outlast.platforms.base import Platform
from outlast.settings import Settings

if TYPE_CHECKING:
    from importlib import metadata

#: Packages of others announce their platforms under this group of entry points.
ENTRY_POINTS = "outlast.platforms"


class _Known(NamedTuple):
    module: str
    class_name: str
    install: str  # what to install when the module's own imports are missing


_OURS = {
    "local": _Known("outlast.platforms.local.platform", "LocalPlatform", "pip install outlast"),
    "modelarts": _Known("outlast.platforms.modelarts.platform", "ModelArts", "pip install outlast"),
    "openpai": _Known("outlast.platforms.openpai.platform", "OpenPai", "pip install 'outlast[openpai]'"),
    "xihe": _Known("outlast.platforms.xihe.platform", "Xihe", "pip install outlast"),
}


def kinds() -> tuple[str, ...]:
    """Every kind of platform, ours first."""
    return (*_OURS, *sorted(set(_others()) - set(_OURS)))


def known(settings: Settings) -> tuple[str, ...]:
    """Names that `--on` takes in this home: kinds that need no account, and accounts."""
    free = [kind for kind in kinds() if not _takes_accounts(kind)]
    return (*free, *(account.name for account in Accounts(settings.home).all()))


def is_known(name: str, settings: Settings) -> bool:
    """Whether it can be asked for. `local` is known without reading what is installed, which takes its time."""
    return name == "local" or name in known(settings)


def create(name: str, settings: Settings) -> Platform:
    """The platform or account of that name, set up for this home. `SpecError` for a name that nobody knows."""
    accounts = Accounts(settings.home)
    account = None if name == "local" else accounts.get(name)
    if account is not None:
        return load(account.kind).from_account(accounts.open(name), settings)
    if not is_known(name, settings):
        raise unknown(name, settings)
    return load(name).from_settings(settings)


def _takes_accounts(kind: str) -> bool:
    """Whether one signs in to a kind of platform; one of others that cannot be loaded is found out when it is used."""
    if kind in _OURS:
        return kind != "local"
    try:
        return bool(load(kind).fields)
    except PlatformError:
        return False


def load(name: str) -> type[Platform]:
    """The class of a kind of platform; its module is imported now."""
    if name in _OURS:
        entry = _OURS[name]
        try:
            found = getattr(importlib.import_module(entry.module), entry.class_name)
        except ImportError as error:
            raise SpecError(f"platform '{name}' needs more packages ({error}); install: {entry.install}") from error
    elif name in _others():
        found = _load_other(name)
    else:
        raise SpecError(f"unknown kind of platform '{name}'", hint="known: " + ", ".join(kinds()))
    platform: type[Platform] = found
    return platform


def _load_other(name: str) -> object:
    entry = _others()[name]
    try:
        found = entry.load()
    except Exception as error:  # somebody else's code: whatever it raises is their failure
        raise PlatformError(
            f"platform '{name}' from {entry.value} cannot be loaded: {error}", retryable=False
        ) from error
    if not (isinstance(found, type) and issubclass(found, Platform)):
        raise PlatformError(f"platform '{name}' from {entry.value} is not a Platform class", retryable=False)
    return found


@functools.cache
def _others() -> dict[str, metadata.EntryPoint]:
    from importlib import metadata

    return {entry.name: entry for entry in metadata.entry_points(group=ENTRY_POINTS)}


def unknown(name: str, settings: Settings, where: str = "") -> SpecError:
    """What to say of a name that cannot be asked for; `where` tells who named it."""
    if name in kinds() and _takes_accounts(name):
        return SpecError(f"nobody is signed in to {name} here{where}", hint=f"sign in with: outlast login {name}")
    there = known(settings)
    close = difflib.get_close_matches(name, there, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else ";"
    return SpecError(f"unknown platform {name!r}{where}{guess} installed: {', '.join(there)}")
