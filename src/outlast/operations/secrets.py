"""Secrets by name: where a value comes from when a run asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from outlast.errors import NotFoundError, SpecError
from outlast.keeper.home import Home
from outlast.keeper.secrets import SecretsFile
from outlast.settings import Settings

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def collect_secrets(names: Iterable[str], environ: Mapping[str, str], file: SecretsFile) -> dict[str, str]:
    """The value of each name: from the environment, else from those kept in the home. Never in a message."""
    wanted = tuple(names)
    kept = file.named() if any(name not in environ for name in wanted) else {}
    missing = [name for name in wanted if name not in environ and name not in kept]
    if missing:
        raise SpecError(
            f"no value for secret {', '.join(missing)}",
            hint=f"set it in the environment: export {missing[0]}=…",
        )
    return {name: environ.get(name, kept.get(name, "")) for name in wanted}


def set_secret(settings: Settings, name: str, value: str) -> None:
    """Keep a value under a name for later runs, in a file that only its owner can read."""
    if not _NAME.fullmatch(name):
        raise SpecError(f"{name!r} is not a name for a secret; use letters, digits and '_', like HF_TOKEN")
    SecretsFile(Home(settings.home)).save_named(name, value)


def list_secrets(settings: Settings) -> list[str]:
    """The names that are kept; never their values."""
    return sorted(SecretsFile(Home(settings.home)).named())


def remove_secret(settings: Settings, name: str) -> None:
    if not SecretsFile(Home(settings.home)).forget_named(name):
        raise NotFoundError(f"no secret {name!r} is kept")
