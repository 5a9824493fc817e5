"""What a user asks for: the run's specification, checked field by field."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from outlast.model.quantities import parse_duration, parse_size

NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}", re.IGNORECASE)

#: Where `outlast.save` puts its files when the user names no checkpoint place.
DEFAULT_CHECKPOINT = ".outlast/checkpoint"


def _inside_path(value: str) -> str:
    """A relative path that stays inside the work folder, normalised, without a trailing slash."""
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{value!r} is outside the work folder; give a path below the script's folder, like 'ckpt'")
    if str(path) == ".":
        raise ValueError("the work folder itself cannot be used here; name a folder below it, like 'ckpt'")
    return str(path)


def _name(value: str) -> str:
    if not NAME_PATTERN.fullmatch(value):
        raise ValueError(f"{value!r} is not a name; use letters, digits, '.', '_' and '-', at most 63, e.g. 'mnist-a1'")
    return value


InsidePath = Annotated[str, AfterValidator(_inside_path)]
Name = Annotated[str, AfterValidator(_name)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Input(_Model):
    """Data that the script finds at a path of its work folder."""

    name: Name
    source: str = Field(description="address of the data: file:///abs/path, s3://, obs:// or hdfs://")
    path: str = Field(
        description="where the script looks: relative to its folder (`mnist`, `../data`), or an absolute path"
    )
    writable: bool = Field(default=False, description="give every stint its own copy instead of a read-only view")


class Resources(_Model):
    """What one stint needs of its machine."""

    cpus: int = Field(default=1, ge=1, description="processor cores")
    memory_bytes: int | None = Field(default=None, ge=1, description="memory; none means no limit")
    gpus: int = Field(default=0, ge=0, description="NVIDIA cards")
    npus: int = Field(default=0, ge=0, description="Ascend cards")


class CodePack(_Model):
    """The packed code folder: a reproducible tar in the blob store."""

    sha256: str
    size_bytes: int
    files: int


class RunSpec(_Model):
    """Everything that decides what a run does. Written once as `spec.json`; holds no secret values."""

    format: Literal[1] = 1
    id: str
    name: Name
    user: str
    created_at: str
    script: str = Field(description="the script, relative to the code folder")
    args: tuple[str, ...] = ()
    params: dict[str, str] = Field(default_factory=dict, description="passed to the script as --name=value")
    code: CodePack
    code_folder: str = Field(default="", description="where the code was packed from, for messages only")
    python: str = Field(description="interpreter of the script: an absolute path, or a name looked up on PATH")
    requirements: str | None = Field(default=None, description="requirements file, relative to the code folder")
    env: dict[str, str] = Field(default_factory=dict)
    secrets: tuple[str, ...] = Field(default=(), description="names only; the values stay in the home folder's secrets")
    inputs: tuple[Input, ...] = ()
    checkpoint: InsidePath = DEFAULT_CHECKPOINT
    output: InsidePath | None = None
    limit_s: float | None = Field(default=None, gt=0, description="time limit of one stint")
    max_stints: int | None = Field(default=None, ge=1, description="none: as many as it takes")
    until: str | None = None
    grace_s: float = Field(default=10.0, ge=0)
    script_retries: int = Field(
        default=1, ge=0, description="how often a failing script is started again after progress"
    )
    resources: Resources = Resources()
    platforms: tuple[str, ...] = ("local",)
    network: bool = True
    sandbox: Literal["auto", "on", "off"] = "auto"
    contract: Literal["plain", "openpai"] = "plain"
    job: dict[str, Any] | None = Field(default=None, description="the OpenPAI job that this run carries out")
    store: str = Field(description="address of the store that holds the run folder")


__all__ = [
    "DEFAULT_CHECKPOINT", "CodePack", "Input", "InsidePath", "Name", "Resources", "RunSpec",
    "parse_duration", "parse_size",
]  # fmt: skip
