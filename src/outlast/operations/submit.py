"""From a request to a run: check everything, send the code, write the spec, start the first stint.

Nothing here may import SQLAlchemy: the time from `outlast run` to the script's first line counts.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from outlast.errors import OutlastError, SpecError
from outlast.inside import layout
from outlast.inside.errors import InsideError
from outlast.inside.records import Control, Order, now_text, to_bytes
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.keeper.secrets import SecretsFile
from outlast.keeper.wake import ensure_keeper, keeper_is_there
from outlast.model.ids import new_run_id
from outlast.model.quantities import format_size
from outlast.model.request import RunRequest
from outlast.model.spec import CodePack, RunSpec
from outlast.operations.faults import spoken
from outlast.operations.room import require_room
from outlast.operations.secrets import collect_secrets
from outlast.platforms.base import Launch, Plan, Platform
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.remote import Reached
    from outlast.operations.resolve import Resolved
    from outlast.store.pack import PackPlan

Progress = Callable[[str], None]


@dataclass(frozen=True)
class RunPlan:
    """Everything that submitting would do; nothing of it is done."""

    spec: RunSpec
    pack: PackPlan
    platform: Plan
    notices: tuple[str, ...]


@dataclass(frozen=True)
class _Checked:
    """A request that can work: resolved, what it needs reached, its code packed aside, its platform asked."""

    resolved: Resolved
    reached: Reached
    platform: Platform
    pack: PackPlan
    code: CodePack
    archive: Path

    def spec(self, run: str) -> RunSpec:
        return self.resolved.to_spec(run, now_text(), self.code)


def plan_run(request: RunRequest, settings: Settings) -> RunPlan:
    """Check a request completely and say what it would start. Starts and keeps nothing."""
    home = Home(settings.home)
    with _checked(request, settings, home, None) as checked:
        spec = checked.spec(new_run_id())
        collect_secrets(spec.secrets, os.environ, SecretsFile(home))
        plan = checked.platform.plan(Launch(spec, _preview_order(spec)))
    notices = (*checked.resolved.notices, *checked.reached.notices, *checked.pack.notices, *plan.notices)
    return RunPlan(spec, checked.pack, plan, tuple(dict.fromkeys(notices)))


def submit_run(request: RunRequest, settings: Settings, progress: Progress | None = None) -> RunSpec:
    """Start a run and return its spec; the run goes on without us.

    Everything is checked before anything is written. When this returns, the run is in the store and a keeper looks
    after it; when it raises, there is no run.
    """
    from outlast.inside.blobs import Blobs

    home = Home(settings.home)
    with _checked(request, settings, home, progress) as checked:
        secrets_file = SecretsFile(home)
        secrets = {
            **collect_secrets(checked.resolved.secrets, os.environ, secrets_file),
            **checked.resolved.secret_values, **checked.reached.secrets,
        }  # fmt: skip
        store = checked.reached.store
        _tell(progress, f"sending {checked.code.files} files, {format_size(checked.code.size_bytes)}")
        with spoken("sending the code"):
            Blobs(store).put_file(str(checked.archive))
        with spoken("writing the run folder"):
            spec = _write_spec(store, checked, lambda run: secrets_file.save_run(run, secrets), home)
    try:
        drop_marker(home, spec.id, spec.store)
    except OutlastError:
        store.delete(layout.spec_key(spec.id))  # without a marker nobody would ever start it
        raise
    _tell(progress, f"starting {spec.id}")
    if not keeper_is_there(home):
        # A fresh keeper needs half a second to wake up; the first stint need not wait for it. Should a keeper look
        # at the same moment, the order is put only once and the platform starts one job per name.
        _start_first_stint(store, spec, settings, checked.platform, secrets)
    ensure_keeper(home)
    return spec


def _write_spec(store: Store, checked: _Checked, keep_secrets: Callable[[str], None], home: Home) -> RunSpec:
    while True:
        spec = checked.spec(new_run_id())
        if store.head(layout.spec_key(spec.id)) is not None:
            continue
        # Secrets and control come first: a run that can be seen must be complete.
        keep_secrets(spec.id)
        control = Control(at=now_text(), by=home.id)
        if not store.put_if_absent(layout.control_key(spec.id), control.to_bytes()):
            continue
        body = to_bytes(spec.model_dump(mode="json"))
        if store.put_if_absent(layout.spec_key(spec.id), body):
            return spec


def _start_first_stint(
    store: Store, spec: RunSpec, settings: Settings, platform: Platform, secrets: dict[str, str]
) -> None:
    from outlast.keeper.run import KeptRun

    # Whatever goes wrong here goes wrong again for the keeper, which retries and shows it as the run's notice.
    with contextlib.suppress(OutlastError, InsideError, OSError):
        KeptRun(store, spec.id, settings, lambda _name: platform, lambda _run: secrets).look({})


@contextlib.contextmanager
def _checked(request: RunRequest, settings: Settings, home: Home, progress: Progress | None) -> Iterator[_Checked]:
    from outlast.operations.remote import reach
    from outlast.operations.resolve import resolve
    from outlast.platforms.registry import create
    from outlast.store.pack import plan_pack, write_pack

    resolved = resolve(request, settings)
    if request.name is not None:
        _refuse_second_of_name(home, request.name)
    _tell(progress, f"packing {resolved.folder}")
    pack = plan_pack(
        resolved.folder, resolved.include, resolved.exclude, resolved.leave_out, resolved.allow_secret_files
    )
    _refuse_missing(resolved, pack)
    reached = reach(resolved, home, lambda words: _tell(progress, words))
    require_room(home, resolved.store, pack.size_bytes, reached.input_bytes)
    platform = create(resolved.platforms[0], settings)
    with home.explained():
        temporary = tempfile.TemporaryDirectory(dir=home.cache, prefix="pack-")
    with temporary as folder:
        archive = Path(folder) / "code.tar"
        checked = _Checked(resolved, reached, platform, pack, write_pack(pack, archive), archive)
        platform.check(checked.spec("check"))
        yield checked


def _refuse_missing(resolved: Resolved, pack: PackPlan) -> None:
    """A pack without the script would fail on the borrowed machine, minutes later."""
    if resolved.job is not None:
        return  # its commands say what they start
    packed = {file.path for file in pack.files}
    for what, path in (("script", resolved.script), ("requirements file", resolved.requirements)):
        if path is not None and path not in packed:
            raise SpecError(
                f"the {what} {path} is left out of the code pack by .gitignore or an exclude pattern",
                hint=f"bring it back with: --include {path}",
            )


def _refuse_second_of_name(home: Home, name: str) -> None:
    """Only a name the user chose must be free: then `outlast stop NAME` can mean one run."""
    from outlast.operations.locate import open_index

    index = open_index(home)
    try:
        taken = [row for row in index.find(name) if row.name == name and row.open]
    finally:
        index.close()
    if taken:
        raise SpecError(
            f"the name {name!r} is taken by {taken[-1].id}, which is {taken[-1].state}",
            hint=f"choose another --name, or stop that one with: outlast stop {taken[-1].id}",
        )


def _preview_order(spec: RunSpec) -> Order:
    return Order(run=spec.id, stint=1, token="", platform=spec.platforms[0], limit_s=spec.limit_s, grace_s=spec.grace_s)


def _tell(progress: Progress | None, words: str) -> None:
    if progress is not None:
        progress(words)
