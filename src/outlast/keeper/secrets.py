"""Values of secrets, in one file of the home folder that only its owner can read.

They reach a stint through its runner's environment; no spec, order, log or index ever holds one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from outlast.errors import HomeError
from outlast.keeper.home import Home


class SecretsFile:
    """`secrets.json`: values of each run, and values the user keeps under a name for any run."""

    def __init__(self, home: Home) -> None:
        self._path = home.secrets

    def of_run(self, run: str) -> dict[str, str]:
        return dict(self._read()["runs"].get(run, {}))

    def named(self) -> dict[str, str]:
        return dict(self._read()["names"])

    def save_run(self, run: str, values: Mapping[str, str]) -> None:
        """Keep a run's values until the run is removed. Writes nothing when there are none."""
        if values:
            with self._changing() as body:
                body["runs"][run] = dict(values)

    def forget_run(self, run: str) -> None:
        if self._path.exists():
            with self._changing() as body:
                body["runs"].pop(run, None)

    def save_named(self, name: str, value: str) -> None:
        with self._changing() as body:
            body["names"][name] = value

    def forget_named(self, name: str) -> bool:
        with self._changing() as body:
            return body["names"].pop(name, None) is not None

    def _read(self) -> dict[str, Any]:
        try:
            body = json.loads(self._path.read_bytes())
            return {"runs": dict(body["runs"]), "names": dict(body["names"])}
        except FileNotFoundError:
            return {"runs": {}, "names": {}}
        except (ValueError, KeyError, TypeError):
            # Not the parser's words: they could quote a value.
            raise HomeError(f"{self._path} is damaged", hint="move it away and give the secrets again") from None

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Read, let the caller change, write beside and rename; one process at a time."""
        lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            body = self._read()
            yield body
            temporary = self._path.with_suffix(".new")
            temporary.unlink(missing_ok=True)
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump({"format": 1, **body}, out)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(self._path)
        except OSError as error:
            raise HomeError(f"cannot write {self._path}: {error.strerror}") from None
        finally:
            os.close(lock)
