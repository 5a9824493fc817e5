"""Free space: old checkpoints, bytes that nothing names, and work folders that nobody needs any more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from outlast.errors import HomeError
from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.model.states import RunState
from outlast.operations.faults import spoken
from outlast.operations.locate import open_index
from outlast.settings import Settings

#: What a killed command left in the cache; a pack takes minutes, not a day.
_STALE_PACK_S = 86400.0


@dataclass
class Cleaned:
    """What was removed, or, after a dry run, what would be."""

    dry_run: bool
    checkpoints: list[str] = field(default_factory=list)  # "run 0001-000003"
    blobs: int = 0
    work_folders: list[str] = field(default_factory=list)
    size_bytes: int = 0
    notices: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.checkpoints or self.blobs or self.work_folders or self.size_bytes)


def clean(
    settings: Settings, *, keep_last: int | None = None, keep_best: str | None = None, dry_run: bool = False
) -> Cleaned:
    """Remove old checkpoints (each run keeps its newest), unreferenced blobs and the work folders of runs that ended.

    Never touches what an open stint continues from, and nothing younger than an hour that is only being written.
    """
    home = Home(settings.home)
    index = open_index(home)
    try:
        rows = {row.id: row for row in index.all_runs()}
    finally:
        index.close()
    cleaned = Cleaned(dry_run)
    for url in dict.fromkeys([settings.store, *(row.store for row in rows.values())]):
        _clean_store(url, settings.keep_last if keep_last is None else keep_last, keep_best, cleaned)
    for path in [*_old_work(home, rows), *_stale_packs(home)]:
        cleaned.work_folders.append(str(path))
        cleaned.size_bytes += _size(path)
        if not dry_run:
            _remove(path)
    return cleaned


def _clean_store(url: str, keep_last: int, keep_best: str | None, cleaned: Cleaned) -> None:
    from outlast.store.clean import apply_clean, plan_clean
    from outlast.store.registry import open_store

    with spoken(f"cleaning {url}"):
        plan = plan_clean(open_store(url), keep_last=keep_last, keep_best=keep_best)
        cleaned.checkpoints += [f"{old.run} {old.id}" for old in plan.checkpoints]
        cleaned.notices += plan.notices
        if cleaned.dry_run:
            cleaned.blobs += len(plan.blobs)
            cleaned.size_bytes += plan.freed_bytes
            return
        done = apply_clean(plan)
        cleaned.blobs += done.blobs
        cleaned.size_bytes += done.freed_bytes
        cleaned.notices += [notice for notice in done.notices if notice not in plan.notices]


def _old_work(home: Home, rows: dict[str, RunRow]) -> Iterator[Path]:
    """Stint folders of runs that are over; everything of runs that succeeded or exist no more.

    A run that failed or was stopped keeps its shared folder: a resumed run finds its private home there.
    """
    for folder in sorted(home.work.iterdir()):
        row = rows.get(folder.name)
        if row is not None and (row.open or not RunState(row.state).is_final):
            continue
        if row is None or row.state == RunState.SUCCEEDED:
            yield folder
        else:
            yield from sorted(folder.glob("[0-9]*"))


def _stale_packs(home: Home) -> Iterator[Path]:
    oldest = time.time() - _STALE_PACK_S
    yield from (path for path in sorted(home.cache.glob("pack-*")) if path.stat().st_mtime < oldest)


def _size(path: Path) -> int:
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def _remove(path: Path) -> None:
    from outlast.platforms.local.platform import remove_tree

    try:
        remove_tree(path)
    except OSError as error:
        raise HomeError(f"cannot remove {path}: {error.strerror}", hint="check who owns it") from None
