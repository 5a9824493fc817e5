"""From paths to migrated files: which files count, which kind each is, and which can be skipped unread."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from outlast.migrate.direction import Direction
from outlast.migrate.engine import Finding, Kind, Migrated, migrate_text
from outlast.migrate.source import Source, SourceError
from outlast.migrate.textfiles import SHELL, YAML, migrate_lines

PYTHON = (".py", ".pyw")
NOTEBOOK = (".ipynb",)
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "venv", "build", "dist"})


def find(paths: Iterable[Path], *, text_files: bool) -> Iterator[Path]:
    """Files below the paths, sorted, each once; a file that is named is taken whatever its kind."""
    seen: set[Path] = set()
    wanted = PYTHON + NOTEBOOK + (YAML + SHELL if text_files else ())
    for path in paths:
        for each in [path] if path.is_file() else _below(path, wanted):
            if each not in seen:
                seen.add(each)
                yield each


def _below(folder: Path, wanted: tuple[str, ...]) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name not in _SKIPPED_FOLDERS and not Path(here, name, "pyvenv.cfg").exists()
        )
        yield from (Path(here, name) for name in sorted(names) if name.endswith(wanted))


def migrate_bytes(name: str, data: bytes, direction: Direction) -> tuple[Source, Migrated] | None:
    """Migrate one file by its name and bytes; None where no device word occurs. `SourceError`: not text."""
    if not direction.concerns(data):
        return None
    if name.endswith(NOTEBOOK):
        from outlast.migrate.notebook import migrate_notebook

        source = Source.decode(data, python=False)
        return source, migrate_notebook(source.text, direction)
    if name.endswith(YAML + SHELL):
        source = Source.decode(data, python=False)
        return source, migrate_lines(source.text, direction, shell=name.endswith(SHELL))
    source = Source.decode(data)
    return source, migrate_text(source.text, direction)


def unreadable(error: SourceError) -> Finding:
    return Finding(Kind.UNPARSED, "parse", 1, 1, f"left alone: {error}", "save it as UTF-8 text")
