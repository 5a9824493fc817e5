"""Cleaning a store: old checkpoints first, then bytes that nothing names any more."""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from outlast.errors import SpecError
from outlast.inside import layout
from outlast.inside.blobs import Blobs
from outlast.inside.checkpoints import Checkpoints
from outlast.inside.errors import Damaged, NotFound, RequestError
from outlast.inside.records import Control, Manifest, Order
from outlast.store.base import Entry, Store
from outlast.store.probe import probe_store

#: Bytes younger than this may belong to a checkpoint that is just being committed.
GRACE_S = 3600.0
_SHA256 = re.compile(r"[0-9a-f]{64}")
_STINT_FILE = re.compile(r"runs/[^/]+/stints/(\d+)/(order|end)\.json")


@dataclass(frozen=True)
class OldCheckpoint:
    """A checkpoint that nobody will continue from."""

    run: str
    id: str
    size_bytes: int


@dataclass(frozen=True)
class CleanPlan:
    """What `apply_clean` would remove."""

    store: Store
    checkpoints: tuple[OldCheckpoint, ...]
    blobs: tuple[Entry, ...]
    notices: tuple[str, ...] = ()
    keep_last: int = 1
    keep_best: str | None = None
    grace_s: float = GRACE_S

    @property
    def freed_bytes(self) -> int:
        return sum(entry.size_bytes for entry in self.blobs)


@dataclass(frozen=True)
class Cleaned:
    """What was removed."""

    checkpoints: int
    blobs: int
    freed_bytes: int
    notices: tuple[str, ...] = ()


def plan_clean(
    store: Store,
    runs: Iterable[str] | None = None,
    keep_last: int = 3,
    keep_best: str | None = None,
    now: float | None = None,
    grace_s: float = GRACE_S,
) -> CleanPlan:
    """Find old checkpoints of `runs` (default: every run of the store), and blobs that nothing would name then.

    Each run keeps its `keep_last` newest checkpoints, the newest one that verifies, those that an open stint or the
    user's choice continues from, and with `keep_best` (`val_acc`, `-loss`, `min:loss`) the best one. Nothing younger
    than `grace_s` is removed. When a document of any run cannot be read, no blob is removed, and a notice says why.
    """
    if keep_last < 1:
        raise SpecError(f"keep-last {keep_last} would leave nothing to continue from", hint="keep at least 1")
    metric = parse_best(keep_best) if keep_best else None
    keys = _by_run(store)
    wanted = sorted(keys if runs is None else keys.keys() & set(runs))
    old = tuple(each for run in wanted for each in _old_checkpoints(store, run, keys[run], keep_last, metric))
    gone = {layout.checkpoint_key(each.run, each.id) for each in old}
    referenced, notices = _references(store, keys, gone)
    blobs = () if notices else tuple(_unnamed(store, referenced, _clock(store, now) - grace_s))
    return CleanPlan(store, old, blobs, tuple(notices), keep_last, keep_best, grace_s)


def apply_clean(plan: CleanPlan, now: float | None = None) -> Cleaned:
    """Remove what a plan found, as far as it still holds: everything is looked at again right before.

    The manifests of removed checkpoints stay under `cleaned/`, so that the history of a run can still be told.
    """
    store = plan.store
    metric = parse_best(plan.keep_best) if plan.keep_best else None
    keys = _by_run(store)
    removed = 0
    for run in sorted(keys.keys() & {each.run for each in plan.checkpoints}):
        planned = {each.id for each in plan.checkpoints if each.run == run}
        for each in _old_checkpoints(store, run, keys[run], plan.keep_last, metric):
            if each.id in planned:
                _retire(store, each)
                removed += 1
    referenced, notices = _references(store, _by_run(store), set())
    freed = count = 0
    oldest = _clock(store, now) - plan.grace_s
    for entry in () if notices else plan.blobs:
        sha256 = layout.blob_of_key(entry.key)
        current = store.head(entry.key)
        if sha256 is None or sha256 in referenced or current is None or current.modified_at > oldest:
            continue
        store.delete_all((entry.key, layout.damaged_key(sha256)))
        count += 1
        freed += current.size_bytes
    freed += store.remove_stale()
    return Cleaned(removed, count, freed, tuple(notices))


def parse_best(text: str) -> tuple[str, int]:
    """A metric and its sign: `val_acc` and `max:val_acc` want the largest, `-loss` and `min:loss` the smallest."""
    kind, colon, name = text.partition(":")
    if colon and kind in ("min", "max") and name:
        return name, -1 if kind == "min" else 1
    if colon or not text.strip("-"):
        raise SpecError(f"cannot read keep-best {text!r}", hint="write it like val_acc, -loss or min:loss")
    return text.lstrip("-"), -1 if text.startswith("-") else 1


def _clock(store: Store, now: float | None) -> float:
    """The time by which the store dates its keys: its own, where that is another machine's."""
    if now is not None:
        return now
    return probe_store(store) if store.pace_s else time.time()


def _by_run(store: Store) -> dict[str, list[str]]:
    """Every key below `runs/`, by run; one listing for all."""
    found: dict[str, list[str]] = {}
    for entry in store.list("runs/"):
        parts = entry.key.split("/", 2)
        if len(parts) == 3:
            found.setdefault(parts[1], []).append(entry.key)
    return found


def _old_checkpoints(
    store: Store, run: str, keys: list[str], keep_last: int, metric: tuple[str, int] | None
) -> list[OldCheckpoint]:
    checkpoints = Checkpoints(store, run)
    ids = checkpoints.ids()
    if len(ids) <= keep_last:
        return []
    try:
        kept = set(ids[-keep_last:]) | _continued_from(store, run, keys)
    except (Damaged, NotFound, RequestError):
        return []  # what its stints continue from cannot be told: leave this run alone
    manifests: dict[str, Manifest] = {}
    for each in ids:
        try:
            manifests[each] = checkpoints.read(each)
        except (Damaged, NotFound, RequestError):
            continue  # cannot be restored, but it is small, and a reader may want to know
    good = _newest_good(Blobs(store), [manifests[each] for each in reversed(ids) if each in manifests])
    best = _best(manifests, metric)
    kept.update(each for each in (good, best) if each is not None)
    return [
        OldCheckpoint(run, each, sum(file["size"] for file in manifest.files.values()))
        for each, manifest in manifests.items()
        if each not in kept
    ]


def _newest_good(blobs: Blobs, newest_first: list[Manifest]) -> str | None:
    for manifest in newest_first:
        if all(blobs.has(file["sha256"], file["size"]) for file in manifest.files.values()):
            return layout.checkpoint_id(manifest.stint, manifest.number)
    return None


def _best(manifests: dict[str, Manifest], metric: tuple[str, int] | None) -> str | None:
    if metric is None:
        return None
    name, sign = metric
    values = [(sign * value, each) for each in manifests if (value := _number(manifests[each], name)) is not None]
    return max(values, key=lambda pair: (pair[0], layout.checkpoint_order(pair[1])))[1] if values else None


def _number(manifest: Manifest, name: str) -> float | None:
    value = manifest.metrics.get(name)
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return float(value) if is_number and value is not None else None


def _continued_from(store: Store, run: str, keys: list[str]) -> set[str]:
    """Checkpoints that an order without an end, or the user's choice, starts from."""
    found = [match.groups() for match in map(_STINT_FILE.fullmatch, keys) if match]
    ended = {stint for stint, kind in found if kind == "end"}
    kept = set()
    for stint, kind in found:
        if kind == "order" and stint not in ended:
            order = Order.from_bytes(store.get(layout.order_key(run, int(stint))))
            kept.add(order.resume_from)
    if layout.control_key(run) in keys:
        kept.add(Control.from_bytes(store.get(layout.control_key(run))).resume_from)
    return {each for each in kept if each is not None}


def _references(store: Store, keys: dict[str, list[str]], without: set[str]) -> tuple[set[str], list[str]]:
    """Every digest that a run or a repository of the hub names, and which documents cannot be read."""
    # A repository of the hub has an object as long as there is the key lfs/<repository>/<digest>-<size>.
    referenced = {entry.key.rsplit("/", 1)[1].partition("-")[0] for entry in store.list("lfs/")}
    notices: list[str] = []
    for key in itertools.chain.from_iterable(keys.values()):
        is_manifest = "/checkpoints/" in key and layout.checkpoint_of_key(key) is not None
        if key in without or not (is_manifest or key.endswith(("/spec.json", "/outputs.json"))):
            continue
        try:
            referenced.update(_digests(json.loads(store.get(key))))
        except NotFound:
            continue  # the run was removed meanwhile
        except (ValueError, RequestError):
            run = key.split("/")[1]
            notices.append(
                f"{key} cannot be read, so no bytes were removed: they might be its own; "
                f"if the run is not needed: outlast rm {run}"
            )
    return referenced, notices


def _digests(value: Any) -> Iterable[str]:
    """Every `sha256` anywhere in a document, also in fields that a newer version added."""
    if isinstance(value, dict):
        found = value.get("sha256")
        if isinstance(found, str) and _SHA256.fullmatch(found):
            yield found
        for each in value.values():
            yield from _digests(each)
    elif isinstance(value, list):
        for each in value:
            yield from _digests(each)


def _unnamed(store: Store, referenced: set[str], oldest: float) -> Iterable[Entry]:
    for entry in store.list("blobs/sha256/"):
        sha256 = layout.blob_of_key(entry.key)
        if sha256 is not None and sha256 not in referenced and entry.modified_at <= oldest:
            yield entry


def _retire(store: Store, old: OldCheckpoint) -> None:
    key = layout.checkpoint_key(old.run, old.id)
    store.put_if_absent(layout.cleaned_key(old.run, old.id), store.get(key))
    store.delete(key)
