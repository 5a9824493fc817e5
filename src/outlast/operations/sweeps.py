"""Sweeps: a grid of runs started as one, looked at as one, stopped as one. Each member is an ordinary run."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from outlast.errors import NotFoundError, SpecError, UsageError
from outlast.inside import layout
from outlast.inside.records import now_text
from outlast.inside.stores.base import Store
from outlast.keeper.home import Home
from outlast.keeper.inbox import drop_marker
from outlast.keeper.secrets import SecretsFile
from outlast.keeper.wake import ensure_keeper
from outlast.model.query import linked
from outlast.model.request import RunRequest
from outlast.model.spec import NAME_PATTERN, RunSpec
from outlast.model.states import RunState
from outlast.model.sweep import SweepRecord
from outlast.operations.faults import spoken
from outlast.operations.grid import Grid, choose_members, member_names, read_grid
from outlast.operations.problems import closest
from outlast.operations.served import served
from outlast.operations.submit import Checked, Progress, checking, write_spec
from outlast.settings import Settings

if TYPE_CHECKING:
    from outlast.model.view import RunView

#: So many members are started without a question.
MANY = 64
_RESUMABLE = (RunState.FAILED, RunState.STOPPED)


@dataclass(frozen=True)
class SweepRequest:
    """The words of `outlast sweep`; several values of a parameter stand in `request.params`, commas between."""

    request: RunRequest
    at_once: int | None = None
    metric: str | None = None  # "val_acc", or "val_acc:max" where the name does not say what is good
    early_stop: bool = False
    early_stop_after: float = 4.0  # epochs
    random: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class SweepPlan:
    """A sweep that can work, before anything was started."""

    grid: Grid
    members: list[dict[str, str]]
    metric: str
    sign: int
    seed: int | None


def plan_sweep(asked: SweepRequest) -> SweepPlan:
    """The members that a request means. Raises one `SpecError`; reads and changes nothing."""
    grid = read_grid(asked.request.params)
    for option, value in (("--at-once", asked.at_once), ("--random", asked.random)):
        if value is not None and value < 1:
            raise SpecError(f"{option} {value} would start nothing", hint="give a whole number from 1")
    if asked.early_stop_after <= 0:
        raise SpecError(f"--after {asked.early_stop_after:g} is not a number of epochs", hint="give more than 0")
    metric, sign = _metric_of(asked)
    seed = None
    if asked.random is not None and asked.random < grid.size:
        seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**6)
    return SweepPlan(grid, choose_members(grid, asked.random, seed or 0), metric, sign, seed)


def _metric_of(asked: SweepRequest) -> tuple[str, int]:
    from outlast.operations.evaluate import read_metric

    if asked.metric:
        return read_metric(asked.metric)
    if asked.early_stop:
        raise SpecError("--early-stop compares members by a metric", hint="name one, like --metric val_acc")
    return "", 0


@served("sweeps")
def start_sweep(settings: Settings, asked: SweepRequest, progress: Progress | None = None) -> SweepRecord:
    """Start every member and return the record; the sweep goes on without us.

    Everything is checked before anything is written. When this raises, no member exists.
    """
    plan = plan_sweep(asked)
    home = Home(settings.home)
    first = tuple(f"{name}={value}" for name, value in plan.members[0].items())
    request = dataclasses.replace(asked.request, params=(*plan.grid.fixed, *first), name=None)
    with checking(request, settings, home, progress) as checked:
        _refuse_unknown(checked, plan.grid)
        store = checked.reached.store
        name = _free_name(store, asked.request.name, checked.resolved.name)
        secrets_file = SecretsFile(home)
        secrets = checked.secrets(secrets_file)
        checked.send_code(progress)
        written: list[RunSpec] = []
        with _all_or_nothing(store, written, secrets_file), spoken("writing the run folders"):
            for member, own_name in zip(plan.members, member_names(name, plan.members), strict=True):
                make = _maker(checked, name, own_name, member)
                written.append(write_spec(store, make, lambda run: secrets_file.save_run(run, secrets), home))
            record = _record(asked, plan, name, written)
            if not store.put_if_absent(layout.sweep_key(name), record.to_bytes()):
                raise _taken(name)
            for spec in written:
                drop_marker(home, spec.id, spec.store)
    ensure_keeper(home)
    return record


def _maker(checked: Checked, sweep: str, name: str, member: dict[str, str]) -> Callable[[str], RunSpec]:
    def make(run: str) -> RunSpec:
        spec = checked.spec(run)
        return dataclasses.replace(spec, name=name, sweep=sweep, params={**spec.params, **member})

    return make


def _record(asked: SweepRequest, plan: SweepPlan, name: str, written: list[RunSpec]) -> SweepRecord:
    return SweepRecord(
        name=name,
        swept=[(key, list(values)) for key, values in plan.grid.swept.items()],
        members=[
            {"run": spec.id, "name": spec.name, "params": member}
            for spec, member in zip(written, plan.members, strict=True)
        ],
        store=written[0].store,
        at_once=asked.at_once,
        metric=plan.metric,
        sign=plan.sign,
        early_stop_after=asked.early_stop_after if asked.early_stop else None,
        seed=plan.seed,
        of=plan.grid.size,
        user=written[0].user,
        created_at=now_text(),
    )


@contextlib.contextmanager
def _all_or_nothing(store: Store, written: list[RunSpec], secrets: SecretsFile) -> Iterator[None]:
    """Members whose markers are not all dropped go away again, whatever ended the block."""
    try:
        yield
    except BaseException:
        for spec in written:
            for key in (layout.spec_key(spec.id), layout.control_key(spec.id)):
                with contextlib.suppress(Exception):
                    store.delete(key)
            secrets.forget_run(spec.id)
        raise


def _refuse_unknown(checked: Checked, grid: Grid) -> None:
    """A parameter that the script's own parser would refuse ends every member; say so before there is one."""
    from outlast.operations.arguments import accepted_by

    resolved = checked.resolved
    if resolved.job is not None:
        raise SpecError("a sweep needs a script; an OpenPAI job file has no parameters to vary")
    accepted = accepted_by(resolved.folder / resolved.script)
    for name in grid.swept:
        if accepted.refuses(name):
            near = closest(name, accepted.options)
            raise SpecError(
                f"the script {resolved.script} does not take --{name}" + (f"; did you mean {near!r}?" if near else ""),
                hint=f"it takes: {', '.join(sorted(accepted.options))}",
            )


def _free_name(store: Store, wanted: str | None, default: str) -> str:
    """The name that the user chose, which must be free, or one like the script's that is."""
    if wanted is not None and not NAME_PATTERN.fullmatch(wanted):
        raise SpecError(
            f"--name {wanted!r}: not a name", hint="use letters, digits, '.', '_' and '-', at most 63, e.g. 'grid-1'"
        )
    with spoken("looking for a free name"):
        if wanted is not None:
            if store.head(layout.sweep_key(wanted)) is not None:
                raise _taken(wanted)
            return wanted
        name, number = default, 2
        while store.head(layout.sweep_key(name)) is not None:
            name, number = f"{default[:58]}-{number}", number + 1
        return name


def _taken(name: str) -> SpecError:
    return SpecError(
        f"there is a sweep {name!r} already",
        hint=f"choose another --name, or remove that one with: outlast sweep rm {name}",
    )


# ---- a sweep that exists


class FoundSweep(NamedTuple):
    """A sweep: its record, the store of its members, and those that exist, in the record's order."""

    record: SweepRecord
    store: Store
    views: list[RunView]


@served("sweeps")
def find_sweep(settings: Settings, name: str) -> FoundSweep:
    """The sweep of that name; `NotFoundError` with the nearest one."""
    from outlast.operations.listing import find_runs, list_runs
    from outlast.operations.locate import open_run_store

    views = {view.id: view for view in find_runs(settings, linked("sweep", name)).views}
    known = next(iter(views.values()), None)
    store = open_run_store(Home(settings.home), known.store if known else settings.store, known.id if known else "")
    try:
        with spoken(f"sweep {name}"):
            record = SweepRecord.from_bytes(store.get(layout.sweep_key(name)))
    except NotFoundError:
        near = closest(name, {view.sweep for view in list_runs(settings) if view.sweep})
        raise NotFoundError(
            f"no sweep {name!r}" + (f"; did you mean {near!r}?" if near else ""),
            hint="list them with: outlast sweep ls",
        ) from None
    return FoundSweep(record, store, [views[run] for run in record.runs if run in views])


@served("sweeps")
def stop_sweep(settings: Settings, name: str) -> list[str]:
    """Ask every open member to save and stop, those first that have not begun; returns their ids."""
    from outlast.operations.runs import stop_run

    chosen = [view.id for view in find_sweep(settings, name).views if not view.state.is_final]
    # The last ones first: a member that was stopped frees a place, which must not go to one that waits.
    for run in reversed(chosen):
        stop_run(settings, run)
    return chosen


@served("sweeps")
def resume_sweep(settings: Settings, name: str) -> list[str]:
    """Go on with every member that failed or was stopped, except those that were stopped early; returns their ids."""
    from outlast.operations.runs import resume_run

    ended = [view for view in find_sweep(settings, name).views if view.state in _RESUMABLE]
    resumed = [resume_run(settings, view.id).id for view in ended if not is_early(view.message)]
    if not resumed:
        raise UsageError(f"no member of sweep {name} can be resumed", hint=f"see them with: outlast sweep show {name}")
    return resumed


@served("sweeps")
def remove_sweep(settings: Settings, name: str, *, force: bool = False) -> list[str]:
    """Remove all members that are over, and the record; with `force` open members are stopped first."""
    from outlast.operations.runs import remove_run

    found = find_sweep(settings, name)
    going = [view.id for view in found.views if not view.state.is_final]
    if going and not force:
        raise UsageError(
            f"{len(going)} of {len(found.views)} members of sweep {name} go on",
            hint=f"stop them with: outlast sweep stop {name}, or remove all with --force",
        )
    if going:
        stop_sweep(settings, name)
    removed = [remove_run(settings, view.id, force=force) for view in found.views]
    with spoken(f"removing sweep {name}"):
        found.store.delete(layout.sweep_key(name))
    return removed


def is_early(message: str) -> bool:
    """Whether the message of a stopped run says that its sweep stopped it."""
    return message.startswith("stopped early:")
