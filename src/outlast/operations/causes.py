"""Why an interrupted training came out differently: a guess from what differed first."""

from __future__ import annotations

import re
from collections.abc import Sequence

from outlast.operations.compare import SAMPLES, Difference, Training

_BY_NAME = (
    (
        r"optim|moment|exp_avg|adam|velocity|param_groups",
        "the optimizer's state is not saved, or not loaded: keep optimizer.state_dict() beside the weights",
    ),
    (
        r"rng|random|generator|seed",
        "the state of a random generator is not restored: save and load it; random, numpy and torch each have one",
    ),
    (
        r"sched|(?:^|[^a-z])lr(?:$|[^a-z])|learning_rate",
        "the learning-rate schedule starts anew: save and load its state",
    ),
    (
        r"(?:^|[^a-z])ema|running_|average|best|history",
        "something is kept in memory over epochs, like a running average or the best value so far, and is not in the "
        "checkpoint",
    ),
    (r"epoch|step|iteration", "the saved counter is not where the training is: save the number of finished epochs"),
)

SAMPLE_ORDER = (
    "the order of the data starts anew after a cut: seed the shuffling from the epoch number, or save and load the "
    "state of its random generator"
)
FROM_THE_START = "the script starts from the beginning after a cut: it must load what it finds in its checkpoint place"
OPTIMIZER = (
    "the samples are the same but the result is not: the optimizer's state, the learning-rate schedule or the random "
    "generator of dropout is not restored"
)
STATE = (
    "part of the state is not restored: the optimizer, the learning-rate schedule, or a random generator; "
    "outlast.track(samples=indices) would tell whether the order of the data is the same"
)
NOT_REPEATABLE = (
    "it differs before any cut, so two straight trainings would differ too: seed every random generator, or compare "
    "with a tolerance"
)
COUNTER_LOW = "an epoch is done twice: the saved epoch counter is one too low; save the number of finished epochs"
COUNTER_HIGH = "an epoch is left out after a cut: the saved epoch counter is one too high"
TOO_LONG = "the training goes on for too long after a cut: start counting at the saved epoch, not at 0"
ONLY_FILES = (
    "all recorded values agree, so what differs is kept beside the model: something is written that the checkpoint "
    "does not hold"
)


def likely_cause(differences: Sequence[Difference], straight: Training, interrupted: Training) -> str:
    """One sentence on what is probably wrong, from what differed first; empty when nothing does."""
    if not differences:
        return ""
    first = differences[0]
    if first.place is None:
        return _by_name(first.what) or ONLY_FILES
    if first.cut is None:
        return NOT_REPEATABLE
    if first.kind == "extra":
        return TOO_LONG
    if first.kind == "missing":
        return COUNTER_HIGH
    if first.kind == "samples":
        return SAMPLE_ORDER
    if _starts_over(first, straight):
        return FROM_THE_START
    if _done_twice(first, interrupted):
        return COUNTER_LOW
    if any(SAMPLES in point.values for point in straight.series):
        return OPTIMIZER
    return _by_name(first.what) or STATE


def _by_name(what: str) -> str:
    name = what.lower()
    return next((cause for pattern, cause in _BY_NAME if re.search(pattern, name)), "")


def _starts_over(first: Difference, straight: Training) -> bool:
    """Whether the value after the cut is about what the straight training had at its very start."""
    begin = next((point.values[first.what] for point in straight.series if first.what in point.values), None)
    try:
        start, ours, theirs = float(begin or "nan"), float(first.straight), float(first.interrupted)
    except ValueError:
        return False
    return abs(theirs - start) < 0.1 * abs(ours - start)


def _done_twice(first: Difference, interrupted: Training) -> bool:
    """Whether the place was recorded before, and a cut says that it was finished by then."""
    times = sum(point.place == first.place and first.what in point.values for point in interrupted.series)
    return times > 1 and first.place is not None and any(cut.order == first.place.order for cut in interrupted.cuts)
