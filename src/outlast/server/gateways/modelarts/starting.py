"""From a checked wish to a run: the code is fetched from OBS, and the run is submitted as every other."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from outlast.errors import NotFoundError, OutlastError, SpecError
from outlast.inside.move.base import FOLDER
from outlast.inside.move.plan import Options
from outlast.model.ids import new_run_id
from outlast.model.request import RunRequest
from outlast.operations.environments import Environments
from outlast.operations.locate import find_row
from outlast.operations.places import Places, list_place
from outlast.operations.transfer import carry_out, failure_words, plan_copy
from outlast.platforms.local.machine import Machine
from outlast.server.accounts.people import Role
from outlast.server.fences import check_address, check_request
from outlast.server.gateways.modelarts.access import Caller
from outlast.server.gateways.modelarts.book import JobBook, JobRow, NewJob
from outlast.server.gateways.modelarts.exports import Exports
from outlast.server.gateways.modelarts.jobs import see
from outlast.server.gateways.modelarts.phases import FINAL, without_run
from outlast.server.gateways.modelarts.refusing import Refusal, as_code
from outlast.server.gateways.modelarts.wishes import Wish
from outlast.server.submitting import long_names, start_request
from outlast.settings import Settings

#: A folder of code: its files, their depth, their bytes.
MOST_FILES, MOST_DEPTH, MOST_BYTES = 4096, 32, 5 << 30
#: Says which file of the code is started, and keeps an outlast.toml in it from speaking: the job alone decides.
_SPEC_FILE = "outlast-modelarts-job.toml"
#: The folder is what the job says it is; a .gitignore in it was meant for something else.
_EVERYTHING = ("**",)
_NAME_LENGTH = 63


def create_job(caller: Caller, wish: Wish, generation: str, after: JobRow | None = None) -> JobRow:
    """Start what was wished for. When this returns there is a run; when it raises there is neither run nor job."""
    caller.require_member()
    book = JobBook(caller.state.database)
    _check_log(caller, wish.job.log)
    with long_names(), _code(caller, wish) as folder:
        request, notices = _request(caller, wish, folder, after)
        new = NewJob(
            generation, wish.name, caller.actor.name, new_run_id(), wish.choice.is_free, wish.job.description,
            wish.stored, (*notices, *wish.job.notices), after,
        )  # fmt: skip
        row = book.add(new, lambda other: _is_open(caller, other))
        if wish.job.log:
            Exports(caller.state.database).add(row.number, wish.job.log)
        try:
            run = start_request(caller.state, caller.holding, caller.actor, request, row.run_id)
        except SpecError as error:
            book.remove(row)
            # The service has a code of its own for places; every other mistake keeps the general one.
            raise (Refusal("2791", str(error)) if error.message.startswith(("input ", "output ")) else error) from None
        except BaseException:
            book.remove(row)
            raise
    if run != row.run_id:
        book.rename_run(row, run)
        row = dataclasses.replace(row, run_id=run)
    return row


def _check_log(caller: Caller, address: str) -> None:
    """Refuse a place for the log that nothing could be brought to, before anything is started."""
    if not address:
        return
    if caller.actor.role is not Role.ADMIN:
        check_address(address, _stores(caller), deep=True)
    with as_code("2791"):
        Places(caller.holding.settings).open(address)


def _is_open(caller: Caller, row: JobRow) -> bool:
    """Whether a job goes on; one whose run is not there yet is about to."""
    try:
        # The index is about a second behind; it is asked first because it answers at once.
        known_open = find_row(caller.holding.settings, row.run_id).open
        return known_open and see(caller.holding.settings, row).progress.phase not in FINAL
    except NotFoundError:
        return without_run(row.created_at).phase not in FINAL


@contextlib.contextmanager
def _code(caller: Caller, wish: Wish) -> Iterator[Path]:
    """The code of a job in a folder of its own, named as the job names it, until the block ends."""
    address, settings = wish.job.code, caller.holding.settings
    if caller.actor.role is not Role.ADMIN:
        check_address(address, _stores(caller), deep=True)
    folder = Path(tempfile.mkdtemp(dir=caller.holding.home.cache, prefix="modelarts-"))
    try:
        code = folder / (address.rpartition("/")[2] or "code")
        code.mkdir()
        with as_code("2757"):
            _check_size(settings, address)
            outcome = carry_out(plan_copy(settings, [f"{address}/"], f"{code}/", Options()))
        if outcome.failures:
            raise Refusal("2757", failure_words(outcome))
        if not (code / wish.job.boot).is_file():
            raise Refusal("2758", f"{address} holds no {wish.job.boot}")
        yield code
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_size(settings: Settings, address: str) -> None:
    listing = list_place(settings, f"{address}/", recursive=True)
    files = [item for item in listing.items if item.kind != FOLDER]
    depth = max((listing.name(item).count("/") + 1 for item in files), default=0)
    size_bytes = sum(item.size_bytes for item in files)
    if len(files) > MOST_FILES:
        raise Refusal("2759", f"{address} has {len(files)} files, {MOST_FILES} at most")
    if depth > MOST_DEPTH:
        raise Refusal("2760", f"{address} has {depth} levels of folders, {MOST_DEPTH} at most")
    if size_bytes > MOST_BYTES:
        raise Refusal("2761", f"{address} has {size_bytes} bytes, {MOST_BYTES} at most")


def _request(caller: Caller, wish: Wish, folder: Path, after: JobRow | None) -> tuple[RunRequest, list[str]]:
    job, settings = wish.job, caller.holding.settings_of(caller.actor)
    spec = folder / _SPEC_FILE
    spec.write_text(f"[run]\nscript = {json.dumps(job.boot)}\n", encoding="utf-8")
    environment, notices = _environment(settings, wish)
    cards, more = _resources(settings, wish)
    limit_s = _limit_s(settings, wish)
    request = RunRequest(
        target=str(spec), args=job.args, cwd=folder, name=_run_name(wish.name, after), contract=job.contract,
        data=tuple(f"{each.name}={each.address}" for each in job.inputs),
        output=tuple(f"{each.name}={each.address}" for each in job.outputs) or None,
        params=tuple(f"{name}={value}" for name, value in wish.params.items()),
        env=tuple(f"{name}={value}" for name, value in wish.env.items()),
        secrets=tuple(wish.secrets), secret_values=wish.secrets,
        environment=environment, limit=None if limit_s is None else f"{limit_s}s",
        stints=None if limit_s is None else "1", retries=job.retries or 0, include=_EVERYTHING,
        cpus=cards["cpus"], gpus=cards["gpus"], npus=cards["npus"], nodes=job.nodes,
    )  # fmt: skip
    if caller.actor.role is not Role.ADMIN:
        check_request(request, settings, folder, _stores(caller))
    return request, [*notices, *more]


def _stores(caller: Caller) -> set[str]:
    return {caller.holding.settings.store, *caller.holding.runs.stores()}


def _run_name(name: str, after: JobRow | None) -> str:
    """A run's name begins with a letter or digit; each version has its own."""
    end = f"-V{after.version + 1:04d}" if after is not None else ""
    return (name.lstrip("-_")[: _NAME_LENGTH - len(end)] or "job") + end


def _limit_s(settings: Settings, wish: Wish) -> float | None:
    limits = [wish.job.limit_h * 3600.0] if wish.job.limit_h else []
    return min([*limits, settings.free_limit_s] if wish.choice.is_free else limits, default=None)


def _environment(settings: Settings, wish: Wish) -> tuple[str | None, list[str]]:
    """The engine as an environment where pip can make it here; what is not used is said."""
    if wish.job.image:
        return None, [f"the image {wish.job.image} is not used; the script runs in this server's Python"]
    try:
        found = Environments(settings).find(wish.job.engine)
    except OutlastError:
        return None, [f"the engine {wish.job.engine} is not used; the script runs in this server's Python"]
    if found.here == "yes":
        return found.name, []
    return None, [f"the engine {found.name} exists only as an image; the script runs in this server's Python"]


def _resources(settings: Settings, wish: Wish) -> tuple[dict[str, int | None], list[str]]:
    """As much of a flavor as this machine has for each node: a lab that hosts itself has other cards than the cloud."""
    choice, wanted = wish.choice, wish.choice.flavor
    there = Machine.look(settings.home / "local" / "machine.json", remember=False).capacity
    names = ("cpus", "gpus", "npus")
    found = {name: min(getattr(wanted, name), getattr(there, name) // wish.job.nodes) for name in names}
    short = [
        f"the flavor {choice.id} has {getattr(wanted, name)} {name}, this machine {getattr(there, name)}"
        for name in ("gpus", "npus")
        if found[name] < getattr(wanted, name)
    ]
    return {name: count or None for name, count in found.items()}, short
