"""What a user typed, before anything is resolved, packed or checked against the disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.model.spec import Input
    from outlast.model.visitor import Visitor


@dataclass(frozen=True)
class RunRequest:
    """The words of `outlast run` (and of `client.runs.submit`). `None` means: not said, ask outlast.toml.

    `target` is a script, a folder with an `outlast.toml`, or a spec file. Relative data sources are relative to
    `cwd`; checkpoint and output places are relative to the script's folder.
    """

    target: str
    args: tuple[str, ...] = ()
    cwd: Path = field(default_factory=Path.cwd)
    data: tuple[str, ...] = ()  # "SRC" or "NAME=SRC"
    checkpoint: str | None = None
    output: str | tuple[str, ...] | None = None  # "PATH" or "NAME=TARGET", one or several
    limit: str | None = None  # "1h"
    stints: str | None = None  # "auto" or a number
    until: str | None = None
    params: tuple[str, ...] = ()  # "lr=0.1"
    running_parameters: str | None = None  # the same as forms take them: "lr=0.1;batch=4"
    requirements: str | None = None
    environment: str | None = None  # a named one; see `outlast environments`
    python: str | None = None
    env: tuple[str, ...] = ()  # "NAME=value", or "NAME" to take the value from here
    secrets: tuple[str, ...] = ()  # names
    secret_values: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)  # what it brings
    cpus: int | None = None
    memory: str | None = None
    gpus: int | None = None
    npus: int | None = None
    nodes: int | None = None
    name: str | None = None
    platform: str | None = None
    store: str | None = None  # an address, or a folder
    grace: str | None = None
    retries: int | None = None
    network: bool | None = None
    sandbox: str | None = None  # auto, on, off
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    allow_secret_files: bool | None = None
    contract: str | None = None  # plain, modelarts, modelarts-v1, xihe
    drop_unknown: bool | None = None  # leave out options of the contract that the script would refuse
    ma_log: bool | None = None  # the log also in MA_LOG beside the script
    trial: Path | None = None  # named outputs go below this folder instead of to their targets
    user: str | None = None  # whom an OpenPAI job is told that it belongs to
    of: str | None = None  # the run whose results are evaluated
    aim: bool | None = None  # keep an Aim repository with the run
    code_asset: str = ""  # what the code is in the hub, pinned: project:owner/name@commit
    inputs: tuple[Input, ...] | None = None  # found by the machine that asks; `data` and [data] are not looked at then
    visitor: Visitor | None = None  # who asks the hub for inputs; None: whoever uses this home
