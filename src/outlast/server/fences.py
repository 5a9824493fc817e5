"""What a user who is no admin may name: their uploads and remote places, never files of the server's machine.

An admin can read everything here anyway. For everybody else a path like `/etc` in a request, in an `outlast.toml` or
behind a link would be a way to other people's files, and the store of the runs a way around who may see which run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable
from pathlib import Path

from outlast.errors import UsageError
from outlast.inside.errors import InsideError
from outlast.inside.move.address import BUCKETS, Address, parse
from outlast.inside.move.names import is_below
from outlast.inside.staging import source_path
from outlast.model.request import RunRequest
from outlast.model.visitor import Visitor
from outlast.operations.resolve import Resolved, resolve
from outlast.server.refusals import NotAllowed
from outlast.settings import Settings
from outlast.store.registry import translate


def check_request(
    request: RunRequest, settings: Settings, own: Path, run_stores: Iterable[str], project: Path | None = None
) -> None:
    """Refuse a request, `outlast.toml` included, that reaches beyond what its user may use.

    `own` is the folder of the user's uploads, `project` that of code which was found in the hub for this very user.
    Links are followed: where they lead is what counts.
    """
    bare = next((each for each in request.env if "=" not in each), None)
    if bare is not None:
        raise NotAllowed(f"env {bare}: the server's own variables are not handed out", hint=f"write {bare}=VALUE")
    if request.visitor is None:  # never the whole hub: a door that does not say who asks gets what its user owns
        request = dataclasses.replace(request, visitor=Visitor(settings.user))
    resolved = resolve(request, settings)
    _check_switches(resolved, settings, request.secret_values)
    owned = (own,) if project is None else (own, project)
    _require_own(resolved.folder / resolved.script, owned, "target")
    _require_own(resolved.folder, owned, "code")  # of a job file it may be a folder far above
    if resolved.log_folder is not None:
        _require_own(Path(resolved.log_folder), (own,), "ma_log")
    stores = tuple(run_stores)
    for given in resolved.inputs:
        if given.asset:
            continue  # found in the hub for this very user, and pinned
        if given.source.startswith("file:"):
            _require_own(Path(source_path(given.source)), owned, f"data {given.name}")
        else:
            check_address(given.source, stores, deep=True)
    for output in filter(lambda each: each.target, resolved.outputs):
        check_address(output.target, stores, deep=True)


def _check_switches(resolved: Resolved, settings: Settings, brought: Container[str]) -> None:
    foreign = [name for name in resolved.secrets if name not in brought]
    if foreign:
        raise NotAllowed(f"secrets {foreign[0]}: those of the server are for admins", hint="pass it in env")
    if resolved.store != settings.store:
        raise NotAllowed(f"store {resolved.store}: runs of this server are kept in one place", hint="leave it out")
    if resolved.sandbox not in (settings.sandbox, "on"):
        raise NotAllowed(f"sandbox {resolved.sandbox}: it is {settings.sandbox} on this server", hint="leave it out")


def check_address(text: str, run_stores: Iterable[str], *, deep: bool = False) -> None:
    """Refuse an address of this machine, and one in a store of runs; with `deep` also one above such a store."""
    if text.endswith(tuple(f"{scheme}://" for scheme in BUCKETS)):
        raise NotAllowed(f"all buckets of {text} are shown to admins only", hint=f"name one, like {text}bucket/")
    try:
        address = parse(text)
    except InsideError as error:
        raise translate(error) from None
    if address.scheme == "file":
        raise NotAllowed(f"{text} is on the server's machine", hint="name a bucket or HDFS, or upload it")
    if address.scheme == "hdfs" and f"{address.path}/".startswith("/.reserved/"):
        raise NotAllowed(f"{text} names a file by its number, which may lie anywhere", hint="write its path")
    for store in run_stores:
        if not store.startswith("file:") and _overlaps(address, parse(store), deep):
            raise NotAllowed(f"{text} holds the runs of everybody", hint="see runs with: GET /api/v1/runs")


def _overlaps(address: Address, store: Address, deep: bool) -> bool:
    """Whatever the profile or the scheme of a bucket is called, and by whichever name HDFS is reached."""
    both = {address.scheme, store.scheme}
    if not (both <= set(BUCKETS) and address.authority == store.authority) and both != {"hdfs"}:
        return False
    here, there = address.path.rstrip("/") + "/", store.path.rstrip("/") + "/"
    here, there = here.lstrip("/"), there.lstrip("/")
    return here.startswith(there) or (deep and there.startswith(here))


def _require_own(path: Path, owned: Iterable[Path], what: str) -> None:
    real = str(path.resolve())
    if not any(real == root or is_below(real, root) for root in (str(each.resolve()) for each in owned)):
        raise NotAllowed(f"{what} is on the server's machine", hint="upload it first: POST /api/v1/uploads")


def require_inside(target: str, folder: Path) -> None:
    """`UsageError` for a target that climbs out of the code that it is a part of."""
    if Path(target).is_absolute() or not (folder / target).resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"target {target!r} is outside the code", hint="name a script in it, like train.py")


__all__ = ["check_address", "check_request", "require_inside"]
