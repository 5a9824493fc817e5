"""Runs as people and programs see them: what `ps`, `show` and the API print.

Plain dataclasses: `ps` must feel instant, and nothing here needs validation. The JSON names are a promise.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from outlast.model.states import EndReason, RunState, StintState

#: Ledger columns in the order they are shown. Seconds of machine time, except `queued`.
LEDGER_COLUMNS = (
    "queued", "fetching", "environment", "restoring", "starting", "useful", "saving", "replayed", "lost",
)  # fmt: skip


@dataclass(frozen=True)
class CheckpointView:
    """A committed checkpoint."""

    id: str
    stint: int
    created_at: str
    size_bytes: int
    files: int
    progress: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    parent: str | None = None


@dataclass(frozen=True)
class StintView:
    """One stint and how it ended."""

    number: int
    state: StintState
    platform: str
    reason: EndReason | None = None
    message: str = ""
    exit_code: int | None = None
    resumed_from: str | None = None
    last_checkpoint: str | None = None
    created_at: str = ""
    ended_at: str = ""
    phase: str = ""
    elapsed_s: float | None = None
    time_left_s: float | None = None
    limit_s: float | None = None
    epoch: float | None = None  # how far it came
    step: int | None = None
    why: str = ""  # why it went to that platform; empty: there was no choice
    detail: str = ""  # what the platform says: "waits for 1 cpu"
    events: tuple[str, ...] = ()  # what it wrote down while nothing was heard of the stint itself, newest last
    ledger: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class RunView:
    """One run; lists are filled by `show` only."""

    id: str
    name: str
    state: RunState
    platform: str
    created_at: str
    user: str = ""
    message: str = ""  # one sentence: why it failed, what it waits for
    stints: int = 0  # how many there have been, the current one included
    epoch: float | None = None
    epochs: float | None = None
    step: int | None = None
    steps: int | None = None
    rate: float | None = None
    rate_of: str = ""
    eta_s: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)  # last value of each
    best: dict[str, float] = field(default_factory=dict)  # of those that can get better
    params: dict[str, str] = field(default_factory=dict)
    last_checkpoint: str | None = None
    useful_fraction: float | None = None
    updated_at: str = ""
    store: str = ""
    used_s: dict[str, dict[str, float]] = field(default_factory=dict)  # machine time: platform → day → seconds
    device: dict[str, Any] = field(default_factory=dict)
    notice: str = ""
    sweep: str = ""  # the sweep that it is a member of
    of: str = ""  # the run whose results it evaluates
    assets: tuple[str, ...] = ()  # what it uses of the hub, pinned: its code and its inputs
    stint_list: tuple[StintView, ...] = ()
    checkpoints: tuple[CheckpointView, ...] = ()
    ledger: dict[str, float] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, dict[str, Any]] | None = None  # files of outputs.json once it exists

    def to_json(self, *, detail: bool = False) -> dict[str, Any]:
        """The object that `--json` prints: the short form for lists, with `detail` the whole of it.

        In the long form `stints` is the list of stints and `stint_count` their number, so that
        `show --json` reads naturally; in the short form `stints` is the number.
        """
        body = dataclasses.asdict(self)
        stint_list = body.pop("stint_list")
        if detail:
            body["stint_count"] = body["stints"]
            body["stints"] = stint_list
        else:
            for name in ("checkpoints", "ledger", "spec", "outputs", "device"):
                body.pop(name)
        return body
