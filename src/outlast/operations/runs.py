"""The verbs on runs that exist: show, stop, resume, remove, wait, watch; `listing.py` has the list."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Iterator

from outlast.errors import NotFoundError, OutlastError, SpecError, StoreError, UsageError
from outlast.inside import layout
from outlast.inside.errors import StoreFull
from outlast.inside.records import Control, now_text
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.keeper.observe import RunFolder
from outlast.keeper.secrets import SecretsFile
from outlast.keeper.view import decide_from_folder, full_view, short_view, stint_views, view_from_json
from outlast.keeper.wake import ensure_keeper, keeper_is_there
from outlast.model.quantities import format_duration, parse_duration
from outlast.model.states import RunState
from outlast.model.view import RunView
from outlast.operations.faults import spoken
from outlast.operations.listing import list_runs as list_runs  # noqa: PLC0414 - one of the verbs on runs
from outlast.operations.locate import Located, find_row, locate, open_index
from outlast.operations.room import full_disk_notice
from outlast.operations.served import served
from outlast.settings import Settings

#: How often a watched run folder is read.
WATCH_S = 0.2
#: So many times `pace_s` apart where a look is four requests.
_REMOTE_LOOKS = 2
#: Whoever watches waits so long for a store that is away; the run itself goes on anyway.
OUTAGE_S = 300.0
#: A run that shows no running stint for so long: ask the index what the keeper says about it.
_ASK_KEEPER_S = 2.0


@served("runs")
def show_run(settings: Settings, ref: str) -> RunView:
    """Everything about one run, read from its folder just now."""
    found = locate(settings, ref)
    with spoken(f"run {found.run}"):
        folder = found.folder()
        view = full_view(folder, settings, _kept_view(settings, found.run))
    if not view.state.is_final:
        home = Home(settings.home)
        ensure_keeper_of(home, folder)
        return _with_trouble(view, full_disk_notice(home, found.url))
    return view


@served("runs")
def stop_run(settings: Settings, ref: str) -> RunView:
    """Ask a run to save and stop. Returns at once; a run that is over already stays as it is."""
    found = locate(settings, ref)
    folder = found.folder()
    if not _state(folder, settings).is_final:
        _say(settings, found, dataclasses.replace(folder.control, want="stop"))
        folder.refresh()
    return _view(folder, settings)


@served("runs")
def resume_run(
    settings: Settings, ref: str, *, from_stint: int | None = None, checkpoint: str | None = None,
    limit: str | None = None,
) -> RunView:  # fmt: skip
    """Go on with a run that failed or was stopped: from its last checkpoint, or from the one that is named.

    Also takes over an unfinished run that another home has looked after until now.
    """
    found = locate(settings, ref)
    folder = found.folder()
    home = Home(settings.home)
    state = _state(folder, settings)
    if state is RunState.SUCCEEDED:
        raise UsageError(
            f"run {found.run} has succeeded; there is nothing to resume", hint=f"get it with: outlast fetch {found.run}"
        )
    control = folder.control
    ours = control.by in ("", home.id)
    if not state.is_final and ours:
        words = (
            "is being stopped; wait for it with: outlast show"
            if control.want == "stop"
            else "goes on already; see: outlast show"
        )
        raise UsageError(f"run {found.run} {words} {found.run}")
    chosen = _chosen_checkpoint(folder, from_stint, checkpoint)
    since = folder.last + 1 if state.is_final else control.since_stint
    if chosen is None and not any(
        layout.checkpoint_order(name)[0] >= control.since_stint for name in folder.checkpoints
    ):
        chosen = control.resume_from  # an earlier choice holds until something was committed after it
    limit_s = _limit_s(settings, limit) if limit is not None else control.limit_s
    _say(settings, found, Control(want="go", since_stint=since, resume_from=chosen, limit_s=limit_s))
    folder.refresh()
    return _view(folder, settings)


@served("runs")
def remove_run(settings: Settings, ref: str, *, force: bool = False) -> str:
    """Remove a run that is over: its folder, its work folders and its row. Blobs are left to `gc`.

    With `force` a run that goes on is stopped first. An interrupted removal can be repeated.
    """
    from outlast.platforms.registry import create

    found = locate(settings, ref)
    view = _view(found.folder(), settings)
    if not view.state.is_final:
        if not force:
            raise UsageError(
                f"run {found.run} is {view.state}",
                hint=f"stop it first (outlast stop {found.run}), or remove it with --force",
            )
        stop_run(settings, found.run)
        grace_s = float(found.folder().spec.get("grace_s", settings.grace_s))
        wait_run(settings, found.run, timeout_s=grace_s + 30.0)
    orders = list(found.folder().orders.values())
    used = {order.platform for order in orders}
    with spoken(f"removing run {found.run}"):
        _remove_folder(found)
    for platform in used:
        with contextlib.suppress(OutlastError):  # a platform that was uninstalled keeps nothing that we could reach
            create(platform, settings).forget(found.run)
    if any(order.store for order in orders):
        from outlast.operations.mirrors import remove_mirrors

        remove_mirrors(settings, found.run, orders)
    _remove_traces(settings, found.run)
    return found.run


@served("runs")
def wait_run(settings: Settings, ref: str, timeout_s: float | None = None) -> RunView:
    """Wait until a run is over. `UsageError` when that takes longer than `timeout_s`; the run goes on then."""
    return last_look(_looks(settings, locate(settings, ref)), timeout_s)


@served("runs")
def watch_run(settings: Settings, ref: str) -> Iterator[RunView]:
    """The run's view now and at every change, until it is over. Stints are listed, checkpoints are not."""
    yield from changed_looks(_looks(settings, locate(settings, ref)))


def last_look(looks: Iterator[RunView], timeout_s: float | None) -> RunView:
    """The look at which the run is over."""
    started = time.monotonic()
    for view in looks:
        if view.state.is_final:
            return view
        if timeout_s is not None and time.monotonic() - started >= timeout_s:
            raise UsageError(
                f"run {view.id} is still {view.state} after {format_duration(timeout_s)}",
                hint=f"it goes on; see it with: outlast show {view.id}",
            )
    raise AssertionError("looks never end")


def changed_looks(looks: Iterator[RunView]) -> Iterator[RunView]:
    """The first look and those that differ from the one before, until the run is over."""
    before: RunView | None = None
    for view in looks:
        if view != before:
            before = view
            yield view
        if view.state.is_final:
            return


def _looks(settings: Settings, found: Located) -> Iterator[RunView]:
    """A look every fifth of a second, from the run folder itself. Restarts a keeper that was killed.

    A store over a network is asked less often, and may be away for minutes: the view then says so.
    """
    home = Home(settings.home)
    folder = found.folder()
    started = checked = time.monotonic()
    said: RunView | None = None
    trouble = ""
    outage = Outage(found.store)
    while True:
        view = short_view(folder, decide_from_folder(folder, settings))
        waiting = folder.last == 0 or (folder.last not in folder.claims and folder.last not in folder.ends)
        now = time.monotonic()
        if not waiting:
            started, said = now, None
        if now - checked >= 1.0 and not view.state.is_final:
            checked = now
            was_gone = ensure_keeper_of(home, folder)
            trouble = full_disk_notice(home, found.url) or (_index_notice(settings) if was_gone or trouble else "")
            if now - started >= _ASK_KEEPER_S:
                said = _kept_view(settings, found.run)
        if said is not None and not view.state.is_final and said.stints == view.stints:
            view = dataclasses.replace(view, message=said.message, notice=said.notice)
        view = dataclasses.replace(view, stint_list=stint_views(folder))
        yield _with_trouble(view, outage.words or trouble)
        time.sleep(max(WATCH_S, _REMOTE_LOOKS * found.store.pace_s))
        with outage.tolerated(), spoken(f"run {found.run}"):
            folder.refresh()


class Outage:
    """Trouble with a store over a network that is only told for a while, and then raised."""

    def __init__(self, store: Store, patience_s: float = OUTAGE_S) -> None:
        self._patience_s = patience_s if store.pace_s else 0.0
        self._since: float | None = None
        self.words = ""

    @contextlib.contextmanager
    def tolerated(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            now = time.monotonic()
            self._since = now if self._since is None else self._since
            if not error.retryable or now - self._since >= self._patience_s:
                raise
            self.words = str(error)
        else:
            self._since, self.words = None, ""


def _with_trouble(view: RunView, trouble: str) -> RunView:
    return dataclasses.replace(view, notice=trouble) if trouble and not view.state.is_final else view


def _index_notice(settings: Settings) -> str:
    """Why no keeper can stay: an index that it cannot use. Empty when the index is fine."""
    try:
        open_index(settings).close()
    except OutlastError as error:
        return str(error)
    return ""


def ensure_keeper_of(home: Home, folder: RunFolder) -> bool:
    """Start a keeper when this home's was killed; a run of another home is that home's business."""
    if folder.control.by in ("", home.id) and not keeper_is_there(home):
        return ensure_keeper(home)
    return False


def _state(folder: RunFolder, settings: Settings) -> RunState:
    return decide_from_folder(folder, settings).state


def _view(folder: RunFolder, settings: Settings) -> RunView:
    return short_view(folder, decide_from_folder(folder, settings))


def _kept_view(settings: Settings, run: str) -> RunView | None:
    """What the keeper last wrote about a run; None when it knows nothing or the index cannot be read."""
    with contextlib.suppress(OutlastError):
        return view_from_json(find_row(settings, run).view)
    return None


def _say(settings: Settings, found: Located, control: Control) -> None:
    """Write what the user wants, then make sure that a keeper reads it."""
    home = Home(settings.home)
    with spoken(f"run {found.run}"):
        said = dataclasses.replace(control, at=now_text(), by=home.id)
        found.store.put(layout.control_key(found.run), said.to_bytes())
    drop_marker(home, found.run, found.url)
    ensure_keeper(home)


def _limit_s(settings: Settings, limit: str) -> float:
    try:
        limit_s = parse_duration(limit)
    except ValueError as error:
        raise SpecError(f"--limit {error}") from None
    if limit_s < settings.min_limit_s:
        raise SpecError(
            f"--limit {limit} is shorter than {format_duration(settings.min_limit_s)}, the least that works"
        )
    return limit_s


def _chosen_checkpoint(folder: RunFolder, from_stint: int | None, checkpoint: str | None) -> str | None:
    if from_stint is not None and checkpoint is not None:
        raise UsageError("name a stint or a checkpoint to resume from, not both")
    if checkpoint is not None:
        if checkpoint in folder.checkpoints:
            return checkpoint
        raise NotFoundError(f"run {folder.run} has no checkpoint {checkpoint!r}; it has {_known(folder.checkpoints)}")
    if from_stint is None:
        return None
    of_stint = folder.checkpoints_of(from_stint)
    if not of_stint:
        raise NotFoundError(
            f"stint {from_stint} of {folder.run} left no checkpoint; there are {_known(folder.checkpoints)}"
        )
    return of_stint[-1]


def _known(checkpoints: tuple[str, ...]) -> str:
    return ", ".join(checkpoints[-5:]) if checkpoints else "none"


def _remove_folder(found: Located) -> None:
    """The wish to stop goes last: what an interrupted removal leaves must not look like a run that shall start."""
    store, run = found.store, found.run
    body = Control(want="stop", at=now_text()).to_bytes()
    try:
        store.put(layout.control_key(run), body)
    except StoreFull:
        # Removing is how a user makes room. The output of the script decides nothing, so it may go first.
        keys = [entry.key for entry in store.list(layout.run_prefix(run))]
        store.delete_all(key for key in keys if "/log/" in key)
        store.put(layout.control_key(run), body)
    last = (layout.spec_key(run), layout.control_key(run))
    keys = [entry.key for entry in store.list(layout.run_prefix(run))]
    store.delete_all(key for key in keys if key not in last)
    for key in last:
        store.delete(key)


def _remove_traces(settings: Settings, run: str) -> None:
    home = Home(settings.home)
    index = open_index(settings)
    try:
        index.remove(run)
    finally:
        index.close()
    (home.inbox / run).unlink(missing_ok=True)
    SecretsFile(home).forget_run(run)
    shutil.rmtree(home.work / run, ignore_errors=True)
    shutil.rmtree(home.points / run, ignore_errors=True)
