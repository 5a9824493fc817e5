"""What a user asks for: the run's specification, checked field by field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from outlast.model.quantities import parse_duration, parse_size
from outlast.model.shape import plain, read

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.IGNORECASE)

#: What a script can be promised; `openpai` is the one of job files.
Contract = Literal["plain", "modelarts", "modelarts-v1", "xihe", "openpai"]

#: Where `outlast.save` puts its files when the user names no checkpoint place.
DEFAULT_CHECKPOINT = ".outlast/checkpoint"


def inside_path(value: str) -> str:
    """A relative path that stays inside the work folder, normalised, without a trailing slash."""
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{value!r} is outside the work folder; give a path below the script's folder, like 'ckpt'")
    if str(path) == ".":
        raise ValueError("the work folder itself cannot be used here; name a folder below it, like 'ckpt'")
    return str(path)


def _check_name(value: str) -> None:
    if not NAME_PATTERN.fullmatch(value):
        raise ValueError(f"{value!r} is not a name; use letters, digits, '.', '_' and '-', at most 63, e.g. 'mnist-a1'")


def _check_at_least(least: float, **values: float | None) -> None:
    for name, value in values.items():
        if value is not None and value < least:
            raise ValueError(f"{name} is {value}; it must be {least} or more")


@dataclass(frozen=True, kw_only=True)
class Input:
    """Data that the script finds at a path of its work folder."""

    name: str
    source: str  # address of the data: file:///abs/path, s3://, obs:// or hdfs://
    path: str  # where the script looks: relative to its folder (`mnist`, `../data`), or an absolute path
    writable: bool = False  # every stint gets its own copy instead of a read-only view
    asset: str = ""  # what it is in the hub, pinned: model:owner/name/file@commit

    def __post_init__(self) -> None:
        _check_name(self.name)


@dataclass(frozen=True, kw_only=True)
class Output:
    """A folder that the script writes, and where its content shall be brought."""

    name: str
    path: str  # where the script writes it, relative to the code folder
    target: str  # where it is brought: file:///abs/path, s3://, obs:// or hdfs://

    def __post_init__(self) -> None:
        _check_name(self.name)
        object.__setattr__(self, "path", inside_path(self.path))


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one stint needs of its machine, or of each of its machines."""

    cpus: int = 1
    memory_bytes: int | None = None  # none: no limit
    gpus: int = 0  # NVIDIA cards
    npus: int = 0  # Ascend cards
    nodes: int = 1  # machines that run the script together

    def __post_init__(self) -> None:
        _check_at_least(1, cpus=self.cpus, memory_bytes=self.memory_bytes, nodes=self.nodes)
        _check_at_least(0, gpus=self.gpus, npus=self.npus)


@dataclass(frozen=True, kw_only=True)
class PinnedEnvironment:
    """A named environment as it was when the run was asked for: packages, or an image."""

    name: str
    requirements: tuple[str, ...] = ()  # lines of a requirements file
    image: str = ""


@dataclass(frozen=True, kw_only=True)
class CodePack:
    """The packed code folder: a reproducible tar in the blob store."""

    sha256: str
    size_bytes: int
    files: int
    asset: str = ""  # what it is in the hub, pinned: project:owner/name@commit


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """Everything that decides what a run does. Written once as `spec.json`; holds no secret values."""

    format: Literal[1] = 1
    id: str
    name: str
    user: str
    created_at: str
    script: str  # relative to the code folder
    args: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)  # passed to the script as --name=value
    code: CodePack
    code_folder: str = ""  # where the code was packed from, for messages only
    python: str  # interpreter of the script: an absolute path, or a name looked up on PATH
    requirements: str | None = None  # requirements file, relative to the code folder
    environment: PinnedEnvironment | None = None  # what the requirements are added to
    env: dict[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # names only; the values stay in the home folder's secrets
    inputs: tuple[Input, ...] = ()
    checkpoint: str = DEFAULT_CHECKPOINT
    output: str | None = None
    outputs: tuple[Output, ...] = ()  # outputs that are brought to an address
    limit_s: float | None = None  # time limit of one stint
    max_stints: int | None = None  # none: as many as it takes
    until: str | None = None
    metric_patterns: tuple[str, ...] = ()  # the user's own patterns for lines with metrics
    grace_s: float = 10.0
    script_retries: int = 1  # how often a failing script is started again after progress
    resources: Resources = Resources()
    platforms: tuple[str, ...] = ("local",)
    network: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    contract: Contract = "plain"
    maps: dict[str, str] = field(default_factory=dict)  # buckets and name nodes that folders play
    drop_args: tuple[str, ...] = ()  # options of the contract that the script does not know
    log_folder: str | None = None  # folder of this machine in which the log appears too
    job: dict[str, Any] | None = None  # the OpenPAI job that this run carries out
    sweep: str | None = None  # the sweep that this run is a member of
    of: str | None = None  # the run whose results this one evaluates
    aim: str | None = None  # folder of an Aim repository that is kept with the run
    store: str  # address of the store that holds the run folder

    def __post_init__(self) -> None:
        _check_name(self.name)
        for place in ("checkpoint", "output", "aim"):
            if getattr(self, place) is not None:
                object.__setattr__(self, place, inside_path(getattr(self, place)))
        if self.limit_s is not None and not self.limit_s > 0:
            raise ValueError(f"limit_s is {self.limit_s}; it must be more than 0")
        _check_at_least(1, max_stints=self.max_stints)
        _check_at_least(0, grace_s=self.grace_s, script_retries=self.script_retries)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> RunSpec:
        """The spec that a decoded `spec.json` holds. `ValueError` names the field that is wrong."""
        return read(cls, body)

    def to_json(self) -> dict[str, Any]:
        """What `spec.json` holds."""
        body: dict[str, Any] = plain(self)
        return body


__all__ = [
    "DEFAULT_CHECKPOINT", "NAME_PATTERN", "CodePack", "Contract", "Input", "Output", "PinnedEnvironment", "Resources",
    "RunSpec", "inside_path", "parse_duration", "parse_size",
]  # fmt: skip
