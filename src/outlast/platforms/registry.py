"""Platforms by name. A platform's module is imported only when that platform is used."""

from __future__ import annotations

import difflib
import functools
import importlib
from typing import TYPE_CHECKING, NamedTuple

from outlast.errors import PlatformError, SpecError
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
}


def known() -> tuple[str, ...]:
    """Names of all platforms that can be asked for, ours first."""
    return (*_OURS, *sorted(set(_others()) - set(_OURS)))


def is_known(name: str) -> bool:
    """Whether it can be asked for. Ours are known without reading what is installed, which takes its time."""
    return name in _OURS or name in _others()


def create(name: str, settings: Settings) -> Platform:
    """The platform of that name, set up for this home. `SpecError` for a name that nobody knows."""
    return _load(name).from_settings(settings)


def _load(name: str) -> type[Platform]:
    if name in _OURS:
        entry = _OURS[name]
        try:
            found = getattr(importlib.import_module(entry.module), entry.class_name)
        except ImportError as error:
            raise SpecError(f"platform '{name}' needs more packages ({error}); install: {entry.install}") from error
    elif name in _others():
        found = _load_other(name)
    else:
        raise SpecError(_unknown(name))
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


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, known(), n=1)
    guess = f"; did you mean '{close[0]}'?" if close else ";"
    return f"unknown platform '{name}'{guess} installed: {', '.join(known())}"
