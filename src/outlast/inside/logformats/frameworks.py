"""Formats that the general way would misread: counts from zero, evaluation lines, boosting rounds, TensorFlow 1."""

from __future__ import annotations

import re
from typing import Optional

from .plain import read_plain, read_values
from .reading import Context, Reading
from .text import to_number

_MINDVISION = re.compile(r"Epoch:\[\s*\d+/\s*\d+\], step:\[\s*\d+/\s*\d+\], loss:\[[^\]]*\], time:")
_ESTIMATOR_EVAL = re.compile(r"Saving dict for global step (?P<step>\d+):(?P<values>.*)$")
_ESTIMATOR_RATE = re.compile(r"global_step/sec: (?P<rate>[\d.]+(?:e[-+]?\d+)?)\s*$")
_BOOSTING = re.compile(r"^\s*(?:\[[\w:]+\]\s*)?\[(?P<round>\d+)\]\s(?P<values>.*[:=].*)$")
_CATBOOST = re.compile(r"^(?P<round>\d+):\s+(?P<values>learn: .*)$")
_CATBOOST_PAIR = re.compile(r"\b(learn|test\d*): (-?\d+\.?\d*(?:e[-+]?\d+)?)")


def read_mindvision(text: str, context: Context) -> Optional[Reading]:
    """`Epoch:[  0/ 10], step:[ 1875/ 1875], loss:[0.123/0.457], time:2.500 ms, lr:0.01000`: epochs from zero."""
    if _MINDVISION.search(text) is None:
        return None
    reading = read_plain(text, context)
    if reading is not None and reading.epoch is not None:
        reading.epoch += 1
    return reading


def read_estimator(text: str, context: Context) -> Optional[Reading]:
    """TensorFlow 1: `Saving dict for global step 100: accuracy = 0.97, …` and `global_step/sec: 8.1`."""
    match = _ESTIMATOR_EVAL.search(text)
    if match is not None:
        values = read_values(match.group("values"), any_name=True, scope="eval")
        return Reading(step=int(match.group("step")), values=values)
    match = _ESTIMATOR_RATE.search(text)
    return None if match is None else Reading(values={"global_step/sec": to_number(match.group("rate"))})


def read_boosting(text: str, context: Context) -> Optional[Reading]:
    """XGBoost, LightGBM, CatBoost: `[0]<tab>train-rmse:0.48314`, `0:<tab>learn: 0.69`; in front is the round."""
    match = _CATBOOST.match(text)
    if match is not None:
        found = {name: to_number(number) for name, number in _CATBOOST_PAIR.findall(match.group("values"))}
        return Reading(step=int(match.group("round")), values=found)
    match = _BOOSTING.match(text)
    if match is None:
        return None
    values = read_values(match.group("values"), any_name=True)
    return Reading(step=int(match.group("round")), values=values) if values else None
