"""Outlast trains your script on any machine you can borrow, for as long as it takes.

A training script uses `epochs`, `save`, `restore`, `track` and `should_stop`: standard library only, Python 3.7 and
later, and without effect outside a stint. `Client` and its neighbours steer runs from where the user is. Everything
is loaded on first use, so importing this package costs next to nothing.
"""

from __future__ import annotations

import sys
import types

TYPE_CHECKING = False  # importing it from typing would be most of the cost of importing this package
if TYPE_CHECKING:
    from typing import Any, List

    from outlast import callbacks as callbacks
    from outlast.client import Client as Client
    from outlast.errors import CredentialError as CredentialError
    from outlast.errors import HomeError as HomeError
    from outlast.errors import NotFoundError as NotFoundError
    from outlast.errors import OutlastError as OutlastError
    from outlast.errors import PlatformError as PlatformError
    from outlast.errors import RunFailed as RunFailed
    from outlast.errors import SpecError as SpecError
    from outlast.errors import StoreError as StoreError
    from outlast.errors import UsageError as UsageError
    from outlast.inside.script import epochs as epochs
    from outlast.inside.script import info as info
    from outlast.inside.script import leave as leave
    from outlast.inside.script import output as output
    from outlast.inside.script import params as params
    from outlast.inside.script import progress as progress
    from outlast.inside.script import restore as restore
    from outlast.inside.script import save as save
    from outlast.inside.script import should_stop as should_stop
    from outlast.inside.script import track as track
    from outlast.model.request import RunRequest as RunRequest
    from outlast.model.spec import RunSpec as RunSpec
    from outlast.model.view import RunView as RunView
    from outlast.operations.transfer import copy as copy

__version__ = "0.1.0"

__all__ = [
    "Client",
    "CredentialError",
    "HomeError",
    "NotFoundError",
    "OutlastError",
    "PlatformError",
    "RunFailed",
    "RunRequest",
    "RunSpec",
    "RunView",
    "SpecError",
    "StoreError",
    "UsageError",
    "__version__",
    "callbacks",
    "copy",
    "epochs",
    "info",
    "leave",
    "output",
    "params",
    "progress",
    "restore",
    "save",
    "should_stop",
    "track",
]

_HOMES = {
    "Client": "outlast.client",
    "RunRequest": "outlast.model.request",
    "RunSpec": "outlast.model.spec",
    "RunView": "outlast.model.view",
    "copy": "outlast.operations.transfer",
}
_INSIDE_HOMES = {"copy": "outlast.inside.move.script"}  # within a stint
_SCRIPT_NAMES = frozenset(
    "epochs info leave output params progress restore save should_stop track".split(),
)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError("module 'outlast' has no attribute %r" % name)
    import importlib

    if name == "callbacks":
        return importlib.import_module("outlast.callbacks")
    home = "outlast.inside.script" if name in _SCRIPT_NAMES else _HOMES.get(name, "outlast.errors")
    try:
        value = getattr(importlib.import_module(home), name)
    except ModuleNotFoundError as error:
        if error.name is None or not home.startswith(error.name):
            raise
        # Within a stint only the script's side is there.
        if name not in _INSIDE_HOMES:
            raise AttributeError("outlast.%s is not available inside a stint" % name) from None
        value = getattr(importlib.import_module(_INSIDE_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


class _Package(types.ModuleType):
    """Keeps `outlast.track` the function: importing the subpackage of that name would put itself in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "track" or not isinstance(value, types.ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
