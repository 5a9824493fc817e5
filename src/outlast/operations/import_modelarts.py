"""`outlast import modelarts`: an outlast.toml that does what a training job of ModelArts does."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import NotFoundError, SpecError
from outlast.modelarts.flavors import Flavor, find_flavor
from outlast.modelarts.job import Channel, TrainingJob
from outlast.modelarts.reading import read_job
from outlast.operations.environments import Environments
from outlast.operations.tomlfile import FILE_NAME
from outlast.operations.tomltext import TomlText, write_new
from outlast.settings import Settings

_FILE_BYTES = 1 << 20
_NAME_LENGTH = 63


@dataclass(frozen=True)
class ImportedJob:
    """What was written, what a user should know of it, and what to type next."""

    path: Path
    script: str
    text: str
    notices: tuple[str, ...]
    steps: tuple[str, ...]  # commands, each with its reason after #


def import_modelarts(
    settings: Settings, job_file: str | Path, output: str | Path | None = None, *, force: bool = False
) -> ImportedJob:
    """Write an outlast.toml for a job and say what is left to do. An existing file stays unless `force` is given.

    The file goes beside the code when that is here, else beside the job file. Values that look like secrets are left
    out, and every field that is not carried over is named in a comment.
    """
    source = Path(job_file).absolute()
    job = read_job(_text(source), source.name)
    path = Path(output).absolute() if output else _code_here(job, source) / FILE_NAME
    made = _Writing(settings, job, path, source).write()
    write_new(path, made.text, force=force)
    return made


def _text(path: Path) -> str:
    if not path.is_file():
        raise SpecError(f"no such job file: {path}", hint="give a request body, like job.json")
    try:
        if path.stat().st_size > _FILE_BYTES:
            raise SpecError(f"{path} is no job: it is larger than 1 MiB")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SpecError(f"{path} is not a text file in UTF-8") from None
    except OSError as error:
        raise SpecError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None


def _code_here(job: TrainingJob, source: Path) -> Path:
    """The folder that holds the boot file: the one that the form names, the job file's, or the code's own below it."""
    name = job.code.rstrip("/").rpartition("/")[2]
    given = [source.parent / job.code] if job.code and "://" not in job.code else []
    for folder in (*given, source.parent, source.parent / name):
        if (folder / job.boot).is_file():
            return folder
    return source.parent


class _Writing:
    """One job on its way into a file."""

    def __init__(self, settings: Settings, job: TrainingJob, path: Path, source: Path) -> None:
        self._settings = settings
        self._job = job
        self._path = path
        self._source = source
        self._toml = TomlText()
        self._notices = list(job.notices)

    def write(self) -> ImportedJob:
        job, toml = self._job, self._toml
        toml.note(f"From {self._source.name}, a training job of ModelArts ({job.kind}). The command line wins over it.")
        if job.description:
            toml.note(f"Its description: {job.description}")
        self._run()
        flavor = find_flavor(job.flavor)
        self._tables()
        self._resources(flavor)
        self._remarks()
        return ImportedJob(self._path, job.boot, str(toml), tuple(self._notices), tuple(self._steps()))

    def _run(self) -> None:
        job, toml = self._job, self._toml
        toml.table("run")
        toml.key("script", job.boot, f"the boot file; its code: {job.code}" if job.code else "")
        if job.args:
            toml.key("args", list(job.args))
        if job.name:
            toml.key("name", job.name.lstrip("-_")[:_NAME_LENGTH] or "job")
        passed = "addresses in OBS" if job.contract == "modelarts-v1" else "local folders"
        toml.key(
            "contract", job.contract, f"inputs, outputs and parameters are passed as --NAME=VALUE; places are {passed}"
        )
        self._environment()
        flavor = find_flavor(job.flavor)
        limits = {"free machines are taken away after an hour": flavor.limit_h if flavor else 0,
                  "auto_stop of the job": job.limit_h or 0}  # fmt: skip
        if any(limits.values()):
            why = min((each for each in limits if limits[each]), key=lambda each: limits[each])
            toml.key("limit", f"{limits[why]}h", f"{why}; the next stint goes on from the last checkpoint")
        if job.retries is not None:
            toml.key("retries", job.retries)
        if job.log:
            toml.key("ma_log", True, f"the log appears in MA_LOG beside the script; the job exports it to {job.log}")
        if job.secrets:
            toml.key("secrets", list(job.secrets), "variables whose values were left out: set them before the run")

    def _environment(self) -> None:
        job, toml = self._job, self._toml
        if job.image:
            toml.note(f"The job runs in the image {job.image}; here it runs in the active interpreter.")
            self._notices.append(f"the image {job.image} is not used; name packages in pip-requirements.txt")
            return
        if not job.engine:
            return
        try:
            found = Environments(self._settings).find(job.engine)
        except NotFoundError:
            toml.note(f"The engine {job.engine} is not known here; the active interpreter is used.")
            self._notices.append(f"the engine {job.engine} is not known here; name packages in pip-requirements.txt")
            return
        if found.here == "yes":
            toml.key("environment", found.name, "the engine of the job; its packages are installed by pip")
            return
        why = "exists only as an image of its platform" if found.here == "image only" else found.here
        self._notices.append(f"the engine {found.name} {why}; the active interpreter is used")
        toml.key("environment", found.name, f"the engine of the job; it {why}, so the active interpreter is used",
                 off=True)  # fmt: skip

    def _tables(self) -> None:
        job, toml = self._job, self._toml
        if job.params or job.hidden:
            toml.table("params", "running parameters")
            for name, value in job.params.items():
                toml.key(name, value)
            for name in job.hidden:
                toml.note(
                    f"{name} looks like a secret and was left out; let the script read a variable, see run.secrets"
                )
        self._channels("data", job.inputs, "inputs")
        self._channels("outputs", job.outputs, "results, brought there while the script writes them")
        if job.env:
            toml.table("env", "variables")
            for name, value in job.env.items():
                toml.key(name, value)

    def _channels(self, table: str, channels: Iterable[Channel], words: str) -> None:
        given = list(channels)
        if given:
            self._toml.table(table, words)
        for each in given:
            if each.address:
                self._toml.key(each.name, each.address)
                continue
            self._notices.append(f"{each.name} is {each.note}, which only ModelArts knows; give a folder or an address")
            self._toml.key(each.name, "./data", f"{each.note} on ModelArts; name a folder or an address", off=True)

    def _resources(self, flavor: Flavor | None) -> None:
        """What this machine cannot give is only shown: a run would be refused because of it."""
        job, toml = self._job, self._toml
        if flavor is None and job.flavor:
            self._notices.append(f"the flavor {job.flavor} is not known here; set [resources] by hand")
        if flavor is None and job.nodes == 1:
            return
        from outlast.platforms.local.machine import Machine

        there, flavor = Machine.look().capacity, flavor or Flavor()
        name = job.flavor or "the job's machine"
        toml.table("resources", f"{name}: {flavor.sentence}" if flavor.sentence else name)
        for name, wanted, most in (
            ("cpus", flavor.cpus, there.cpus), ("gpus", flavor.gpus, there.gpus), ("npus", flavor.npus, there.npus)
        ):  # fmt: skip
            if wanted:
                is_off = wanted * job.nodes > most
                toml.key(name, wanted, f"this machine has {most}" if is_off else "", off=is_off)
        if job.nodes > 1:
            is_off = job.nodes > there.cpus
            words = f"this machine has {there.cpus} cpus" if is_off else "machines that run the script together"
            toml.key("nodes", job.nodes, words, off=is_off)
        if flavor.memory_gb:
            toml.key("memory", f"{flavor.memory_gb}G", "a limit, if you want one", off=True)

    def _remarks(self) -> None:
        job = self._job
        lists = (
            ("Known fields that mean nothing here: ", job.skipped),
            ("Fields that ModelArts does not document: ", job.unknown),
        )
        for words, names in lists:
            if names:
                self._toml.gap()
                self._toml.note(words + ", ".join(map(_shown, names)))
        for notice in job.notices:
            self._toml.gap()
            self._toml.note(notice)

    def _steps(self) -> list[str]:
        from outlast.store.maps import load_maps

        job, folder = self._job, self._path.parent
        maps = load_maps(self._settings.home)
        steps = []
        for bucket in job.buckets:
            if bucket not in maps:
                # Not in the code folder: everything there would be packed with every run.
                player = shlex.quote(str(folder.parent / bucket.partition("://")[2]))
                steps.append(f"outlast store map {bucket} {player}  # to try it without the real bucket, or log in")
        if not (folder / job.boot).is_file():
            where = f"outlast cp {shlex.quote(job.code + '/')} {shlex.quote(str(folder))}"
            steps.append(f"{where}  # the code" if "://" in job.code else f"# put {job.boot} into {folder}")
        steps += [f"export {name}=…  # was left out" for name in job.secrets]
        steps.append(f"outlast run {shlex.quote(str(self._path))} --dry-run  # check the plan")
        return steps


def _shown(name: str) -> str:
    """A name from a stranger's document, on one line and not too long."""
    return name if name.isprintable() and len(name) <= 80 else json.dumps(name)[:80]
