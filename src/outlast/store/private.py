"""Small JSON files that only their owner can read."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from outlast.errors import HomeError

Tables = dict[str, dict[str, Any]]


class PrivateFile:
    """A few named tables in one file of mode 0600.

    It is replaced as a whole, by one process at a time; reading creates nothing.
    """

    def __init__(self, path: Path, tables: Sequence[str], remedy: str) -> None:
        self.path = path
        self._tables = tuple(tables)
        self._remedy = remedy  # what to do when the file is damaged

    def read(self) -> Tables:
        try:
            body = json.loads(self.path.read_bytes())
            return {table: dict(body[table]) for table in self._tables}
        except (FileNotFoundError, NotADirectoryError):
            return {table: {} for table in self._tables}
        except OSError as error:
            raise HomeError(f"cannot read {self.path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            # Not the parser's words: they could quote a value.
            raise HomeError(f"{self.path} is damaged", hint=self._remedy) from None

    @contextlib.contextmanager
    def changing(self) -> Iterator[Tables]:
        """Read, let the caller change, write beside and rename. Nothing is written when the caller raises."""
        try:
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HomeError(f"cannot write {self.path}: {error.strerror}") from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            body = self.read()
            yield body
            self._replace(body)
        except OSError as error:
            raise HomeError(f"cannot write {self.path}: {error.strerror}") from None
        finally:
            os.close(lock)

    def _replace(self, body: Tables) -> None:
        temporary = self.path.with_suffix(".new")
        temporary.unlink(missing_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            json.dump({"format": 1, **body}, out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(self.path)
