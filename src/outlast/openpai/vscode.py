"""The VS Code client's settings of a workspace: which files it uploads, and whether it makes up names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import SpecError
from outlast.openpai.jsonc import load_jsonc

#: What the client proposes, and writes down, when the workspace says nothing.
PROPOSED_INCLUDE = ("**/*.py",)
_FILE = Path(".vscode/settings.json")
_PREFIX = "pai.job."


@dataclass(frozen=True)
class VsCodeSettings:
    """What `.vscode/settings.json` says; None where the client would ask."""

    upload: bool | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    generate_name: bool | None = None


def find_workspace(job_file: Path) -> Path:
    """The folder that VS Code would have open: the nearest above a job file that has settings, else the file's own."""
    folders = job_file.parents
    return next((folder for folder in folders if (folder / _FILE).is_file()), folders[0])


def read_settings(workspace: Path) -> VsCodeSettings:
    """The settings of a workspace; those of VS Code itself, which lie elsewhere, are not looked at."""
    path = workspace / _FILE
    if not path.is_file():
        return VsCodeSettings()
    body = load_jsonc(path.read_text("utf-8"), str(path))
    if not isinstance(body, dict):
        raise SpecError(f"{path} must hold an object")
    include = _globs(body, "upload.include", path)
    return VsCodeSettings(
        upload=_switch(body, "upload.enabled", path),
        include=PROPOSED_INCLUDE if include is None else include,
        exclude=_globs(body, "upload.exclude", path) or (),
        generate_name=_switch(body, "generateJobName.enabled", path),
    )


def _switch(body: dict[str, Any], name: str, path: Path) -> bool | None:
    value = body.get(_PREFIX + name)
    if not isinstance(value, bool | None):
        raise SpecError(f"{path}: {_PREFIX}{name} must be true, false or null")
    return value


def _globs(body: dict[str, Any], name: str, path: Path) -> tuple[str, ...] | None:
    value = body.get(_PREFIX + name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise SpecError(f"{path}: {_PREFIX}{name} must be a list of patterns", hint='write it like ["**/*.py"]')
    return tuple(value)
