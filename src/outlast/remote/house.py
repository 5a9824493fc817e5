"""What a server has, and keeping house there: its machine, its environments, its space, its list of runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from outlast.errors import UsageError
from outlast.keeper.rebuild import Rebuilt
from outlast.operations.clean import Cleaned
from outlast.operations.doctor import Finding
from outlast.operations.environments import Environment, Environments
from outlast.remote.decode import decode
from outlast.remote.server import server_of
from outlast.settings import Settings


def examine_server(settings: Settings) -> list[Finding]:
    """What the server's machine has and what is missing; for admins."""
    return [decode(Finding, each) for each in server_of(settings).ask("GET", "/doctor")["findings"]]


def clean(
    settings: Settings, *, keep_last: int | None = None, keep_best: str | None = None, dry_run: bool = False
) -> Cleaned:
    body = {"keep_last": keep_last, "keep_best": keep_best, "dry_run": dry_run}
    return decode(Cleaned, server_of(settings).ask("POST", "/clean", body))


def reindex(settings: Settings, stores: Iterable[str] = ()) -> Rebuilt:
    return decode(Rebuilt, server_of(settings).ask("POST", "/reindex", {"stores": list(stores)}))


class ServedEnvironments(Environments):
    """The environments of a server. They are added and removed at its own terminal."""

    def list(self) -> list[Environment]:
        found = server_of(self._settings).ask("GET", "/environments")
        return [decode(Environment, each) for each in found["environments"]]

    def add(
        self, name: str, *, requirements: str | Path | None = None, image: str | None = None, framework: str = "",
        device: str = "", python: str = "", force: bool = False,
    ) -> Environment:  # fmt: skip
        self._refuse()

    def remove(self, name: str) -> Environment:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"the environments of {self._settings.server} are changed at its own terminal",
            hint="ask its admin, or change those of this machine with: outlast --server local environments",
        )
