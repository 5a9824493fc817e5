"""Values of secrets, in one file of the home folder that only its owner can read.

They reach a stint through its runner's environment; no spec, order, log or index ever holds one.
"""

from __future__ import annotations

from collections.abc import Mapping

from outlast.keeper.home import Home
from outlast.store.private import PrivateFile


class SecretsFile:
    """`secrets.json`: values of each run, and values the user keeps under a name for any run."""

    def __init__(self, home: Home) -> None:
        self._file = PrivateFile(home.secrets, ("runs", "names"), "move it away and give the secrets again")

    def of_run(self, run: str) -> dict[str, str]:
        return dict(self._file.read()["runs"].get(run, {}))

    def runs(self) -> list[str]:
        """Every run that has values here, newest last."""
        return sorted(self._file.read()["runs"])

    def named(self) -> dict[str, str]:
        return dict(self._file.read()["names"])

    def save_run(self, run: str, values: Mapping[str, str]) -> None:
        """Keep a run's values until the run is removed. Writes nothing when there are none."""
        if values:
            with self._file.changing() as body:
                body["runs"][run] = dict(values)

    def forget_run(self, run: str) -> None:
        if self._file.path.exists():
            with self._file.changing() as body:
                body["runs"].pop(run, None)

    def save_named(self, name: str, value: str) -> None:
        with self._file.changing() as body:
            body["names"][name] = value

    def forget_named(self, name: str) -> bool:
        with self._file.changing() as body:
            return body["names"].pop(name, None) is not None
