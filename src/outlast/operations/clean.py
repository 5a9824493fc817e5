"""Free space: old checkpoints, bytes that nothing names, and work folders that nobody needs any more."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from outlast.errors import CredentialError, HomeError, StoreError
from outlast.inside.errors import InsideError
from outlast.inside.net.retry import Policy
from outlast.inside.stores import is_remote
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.index import RunRow
from outlast.keeper.observe import read_spec
from outlast.model.states import RunState
from outlast.operations.faults import spoken
from outlast.operations.locate import open_index, open_run_store
from outlast.operations.served import served
from outlast.settings import Settings

#: What a killed command left in the cache; a pack takes minutes, not a day.
_STALE_PACK_S = 86400.0
#: Fetched inputs are kept so long after the last stint that used them.
_UNUSED_INPUT_S = 7 * 86400.0


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


@served("house")
def clean(
    settings: Settings, *, keep_last: int | None = None, keep_best: str | None = None, dry_run: bool = False
) -> Cleaned:
    """Remove old checkpoints (each run keeps its newest), unreferenced blobs and the work folders of runs that ended.

    Never touches what an open stint continues from, and nothing younger than an hour that is only being written.
    """
    home = Home(settings.home)
    index = open_index(settings)
    try:
        rows = {row.id: row for row in index.all_runs()}
    finally:
        index.close()
    cleaned = Cleaned(dry_run)
    _prune_hub(settings, dry_run)
    for url in dict.fromkeys([settings.store, *(row.store for row in rows.values())]):
        try:
            _clean_store(home, url, settings.keep_last if keep_last is None else keep_last, keep_best, cleaned)
        except (StoreError, CredentialError) as error:
            if not is_remote(url):
                raise
            cleaned.notices.append(f"{url} was left as it is: {error}")
    _clean_mirrors(settings, home, keep_last, keep_best, cleaned)
    for path in itertools.chain(
        _old_work(home, rows), _stale_packs(home), _unused_inputs(home), _unused_assets(home, rows)
    ):
        cleaned.work_folders.append(str(path))
        cleaned.size_bytes += _size(path)
        if not dry_run:
            _remove(path)
    return cleaned


def _clean_mirrors(
    settings: Settings, home: Home, keep_last: int | None, keep_best: str | None, cleaned: Cleaned
) -> None:
    """The stores of platforms: what removed runs left there, and old checkpoints, which are all at home."""
    if not (settings.home / "platforms.json").exists():
        return
    from outlast.operations.mirrors import mirror_stores, retry_removals

    if not cleaned.dry_run:
        cleaned.notices += [f"{url} still holds removed runs: it was out of reach" for url in retry_removals(settings)]
    for url, store in mirror_stores(settings):
        try:
            _clean_store(home, url, settings.keep_last if keep_last is None else keep_last, keep_best, cleaned, store)
        except (StoreError, CredentialError) as error:
            cleaned.notices.append(f"{url} was left as it is: {error}")


def _clean_store(
    home: Home, url: str, keep_last: int, keep_best: str | None, cleaned: Cleaned, store: Store | None = None
) -> None:
    from outlast.keeper.accesses import Accesses
    from outlast.store.clean import apply_clean, plan_clean

    with spoken(f"cleaning {url}"):
        opened = store or Accesses(home).open(url, policy=Policy())
        plan = plan_clean(opened, keep_last=keep_last, keep_best=keep_best)
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


def _unused_inputs(home: Home) -> Iterator[Path]:
    """Fetched data that no stint has asked for lately; locked while the caller looks at it or removes it."""
    for folder in sorted(path for path in (home.cache / "inputs").glob("*") if path.is_dir()):
        asked_at = max(path.stat().st_mtime for path in (folder, folder / "whole") if path.exists())
        if time.time() - asked_at <= _UNUSED_INPUT_S:
            continue
        with folder.with_name(folder.name + ".used").open("ab") as lock, contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a runner whose script sees the data holds it, too
            yield folder


def _prune_hub(settings: Settings, dry_run: bool) -> None:
    """First of all: what repositories forget, the cleaning of their store frees."""
    if not (settings.home / "hub").is_dir():
        return
    from outlast.hub.pruning import prune
    from outlast.operations.hubs import open_hub

    prune(open_hub(settings), dry_run=dry_run)


def _unused_assets(home: Home, rows: dict[str, RunRow]) -> Iterator[Path]:
    """Checked-out revisions that no run has asked for lately, and that no open run still reads."""
    oldest = time.time() - _UNUSED_INPUT_S
    found = [path for path in sorted(home.cache.glob("assets/*/*/*")) if path.stat().st_mtime < oldest]
    if not found:
        return
    sources: list[str] = []
    for row in rows.values():
        if row.open or not RunState(row.state).is_final:
            try:
                spec = read_spec(open_run_store(home, row.store, row.id), row.id)
            except (InsideError, StoreError, CredentialError):
                return  # what it reads cannot be told
            sources += [given["source"] for given in spec.get("inputs", ())]
    yield from (path for path in found if not any(source.startswith(path.as_uri()) for source in sources))


def _size(path: Path) -> int:
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def _remove(path: Path) -> None:
    from outlast.platforms.local.removal import remove_tree

    try:
        remove_tree(path)
    except OSError as error:
        raise HomeError(f"cannot remove {path}: {error.strerror}", hint="check who owns it") from None
