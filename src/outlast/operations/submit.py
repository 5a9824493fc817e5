"""From a request to a run: check everything, send the code, write the spec, start the first stint.

Nothing here may import SQLAlchemy: the time from `outlast run` to the script's first line counts.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
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
from outlast.operations.destinations import Destination, device_notices, find_destinations
from outlast.operations.faults import spoken
from outlast.operations.room import require_room
from outlast.operations.secrets import collect_secrets
from outlast.operations.served import served
from outlast.operations.servers import require_servers
from outlast.platforms.base import Launch, Plan, Platform
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.operations.prospect import Prospect
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
    destinations: tuple[Destination, ...] = ()  # each platform of the list, in the order to try them
    prospect: Prospect | None = None  # how long it will take, as far as anything tells


@dataclass(frozen=True)
class Checked:
    """A request that can work: resolved, what it needs reached, its code packed aside, its platform asked."""

    resolved: Resolved
    reached: Reached
    platform: Platform  # the first choice
    destinations: tuple[Destination, ...]
    pack: PackPlan
    code: CodePack
    archive: Path
    brought: Mapping[str, str]  # secrets whose values came with the request

    def spec(self, run: str) -> RunSpec:
        return self.resolved.to_spec(run, now_text(), self.code)

    def secrets(self, file: SecretsFile) -> dict[str, str]:
        """Everything private that the run's stints need, by name."""
        named = collect_secrets(self.resolved.secrets, {**os.environ, **self.brought}, file)
        return {**named, **self.resolved.secret_values, **self.reached.secrets}

    def send_code(self, progress: Progress | None) -> None:
        """Put the code pack into the store; one that is there already costs a question."""
        from outlast.inside.blobs import Blobs

        files = "1 file" if self.code.files == 1 else f"{self.code.files} files"
        _tell(progress, f"sending {files}, {format_size(self.code.size_bytes)}")
        with spoken("sending the code"):
            Blobs(self.reached.store).put_file(str(self.archive))


@served("submitting")
def plan_run(request: RunRequest, settings: Settings) -> RunPlan:
    """Check a request completely and say what it would start and take. Starts and keeps nothing."""
    from outlast.operations.prospect import foresee  # opens the index, which submitting must not wait for

    home = Home(settings.home)
    with checking(request, settings, home, None) as checked:
        spec = checked.spec(new_run_id())
        checked.secrets(SecretsFile(home))
        plan = checked.platform.plan(Launch(spec, _preview_order(spec, checked.destinations[0])))
    notices = [*checked.resolved.notices, *checked.reached.notices, *checked.pack.notices, *plan.notices]
    notices += device_notices(spec, checked.pack, settings)
    prospect = foresee(spec, checked.destinations, settings)
    return RunPlan(spec, checked.pack, plan, tuple(dict.fromkeys(notices)), checked.destinations, prospect)


@served("submitting")
def submit_run(
    request: RunRequest, settings: Settings, progress: Progress | None = None, *, wanted: str | None = None,
    notify: Progress | None = None,
) -> RunSpec:  # fmt: skip
    """Start a run and return its spec; the run goes on without us. `notify` is told what is worth a second look.

    Everything is checked before anything is written. When this returns, the run is in the store and a keeper looks
    after it; when it raises, there is no run. `wanted` is the id that it gets unless that is taken.
    """

    home = Home(settings.home)
    with checking(request, settings, home, progress) as checked:
        for notice in dict.fromkeys((*checked.resolved.notices, *checked.reached.notices, *checked.pack.notices)):
            _tell(notify, notice)
        secrets_file = SecretsFile(home)
        secrets = checked.secrets(secrets_file)
        store = checked.reached.store
        checked.send_code(progress)
        with spoken("writing the run folder"):
            spec = write_spec(store, checked.spec, lambda run: secrets_file.save_run(run, secrets), home, wanted)
    try:
        drop_marker(home, spec.id, spec.store)
    except OutlastError:
        store.delete(layout.spec_key(spec.id))  # without a marker nobody would ever start it
        raise
    _tell(progress, f"starting {spec.id}")
    if len(spec.platforms) == 1 and not checked.platform.fields and not keeper_is_there(home):
        # A fresh keeper needs half a second to wake up; the first stint need not wait for it. Should a keeper look
        # at the same moment, the order is put only once and the platform starts one job per name.
        _start_first_stint(store, spec, settings, checked.platform, secrets)
    ensure_keeper(home)
    return spec


def write_spec(
    store: Store, make: Callable[[str], RunSpec], keep_secrets: Callable[[str], None], home: Home,
    wanted: str | None = None,
) -> RunSpec:  # fmt: skip
    """Write the folder of a new run under a free id; nobody looks after it before its marker is dropped."""
    while True:
        spec, wanted = make(wanted or new_run_id()), None
        if store.head(layout.spec_key(spec.id)) is not None:
            continue
        # Secrets and control come first: a run that can be seen must be complete.
        keep_secrets(spec.id)
        control = Control(at=now_text(), by=home.id)
        if not store.put_if_absent(layout.control_key(spec.id), control.to_bytes()):
            continue
        body = to_bytes(spec.to_json())
        if store.put_if_absent(layout.spec_key(spec.id), body):
            return spec


def _start_first_stint(
    store: Store, spec: RunSpec, settings: Settings, platform: Platform, secrets: dict[str, str]
) -> None:
    from outlast.keeper.platforms import Platforms
    from outlast.keeper.run import KeptRun

    # Whatever goes wrong here goes wrong again for the keeper, which retries and shows it as the run's notice.
    with contextlib.suppress(OutlastError, InsideError, OSError):
        platforms = Platforms(settings, lambda _name: platform)
        KeptRun(store, spec.id, settings, platforms, lambda _run: secrets).look({})


@contextlib.contextmanager
def checking(request: RunRequest, settings: Settings, home: Home, progress: Progress | None) -> Iterator[Checked]:
    """Check a request completely. Its code lies packed aside until the block ends; nothing else is written."""
    from outlast.operations.contracts import with_single_files
    from outlast.operations.remote import reach
    from outlast.operations.resolve import resolve
    from outlast.platforms.registry import create
    from outlast.store.pack import plan_pack, write_pack

    if request.of is not None:
        from outlast.operations.evaluated import with_results

        request = with_results(request, settings, lambda words: _tell(progress, words))
    resolved = resolve(request, settings, lambda words: _tell(progress, words))
    if request.name is not None:
        refuse_second_of_name(settings, request.name, resolved.user)
    _tell(progress, f"packing {resolved.folder}")
    pack = plan_pack(
        resolved.folder, resolved.include, resolved.exclude, resolved.leave_out, resolved.allow_secret_files
    )
    _refuse_missing(resolved, pack)
    reached = reach(resolved, home, lambda words: _tell(progress, words))
    resolved = with_single_files(resolved, reached.single_files)
    require_room(home, resolved.store, pack.size_bytes, reached.input_bytes)
    platforms = [create(name, settings) for name in resolved.platforms]
    with home.explained():
        temporary = tempfile.TemporaryDirectory(dir=home.cache, prefix="pack-")
    with temporary as folder:
        archive = Path(folder) / "code.tar"
        code = write_pack(pack, archive)
        spec = resolved.to_spec("check", now_text(), code)
        destinations = find_destinations(spec, platforms, settings)
        checked = Checked(
            resolved, reached, platforms[0], destinations, pack, code, archive, request.secret_values
        )  # fmt: skip
        if spec.maps:
            require_servers(spec.to_json(), home.path)
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


def refuse_second_of_name(settings: Settings, name: str, user: str) -> None:
    """Only a name the user chose must be free, among their own: then `outlast stop NAME` can mean one run."""
    from outlast.operations.locate import open_index

    index = open_index(settings)
    try:
        taken = [row for row in index.find(name) if row.name == name and row.open and row.user == user]
    finally:
        index.close()
    if taken:
        raise SpecError(
            f"the name {name!r} is taken by {taken[-1].id}, which is {taken[-1].state}",
            hint=f"choose another --name, or stop that one with: outlast stop {taken[-1].id}",
        )


def _preview_order(spec: RunSpec, first: Destination) -> Order:
    return Order(
        run=spec.id, stint=1, token="", platform=first.name, limit_s=first.limit_s, grace_s=spec.grace_s,
        store=first.mirror,
    )  # fmt: skip


def _tell(progress: Progress | None, words: str) -> None:
    if progress is not None:
        progress(words)
