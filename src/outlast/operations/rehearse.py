"""Rehearse a training: run it straight, run it again with cuts, and name the first thing that differs.

How a training is run and cut is passed in, so that the same rehearsal works on every platform.
"""

from __future__ import annotations

import bisect
import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from outlast.model.quantities import format_duration
from outlast.operations.causes import likely_cause
from outlast.operations.compare import Difference, Training, compare_trainings

# Cuts keep this share of the training away from its ends: the first line and the last save are not the point.
_EDGE = 0.05


@dataclass(frozen=True)
class Cut:
    """Where a stint of the interrupted training ends.

    `at_s` counts along the straight training; `run_s` is how long the script of that stint runs until then, counted
    from where it resumed. A safe cut asks the script to leave right after a checkpoint; an unsafe one kills it.
    """

    kind: Literal["safe", "unsafe"]
    at_s: float
    run_s: float


class RunOnce(Protocol):
    """Train once from the start, with these cuts, on fresh folders; return what is left of it."""

    def __call__(self, cuts: Sequence[Cut]) -> Training: ...


@dataclass(frozen=True)
class Rehearsal:
    """The outcome. `agree` decides the exit code; `sentence` is the first line to show."""

    agree: bool
    sentence: str
    cause: str = ""
    differences: tuple[Difference, ...] = ()
    cuts: tuple[Cut, ...] = ()
    seed: int = 0
    repeatable: bool | None = None  # whether two straight trainings agree; None: it was not tried


def plan_cuts(duration_s: float, checkpoints_at: Sequence[float], seed: int, count: int) -> list[Cut]:
    """Choose the moments: about half of them safe, in time order, the same for the same seed.

    Safe cuts follow distinct checkpoints, unsafe ones fall anywhere between them. Fewer than `count` come back when
    the training has too few checkpoints or is over too soon.
    """
    rng = random.Random(seed)
    early, late = duration_s * _EDGE, duration_s * (1 - _EDGE)
    saves = sorted(at_s for at_s in checkpoints_at if 0 < at_s < late)
    safe = rng.sample(saves, min(len(saves), count // 2))
    unsafe_count = count - len(safe) if late > early else 0
    moments: list[tuple[float, Literal["safe", "unsafe"]]] = [(at_s, "safe") for at_s in safe]
    moments += [(rng.uniform(early, late), "unsafe") for _ in range(unsafe_count)]
    cuts: list[Cut] = []
    resumed_s = 0.0
    for at_s, kind in sorted(moments):
        cuts.append(Cut(kind, at_s, at_s - resumed_s))
        saved = bisect.bisect_right(saves, at_s)
        # What a safe cut leaves is fresh; an unsafe one falls back to the last save, or to the start.
        resumed_s = saves[saved - 1] if saved else 0.0
    return cuts


def rehearse(
    run_once: RunOnce,
    *,
    count: int = 4,
    seed: int | None = None,
    tolerance: float = 0.0,
    ignore: Sequence[str] = (),
    confirm: bool = True,
    tell: Callable[[str], None] = lambda words: None,
) -> Rehearsal:
    """Run straight, then interrupted, and compare.

    When they differ and `confirm` is set, a second straight training tells whether the script repeats itself at all:
    only then is the resuming to blame. `tell` hears what is being done.
    """
    chosen = secrets.randbits(31) if seed is None else seed
    tell("training straight")
    straight = run_once(())
    cuts = tuple(plan_cuts(straight.duration_s, straight.checkpoints_at_s, chosen, count))
    problem = _cannot_cut(straight, cuts)
    if problem:
        return Rehearsal(False, problem, seed=chosen)
    tell(f"training again with {_describe(cuts)} (seed {chosen})")
    interrupted = run_once(cuts)
    differences = tuple(compare_trainings(straight, interrupted, tolerance=tolerance, ignore=ignore))
    if not differences:
        words = f"both trainings agree: {_compared(straight)}, {_describe(cuts)}"
        return Rehearsal(True, words, cuts=cuts, seed=chosen)
    repeatable = None
    if confirm:
        tell("they differ; training straight once more, to see whether the script repeats itself")
        repeatable = not compare_trainings(straight, run_once(()), tolerance=tolerance, ignore=ignore)
    cause = likely_cause(differences, straight, interrupted)
    if repeatable is False:
        cause = (
            "two straight trainings differ as well, so this says nothing about resuming yet: seed every random "
            "generator, or compare with a tolerance"
        )
    return Rehearsal(False, str(differences[0]), cause, differences, cuts, chosen, repeatable)


def _cannot_cut(straight: Training, cuts: Sequence[Cut]) -> str:
    took = format_duration(straight.duration_s)
    if not straight.checkpoints_at_s:
        return (
            f"the script saved no checkpoint in {took}, so there is nothing to resume from; name the place where it "
            "saves with --checkpoint PATH, or use outlast.save in it"
        )
    if not cuts:
        return f"the training was over after {took}, too soon to be cut; rehearse more epochs"
    return ""


def _describe(cuts: Sequence[Cut]) -> str:
    safe = sum(cut.kind == "safe" for cut in cuts)
    return f"{len(cuts)} cut{'' if len(cuts) == 1 else 's'} ({safe} safe, {len(cuts) - safe} unsafe)"


def _compared(training: Training) -> str:
    values = sum(len(point.values) for point in training.series)
    files = len({*training.outputs, *training.checkpoint})
    return f"{values} value{'' if values == 1 else 's'}, {files} file{'' if files == 1 else 's'}"
