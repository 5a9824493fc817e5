"""Short runs in a throw-away home: one that is measured, and pairs that are compared."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from outlast.errors import NotFoundError, OutlastError, RunFailed
from outlast.keeper.home import Home
from outlast.keeper.servers import Servers
from outlast.keeper.wake import end_keeper
from outlast.model.quantities import parse_duration
from outlast.model.request import RunRequest
from outlast.model.states import RunState, StintState
from outlast.operations.compare import Place, Point, Training
from outlast.operations.fetch import fetch_run
from outlast.operations.forecast import Forecast, Measured, forecast
from outlast.operations.locate import locate
from outlast.operations.probes import Probes
from outlast.operations.rehearse import Cut, Rehearsal, rehearse
from outlast.operations.runs import list_runs, remove_run, show_run, stop_run, wait_run, watch_run
from outlast.operations.submit import submit_run
from outlast.operations.tidying import Tidying
from outlast.platforms.accounts import Accounts
from outlast.platforms.base import Signals, job_name
from outlast.settings import Settings, write_setting

if TYPE_CHECKING:
    from outlast.inside.records import End, Manifest
    from outlast.model.view import RunView

Tell = Callable[[str], None]

#: After a safe cut was asked for, how long a script may take to reach its next checkpoint.
_SAFE_PATIENCE_S = 60.0


def probe_run(settings: Settings, request: RunRequest, *, time_s: float, tell: Tell) -> Forecast:
    """Measure one stint of `time_s` seconds and forecast the chain that the request asks for."""
    limit_s = None if request.limit is None else parse_duration(request.limit)
    with Tidying(tell) as tidying, _throw_away(settings, tidying) as trial:
        tell(f"measuring for {time_s:g} s")
        asked = dataclasses.replace(_tried(request, trial, settings.home), limit=f"{time_s}s", stints="1")
        spec = submit_run(asked, trial)
        if request.limit is None:
            limit_s = _limit_of(asked, request, trial)
        limit_s = _limit_there(settings, request, limit_s)
        view = _finished(trial, spec.id)
        if view.state is RunState.FAILED and not view.checkpoints:
            raise RunFailed(f"the probe failed: {view.message}")
        measured, total, done = _measure(trial, view)
        if done is not None and view.state is RunState.SUCCEEDED:
            total = done
        Probes(Home(settings.home)).keep(spec, measured, total)
        return forecast(measured, limit_s=limit_s, total=total)


def _tried(request: RunRequest, trial: Settings, home: Path) -> RunRequest:
    """The request as one that leaves nothing behind: neither results at their targets nor logs in the project."""
    platform = "local" if Accounts(home).all() else request.platform  # accounts are not tried, nor are they there
    return dataclasses.replace(
        request, name=None, store=trial.store, trial=trial.home / "targets", ma_log=False, platform=platform
    )  # fmt: skip


def _finished(settings: Settings, run: str) -> RunView:
    wait_run(settings, run)
    return show_run(settings, run)


def _limit_of(asked: RunRequest, request: RunRequest, settings: Settings) -> float | None:
    """The limit that outlast.toml gives when the command line says nothing."""
    from outlast.operations.resolve import resolve

    return resolve(dataclasses.replace(asked, limit=request.limit), settings).limit_s


def _limit_there(settings: Settings, request: RunRequest, limit_s: float | None) -> float | None:
    """The limit of a stint on the first platform of the list, where that is shorter."""
    from outlast.keeper.platforms import Platforms
    from outlast.platforms.registry import create

    first = (request.platform or settings.platform).split(",")[0].strip()
    return Platforms(settings, lambda name: create(name, settings)).limit_s(first, limit_s)


def _measure(settings: Settings, view: RunView) -> tuple[Measured, float | None, float | None]:
    """What a probe's stint showed, the total it named, and how far it came."""
    end, manifests = _records(settings, view)
    phases = end.phases if end is not None else {}
    unit = "epoch" if view.epoch else "step"
    done = view.epoch if view.epoch else view.step
    running_s = phases.get("running", 0.0)
    places = [manifest.progress.get(unit) for manifest in manifests]
    known = [float(place) for place in places if place is not None]
    gaps = [after - before for before, after in zip([0.0, *known], known, strict=False) if after > before]
    saves = max(1, len(manifests))
    measured = Measured(
        unit=unit,
        unit_s=running_s / done if done else None,
        interval=max(gaps) if gaps else None,
        save_s=phases.get("saving", 0.0) / saves,
        commit_s=phases.get("committing", 0.0),
        fetching_s=phases.get("fetching", 0.0) + phases.get("staging", 0.0),
        environment_first_s=phases.get("environment", 0.0),
        restoring_s=phases.get("restoring", 0.0),
        starting_s=phases.get("starting", 0.0),
    )
    total = view.epochs if unit == "epoch" else view.steps
    return measured, total if total is not None else _total_of(view, unit), done


def _total_of(view: RunView, unit: str) -> float | None:
    """The total that an `until` condition names."""
    from outlast.inside.until import Until

    text = view.spec.get("until")
    return Until.parse(text).bound(unit) if text else None


def _records(settings: Settings, view: RunView) -> tuple[End | None, list[Manifest]]:
    from outlast.inside import layout
    from outlast.inside.checkpoints import Checkpoints
    from outlast.inside.errors import NotFound
    from outlast.inside.records import End

    found = locate(settings, view.id)
    checkpoints = Checkpoints(found.store, view.id)
    manifests = [checkpoints.read(name) for name in checkpoints.ids()]
    try:
        return End.from_bytes(found.store.get(layout.end_key(view.id, 1))), manifests
    except NotFound:
        return None, manifests


def rehearse_run(settings: Settings, request: RunRequest, *, tell: Tell, **options: Any) -> Rehearsal:
    """Run a training straight and interrupted in throw-away homes, and compare what is left of them."""
    with Tidying(tell) as tidying, contextlib.ExitStack() as stack:

        def run_once(cuts: Sequence[Cut]) -> Training:
            trial = stack.enter_context(_throw_away(settings, tidying))
            # No limit, no retries: only the cuts interrupt, and an error of the script is the answer.
            asked = dataclasses.replace(_tried(request, trial, settings.home), limit="none", stints="auto", retries=0)
            spec = submit_run(asked, trial)
            _interrupt(trial, spec.id, cuts)
            view = _finished(trial, spec.id)
            if view.state is not RunState.SUCCEEDED:
                raise RunFailed(f"the training {view.state} in the rehearsal: {view.message}")
            return _training(trial, view)

        return rehearse(run_once, tell=tell, **options)


def _interrupt(settings: Settings, run: str, cuts: Sequence[Cut]) -> None:
    """Carry out the cuts: stint i is ended once its script has run for `cuts[i].run_s` seconds."""
    from outlast.platforms.registry import create

    left = list(cuts)
    platform: Any = create("local", settings)
    running_since: dict[int, float] = {}
    for view in watch_run(settings, run):
        if not left:
            return
        stint = view.stint_list[-1] if view.stint_list else None
        if stint is None or stint.state not in (StintState.RUNNING, StintState.HANDING_OVER):
            continue
        began = running_since.setdefault(stint.number, time.monotonic())
        ran_s = time.monotonic() - began
        cut = left[0]
        if stint.number != len(cuts) - len(left) + 1 or ran_s < cut.run_s:
            continue
        name = job_name(run, stint.number)
        if cut.kind == "unsafe":
            platform.cancel(name)
        elif stint.last_checkpoint is None and ran_s < cut.run_s + _SAFE_PATIENCE_S:
            continue  # a safe cut comes after a checkpoint of its own stint
        elif isinstance(platform, Signals):
            platform.interrupt(name)
        left.pop(0)


def _training(settings: Settings, view: RunView) -> Training:
    from outlast.inside.checkpoints import Checkpoints
    from outlast.track.series import read_points

    found = locate(settings, view.id)
    store = found.store
    checkpoints = Checkpoints(store, view.id)
    manifests = [checkpoints.read(name) for name in checkpoints.ids()]
    series = [
        Point(Place(point.epoch, point.step), point.values)
        for stint in view.stint_list
        for point in read_points(store, view.id, stint.number)
    ]
    folder = settings.home / "fetched"
    with contextlib.suppress(NotFoundError):  # a script need not have outputs
        fetch_run(settings, view.id, folder / "outputs", "outputs", force=True)
    if manifests:
        fetch_run(settings, view.id, folder / "checkpoint", "checkpoint", force=True)
    resumed = {stint.resumed_from for stint in view.stint_list[1:]}
    cuts = [manifest for manifest in manifests if _id_of(manifest) in resumed]
    return Training(
        series=series,
        outputs=_files_below(folder / "outputs"),
        checkpoint=_files_below(folder / "checkpoint"),
        cuts=[Place(manifest.progress.get("epoch"), manifest.progress.get("step")) for manifest in cuts],
        duration_s=sum(stint.ledger.get("useful", 0.0) + stint.ledger.get("saving", 0.0) for stint in view.stint_list),
        checkpoints_at_s=[manifest.running_s for manifest in manifests],
    )


def _id_of(manifest: Manifest) -> str:
    from outlast.inside.layout import checkpoint_id

    return checkpoint_id(manifest.stint, manifest.number)


def _files_below(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}


@contextlib.contextmanager
def _throw_away(settings: Settings, tidying: Tidying) -> Iterator[Settings]:
    """Settings for a home that is gone afterwards; environments are built in the real one's cache."""
    from outlast.platforms.local.removal import remove_tree

    folder = Path(tempfile.mkdtemp(prefix="outlast-trial-"))
    home = Home(folder / "home")
    try:
        for name, value in (("backoff_s", "0"), ("no_progress_limit", "100")):
            write_setting(home.path, name, value)
        trial = dataclasses.replace(
            Settings.load(os.environ, home=home.path),
            store=(home.path / "store").as_uri(),
            user=settings.user,
            server="",
        )
        _share_cache(settings.home, home.path)
        _share_profiles(settings.home, home.path)
        _share_maps(settings.home, home.path)
        _share_environments(settings.home, home.path)
        try:
            yield trial
        finally:
            tidying.begin()
            _end_everything(trial, home)
    finally:
        # What ends may still be writing its last words: a plain removal would find the folder not empty.
        remove_tree(folder)


def _share_cache(real: Path, trial: Path) -> None:
    """A trial must not download what the runs before it have built or fetched."""
    for name in ("envs", "inputs"):
        ours, theirs = real / "cache" / name, trial / "cache" / name
        ours.mkdir(parents=True, exist_ok=True)
        theirs.parent.mkdir(parents=True, exist_ok=True)
        theirs.symlink_to(ours.resolve(), target_is_directory=True)


def _share_profiles(real: Path, trial: Path) -> None:
    """Inputs at an address are opened with the same keys; they vanish with the trial's home."""
    from outlast.store.profiles import Profiles

    for profile in Profiles(real).all():
        with contextlib.suppress(OutlastError):  # one whose keyring is locked; the trial says so if it needs it
            Profiles(trial).save(profile.name, Profiles(real).open(profile), in_file=True)


def _share_maps(real: Path, trial: Path) -> None:
    """The same folders play the same buckets."""
    from outlast.store.maps import load_all, save_map

    for root, folder in load_all(real).items():
        save_map(trial, root, Path(folder))


def _share_environments(real: Path, trial: Path) -> None:
    """What was added to the real home can be pinned in a trial too."""
    with contextlib.suppress(FileNotFoundError):
        (trial / "environments.json").write_bytes((real / "environments.json").read_bytes())


def _end_everything(settings: Settings, home: Home) -> None:
    """End the runs as their owner would; whatever does not follow, or cannot be asked any more, is killed."""
    from outlast.platforms.local.platform import LocalPlatform

    try:
        for view in list_runs(settings):
            if not view.state.is_final:
                stop_run(settings, view.id)
            remove_run(settings, view.id, force=True)
    finally:
        # The keeper first: it would start the next stint of a run whose job was killed.
        end_keeper(home, by_force=True)
        LocalPlatform.from_settings(settings).end_all()
        Servers(home.path).keep_for(())
