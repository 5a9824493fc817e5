"""The run folder as the simulated world has it: written once, and refusing what may never happen."""

from __future__ import annotations

from dataclasses import dataclass

from outlast.model.states import EndReason
from outlast.relay import Policy


class PromiseBroken(AssertionError):
    """The world saw something that may never happen."""


def require(condition: bool, words: str) -> None:
    if not condition:
        raise PromiseBroken(words)


@dataclass(slots=True)
class Script:
    """How the training behaves: `total` units of work, a save every `save_every`, `limit` units per stint."""

    total: int = 12
    save_every: int = 2
    limit: int = 5
    saves: bool = True
    fails_at: int | None = None  # always fails there, with the same error
    fails_once_at: int | None = None  # fails there the first time only


@dataclass(slots=True)
class Manifest:
    stint: int
    parent: str | None
    position: int


@dataclass(slots=True)
class End:
    reason: EndReason
    by: str
    fingerprint: str = ""
    exit_code: int | None = None
    position: int | None = None


class Folder:
    """The run folder. Everything but beats and control is written once; the rules of the format are checked here."""

    def __init__(self) -> None:
        self.orders: dict[int, str | None] = {}
        self.claims: set[int] = set()
        self.ends: dict[int, End] = {}
        self.manifests: dict[str, Manifest] = {}
        self.of_stint: dict[int, list[str]] = {}
        self.beats: dict[int, int] = {}
        self.highest_at_end: dict[int, str | None] = {}
        self.want = "go"
        self.since_stint = 1
        self.resume_from: str | None = None

    def put_order(self, stint: int, resume_from: str | None) -> bool:
        if stint in self.orders:
            return False
        require(stint == len(self.orders) + 1, f"order {stint} skips a number")
        open_stints = [number for number in self.orders if number not in self.ends]
        require(not open_stints, f"order {stint} was written while stint {open_stints} is open")
        if stint > 1 and stint > self.since_stint:
            least = self.highest_at_end[stint - 1]
            require(
                least is None or (resume_from is not None and resume_from >= least),
                f"order {stint} resumes from {resume_from} although {least} was committed",
            )
        require(resume_from is None or resume_from in self.manifests, f"order {stint}: no checkpoint {resume_from}")
        self.orders[stint] = resume_from
        return True

    def put_claim(self, stint: int) -> bool:
        require(stint in self.orders, f"claim {stint} without an order")
        if stint in self.claims:
            return False
        self.claims.add(stint)
        return True

    def put_end(self, stint: int, end: End) -> bool:
        require(stint in self.orders, f"end {stint} without an order")
        if stint in self.ends:
            return False
        self.ends[stint] = end
        self.highest_at_end[stint] = max(self.manifests, default=None)
        return True

    def put_manifest(self, stint: int, number: int, manifest: Manifest) -> None:
        name = f"{stint:04d}-{number:06d}"
        require(name not in self.manifests, f"manifest {name} is rewritten")
        earlier = self.of_stint.setdefault(stint, [])
        expected = earlier[-1] if earlier else self.orders[stint]
        require(manifest.parent == expected, f"{name} continues {manifest.parent}, not {expected}")
        before = self.manifests[expected].position if expected is not None else 0
        require(manifest.position >= before, f"{name} goes back from {before} to {manifest.position}")
        self.manifests[name] = manifest
        earlier.append(name)

    def check_history(self) -> None:
        """The line from the last checkpoint back to the start is one line, and never goes back."""
        name = max(self.manifests, default=None)
        while name is not None:
            manifest = self.manifests[name]
            if manifest.parent is not None:
                require(manifest.parent < name, f"{name} continues the later {manifest.parent}")
                require(
                    self.manifests[manifest.parent].position <= manifest.position,
                    f"{name} is behind its parent",
                )
            name = manifest.parent

    def why_failed(self, policy: Policy) -> str:
        """An account of a failure that does not ask the relay: which rule of the table can explain it."""
        ends = [(n, e) for n, e in self.ends.items() if n >= self.since_stint]
        idle: list[End] = []
        for number, end in reversed(ends):
            if self.of_stint.get(number):
                break
            idle.append(end)
        gone = sum(end.reason in (EndReason.LOST, EndReason.PREEMPTED) for end in idle)
        if gone >= policy.lost_limit:
            return "lost too often"
        limits = sum(end.reason is EndReason.TIME_LIMIT for end in idle)
        if limits and (not self.manifests or limits >= policy.no_progress_limit):
            return "limit without a checkpoint"
        if ends and ends[-1][1].reason is EndReason.SCRIPT_ERROR:
            return "script error"
        return ""
