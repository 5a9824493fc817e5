"""`outlast migrate`: rewrite scripts for another device, show it, check it, or write it safely."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from outlast.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from outlast.migrate.direction import Direction
    from outlast.migrate.report import FileReport, Migration

_GIT_LIMIT_S = 30.0


def migrate(
    paths: Iterable[str],
    *,
    to: str = "npu",
    write: bool = False,
    files: bool = False,
    force: bool = False,
    detail: bool = True,
    each: Callable[[FileReport], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Migration:
    """Migrate files and folders; without `write` nothing is touched.

    `each` sees every file that has findings, as soon as it is done; without `detail`, single changes are then only
    counted. With `write`, all files are migrated first and written only if none of them has uncommitted changes;
    outside git (or with `force`) each keeps a `.orig` beside it.
    """
    need_libcst("migrate")
    from outlast.migrate.direction import TARGETS, Direction
    from outlast.migrate.files import find
    from outlast.migrate.report import Migration

    if to not in TARGETS:
        raise UsageError(f"unknown target {to!r}; there are: {', '.join(TARGETS)}")
    roots = [_existing(path) for path in paths]
    direction, found = Direction(to), Migration(to, detail)
    with tempfile.TemporaryDirectory(prefix="outlast-migrate-") as spool:
        kept: list[tuple[Path, Path]] = []
        for path in find(roots, text_files=files):
            found.files += 1
            if tell and found.files % 20 == 0:
                tell(f"migrating: {found.files} files, now {path.name}")
            done = _migrate_file(path, direction)
            if done is None:
                found.skipped += 1
                continue
            report, data = done
            found.add(report)
            if each and (report.findings or report.is_changed):
                each(report)
            if write and report.is_changed:
                kept.append((path, Path(spool, str(len(kept)))))
                kept[-1][1].write_bytes(data)
        if kept:
            write_all(kept, found, force=force)
    return found


def _migrate_file(path: Path, direction: Direction) -> tuple[FileReport, bytes] | None:
    """What is said about one file, and its new bytes; None where no device word occurs."""
    from outlast.migrate.files import migrate_bytes, unreadable
    from outlast.migrate.report import FileReport
    from outlast.migrate.source import SourceError

    data = path.read_bytes()
    try:
        done = migrate_bytes(path.name, data, direction)
    except SourceError as error:
        return FileReport(str(path), (unreadable(error),)), data
    if done is None:
        return None
    source, migrated = done
    sites = direction.count_sites(migrated.text)
    report = FileReport(str(path), migrated.findings, source.text, migrated.text, sites)
    return report, source.with_text(migrated.text).encode()


def need_libcst(verb: str) -> None:
    """LibCST comes with an extra; say how to get it."""
    try:
        import libcst  # noqa: F401
    except ImportError:
        raise UsageError(f"outlast {verb} needs LibCST", hint="pip install 'outlast[migrate]'") from None


def _existing(path: str) -> Path:
    found = Path(path)
    if not found.exists():
        raise NotFoundError(f"there is no {path}")
    return found


class Written(Protocol):
    """What remembers which files were written, and where their old texts are."""

    written: list[str]
    backups: list[str]


def write_all(kept: list[tuple[Path, Path]], found: Written, *, force: bool) -> None:
    """Replace files by the ones that lie aside: all of them, or none where git has not seen the last changes."""
    from outlast.migrate.source import write_aside

    in_git = {} if force else _git_states([path for path, _ in kept])
    dirty = [path for path, clean in in_git.items() if clean is False]
    if dirty:
        who = f"{dirty[0]} and {len(dirty) - 1} more have" if len(dirty) > 1 else f"{dirty[0]} has"
        raise UsageError(
            f"{who} changes that git does not have yet; nothing was written",
            hint="commit them first, or use --force: the old files are then kept as .orig",
        )
    for path, aside in kept:
        if in_git.get(path) is None:
            backup = _free_name(path)
            backup.write_bytes(path.read_bytes())
            found.backups.append(str(backup))
        write_aside(path, aside.read_bytes())
        found.written.append(str(path))


def _free_name(path: Path) -> Path:
    """`train.py.orig`, or with a number where that is taken: a backup never replaces another."""
    candidate, number = path.with_name(f"{path.name}.orig"), 2
    while candidate.exists():
        candidate, number = path.with_name(f"{path.name}.orig{number}"), number + 1
    return candidate


def _git_states(paths: Iterable[Path]) -> dict[Path, bool | None]:
    """Path → whether git has the file exactly as it is; None where git does not know the file at all."""
    folders: dict[Path, list[Path]] = {}
    for path in paths:
        folders.setdefault(path.resolve().parent, []).append(path)
    states: dict[Path, bool | None] = {}
    for folder, here in folders.items():
        names = [path.resolve().name for path in here]
        tracked = _git(folder, "ls-files", "-z", "--", *names) or set()
        # Before the first commit there is nothing to compare with: then every file has changes.
        dirty = _git(folder, "diff", "--relative", "--name-only", "-z", "HEAD", "--", *names) if tracked else set()
        for path, name in zip(here, names, strict=True):
            states[path] = dirty is not None and name not in dirty if name in tracked else None
    return states


def _git(folder: Path, *words: str) -> set[str] | None:
    """The names that git answers with; None where it has no answer: no git, no repository, no commit."""
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, timeout=_GIT_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return set(done.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""} if done.returncode == 0 else None
