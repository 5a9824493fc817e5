"""`outlast import openpai`: an outlast.toml that does what a job file does."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from outlast.errors import SpecError
from outlast.inside.contracts.openpai.job import Job, Role
from outlast.operations.openpai import JobFile, read_job
from outlast.operations.tomlfile import FILE_NAME
from outlast.operations.tomltext import TomlText, write_new
from outlast.settings import Settings

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
# What only a shell understands; a command with any of it stays with the job file.
_SHELL = re.compile(r"[;&|<>$`(){}*?~\n#!]")
_MODULE_BYTES = 1 << 20


@dataclass(frozen=True)
class Imported:
    """What was written, and how the job is now started."""

    path: Path
    script: str
    text: str
    why: str  # why it still needs the job file; empty: it does not


def import_openpai(
    settings: Settings, job_file: str | Path, output: str | Path | None = None, *, force: bool = False
) -> Imported:
    """Write an outlast.toml for a job file and say what is in it. An existing file stays unless `force` is given.

    A job of one instance whose command is `python script …` becomes an ordinary run of that script. Whatever needs
    more than that (roles, the shell, `PAI_*` variables) names the job file as its script.
    """
    found = read_job(Path(job_file).absolute(), settings.user)
    path = Path(output).absolute() if output else found.folder / FILE_NAME
    made = _make(found, path)
    write_new(path, made.text, force=force)
    return made


def _make(found: JobFile, path: Path) -> Imported:
    command, why = _plain_command(found)
    if command is None:
        return _written(path, found, found.path, [], why)
    script, *arguments = command
    return _written(path, found, found.folder / script, arguments, "")


def _written(path: Path, found: JobFile, script: Path, arguments: list[str], why: str) -> Imported:
    if not script.is_relative_to(path.parent):
        raise SpecError(f"{script} does not lie below {path.parent}", hint=f"write it to {found.folder / FILE_NAME}")
    name = script.relative_to(path.parent).as_posix()
    run: dict[str, object] = {"script": name, "name": found.job.name[:63]}
    if arguments:
        run["args"] = arguments
    if not why:
        run["retries"] = max(0, found.job.retries)
    toml = TomlText()
    toml.note(f"From the OpenPAI job file {found.path.name}. The command line wins over this file.")
    toml.table("run")
    for key, value in run.items():
        toml.key(key, value)
    if not why:
        _write_tables(toml, found.job)
    return Imported(path, name, str(toml), why)


def _write_tables(toml: TomlText, job: Job) -> None:
    role = job.roles[0]
    toml.table("resources", "what the job asks for; --cpus and --gpus win over it")
    toml.key("cpus", max(1, role.cpu))
    toml.key("gpus", role.gpu)
    if job.env:
        toml.table("env")
        for key, value in job.env.items():
            toml.key(key, value)


def _plain_command(found: JobFile) -> tuple[list[str] | None, str]:
    """(the script and its arguments, "") or (None, why the job file is still needed)."""
    job = found.job
    role = job.roles[0]
    if job.task_count != 1:
        return None, f"it has {job.task_count} instances"
    if job.secrets or job.retries < 0 or set(role.ports) - {"http", "ssh"}:
        return None, "it has secrets, ports, or a retryCount below 0"
    words = _words(role, job.code_name)
    if words is None:
        return None, "its command is more than a python script with arguments"
    if not (found.folder / words[0]).is_file():
        return None, f"{words[0]} is not in {found.folder}"
    using = next((file for file in found.modules() if _mentions_pai(found.folder / file)), None)
    if using is not None:
        return None, f"{using} reads PAI_ variables"
    return words, ""


def _words(role: Role, code_name: str) -> list[str] | None:
    """`cd code && python -u train.py --lr 0.1` as `train.py --lr 0.1`."""
    command = role.command.strip()
    if code_name:
        command = re.sub(rf"^cd (\./)?{re.escape(code_name)}/?\s*(&&|;|\n)\s*", "", command)
    if _SHELL.search(command):
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if not words or not _PYTHON.fullmatch(words[0]):
        return None
    words = words[2:] if words[1:2] == ["-u"] else words[1:]
    if not words or not words[0].endswith(".py"):
        return None
    script = words[0].removeprefix("./")
    return [script.removeprefix(f"{code_name}/") if code_name else script, *words[1:]]


def _mentions_pai(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"PAI_" in file.read(_MODULE_BYTES)
    except OSError:
        return False
