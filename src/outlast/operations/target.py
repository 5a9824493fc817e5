"""What `outlast run TARGET` means: which script, which code folder, and which outlast.toml speaks for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from outlast.errors import SpecError
from outlast.operations.problems import guess_path
from outlast.operations.tomlfile import FILE_NAME, TomlFile, read_toml

#: Scripts that a folder may mean when nothing names one.
_USUAL = ("train.py", "main.py")


#: A target of this kind is a job of OpenPAI, not a script.
_JOB_SUFFIXES = (".json", ".jsonc", ".yaml", ".yml")


@dataclass(frozen=True)
class Target:
    """A script that exists, and its surroundings."""

    folder: Path  # the code folder, absolute
    script: str  # relative to it, with forward slashes
    toml: TomlFile | None
    name: str  # what a run of it is called when the user does not say

    @property
    def is_job(self) -> bool:
        return self.script.endswith(_JOB_SUFFIXES)


#: What file systems take; a longer name is a mistake, such as a text given for a path.
_NAME_LIMIT_BYTES = 255


def find_target(target: str, cwd: Path) -> Target:
    """A script or an OpenPAI job file (its folder is the code folder), a folder with an outlast.toml, or a spec file.

    The outlast.toml in the code folder speaks for a script too.
    """
    path = absolute(target, cwd)
    if not path.exists():
        near = guess_path(target, path)
        raise SpecError(
            f"no such script or folder: {target} (in {cwd}){near}",
            hint="" if near else "give a script, a folder with outlast.toml or a spec file, like: outlast run train.py",
        )
    if path.is_dir():
        toml = _toml_in(path)
        return Target(path, _named_script(path, toml), toml, path.name)
    if path.suffix == ".toml":
        toml = read_toml(path)
        script = _named_script(path.parent, toml)
        name = path.parent.name if path.name == FILE_NAME else path.stem
        return Target(path.parent, script, toml, name)
    _require_runnable(path, target)
    return Target(path.parent, path.name, _toml_in(path.parent), path.stem)


def absolute(given: str, base: Path) -> Path:
    """`given` as an absolute path without `..`; links stay as they are, `~` is the home folder."""
    try:
        path = Path(given).expanduser()
    except RuntimeError:
        path = Path(given)
    path = Path(os.path.abspath(base / path))  # noqa: PTH100 (Path.resolve would follow links)
    long = next((part for part in path.parts if len(os.fsencode(part)) > _NAME_LIMIT_BYTES), None)
    if long is not None:
        raise SpecError(f"no file can have a name as long as {long[:20]}… ({len(os.fsencode(long))} bytes)")
    return path


def _toml_in(folder: Path) -> TomlFile | None:
    path = folder / FILE_NAME
    return read_toml(path) if path.is_file() else None


def _named_script(folder: Path, toml: TomlFile | None) -> str:
    given = toml.values.get(("run", "script")) if toml else None
    if toml is None or given is None:
        return _usual_script(folder, toml)
    path = absolute(given, folder)
    where = f"run.script = {given!r} in {toml.path}"
    if not path.is_relative_to(folder) or path == folder:
        raise SpecError(f"{where} is outside the folder of that file", hint=f"move {toml.path.name} above the script")
    if not path.exists():
        raise SpecError(f"{where}: no such file{guess_path(given, path)}")
    _require_runnable(path, where)
    return PurePosixPath(path.relative_to(folder)).as_posix()


def _usual_script(folder: Path, toml: TomlFile | None) -> str:
    found = [name for name in _USUAL if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise SpecError(
            f"{folder} holds both {found[0]} and {found[1]}",
            hint=f"name one, like: outlast run {folder / found[0]}",
        )
    if toml is not None:
        raise SpecError(f"{toml.path} names no script", hint='add script = "train.py" under [run]')
    raise SpecError(
        f"{folder} has no {FILE_NAME}, no {_USUAL[0]} and no {_USUAL[1]}",
        hint=f"name the script itself, or write one with: outlast init {folder}",
    )


def _require_runnable(path: Path, shown: str) -> None:
    if not path.is_file():
        raise SpecError(f"{shown} is not a file that can be run", hint="give a script, or a folder with outlast.toml")
    if not os.access(path, os.R_OK):
        raise SpecError(f"{shown} cannot be read: no permission", hint=f"allow it with: chmod u+r {path}")
    if path.suffix not in (".py", ".sh", *_JOB_SUFFIXES) and not os.access(path, os.X_OK):
        raise SpecError(
            f"{shown} is neither a .py or .sh script nor executable",
            hint=f"make it executable with: chmod +x {path}",
        )
