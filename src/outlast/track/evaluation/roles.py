"""What a metric's name says: measured on which data, and which metric of the other data is its counterpart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_WORDS = re.compile(r"[^a-z0-9]+")
_VALIDATION = frozenset({"val", "valid", "validation", "eval", "evaluation", "test", "dev", "holdout"})
_TRAINING = frozenset({"train", "training", "avg", "mean", "running"})
_SAME = {"accuracy": "acc", "top": "acc", "top1": "acc", "err": "error"}


def is_validation(name: str) -> bool:
    """Whether a metric was measured on data that the training did not use."""
    return not _VALIDATION.isdisjoint(_words(name))


def base_of(name: str) -> str:
    """The metric itself: `loss` of `val_loss`, `train/loss` and `avg_loss`."""
    return "_".join(word for word in _words(name) if word not in _VALIDATION | _TRAINING)


def counterpart(name: str, names: Iterable[str]) -> str | None:
    """The training metric that a validation metric belongs to; a training loss where there is no closer one."""
    training = [other for other in names if not is_validation(other)]
    same = [other for other in training if base_of(other) == base_of(name)]
    losses = [other for other in training if base_of(other) == "loss"]
    return min(same or losses, key=lambda other: (len(other), other), default=None)


def most_telling(signs: Mapping[str, int]) -> str | None:
    """The metric that a run is judged by: of the validation data if possible, an accuracy rather than a loss."""
    known = [name for name, sign in signs.items() if sign]
    return min(known, key=lambda name: (not is_validation(name), -signs[name], len(name), name), default=None)


def _words(name: str) -> list[str]:
    return [_SAME.get(word, word) for word in _WORDS.split(name.lower()) if word]
