"""The general way to read a line: progress, then every pair whose name is a metric, or any pair beside progress."""

from __future__ import annotations

from typing import Dict, Optional

from .names import Name, read_name, scoped
from .progress import is_config, read_progress, read_scope, sections
from .reading import Context, Reading
from .text import Pair, pairs


def read_plain(text: str, context: Context) -> Optional[Reading]:
    """Read any line of a training's output; None when it says nothing."""
    lower = text.lower()
    reading = read_progress(lower)
    scope = read_scope(lower) or context.scope
    any_name = reading.epoch is not None or reading.step is not None
    parts = sections(text) if not scope and "train" in lower else ()
    for part, part_scope in parts or ((text, scope),):
        reading.values.update(read_values(part, any_name=any_name, scope=part_scope))
    if is_config(lower) and not any(is_loss_or_accuracy(name) for name in reading.values):
        return Reading(epochs=reading.epochs) if reading.epochs is not None else None
    if not context.has_begun and reading.epoch is None and reading.step is None and _is_only_rates(reading.values):
        return None  # a configuration that is printed line by line
    if scope:
        reading.step = reading.steps = None  # counts the evaluation's batches, not the training's
    if reading.epoch is not None and "v_num" in lower:  # Lightning counts epochs from zero
        reading.epoch += 1
        reading.epochs = None if reading.epochs is None else reading.epochs + 1
    return None if reading.is_empty else reading


def _is_only_rates(values: Dict[str, float]) -> bool:
    return bool(values) and all(read_name(name).is_rate for name in values)


def is_loss_or_accuracy(name: str) -> bool:
    return name.endswith("loss") or read_name(name).is_accuracy


def read_values(text: str, *, any_name: bool, scope: str = "") -> Dict[str, float]:
    """The metrics of a line by name. `any_name` accepts names that are not known ones, save those never meant."""
    values: Dict[str, float] = {}
    near_progress = any_name or "step" in text or "poch" in text
    for pair in pairs(text):
        name = read_name(pair.name)
        if name.is_ignored:
            continue
        if pair.is_time:
            if near_progress and name.spelled.endswith("time"):
                values[scoped(name.spelled + "_s", scope)] = pair.value
        elif _is_metric(name, pair, any_name):
            _take(values, scoped(name.spelled, scope), pair, name.is_accuracy)
    return values


def _is_metric(name: Name, pair: Pair, any_name: bool) -> bool:
    if pair.sep == "":
        # `loss 3 of 5` counts something; `loss 0.35` is a loss, and so is `| loss 3 |`.
        return name.is_strong and (pair.fills_cell or not pair.is_plain_integer)
    if pair.sep == "is":
        return name.is_strong
    return name.is_strong or any_name or (name.is_weak and not pair.is_plain_integer)


def _take(values: Dict[str, float], name: str, pair: Pair, is_accuracy: bool) -> None:
    if pair.of is None:
        values[name] = pair.value
    elif pair.is_bracketed:  # `loss:[0.123/0.457]`: the last one and the mean of the epoch so far
        values[name] = pair.value
        values["avg_" + name] = pair.of
    elif is_accuracy and pair.of > 0:  # `Accuracy: 9840/10000 (98%)`
        values[name] = pair.value / pair.of
