"""Formats that the general way would misread: counts from zero, evaluation lines, boosting rounds, column tables."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence, Tuple

from .names import spell
from .plain import read_plain, read_values
from .reading import Context, Reading
from .text import to_number

_MINDVISION = re.compile(r"Epoch:\[\s*\d+/\s*\d+\], step:\[\s*\d+/\s*\d+\], loss:\[[^\]]*\], time:")
_ESTIMATOR_EVAL = re.compile(r"Saving dict for global step (?P<step>\d+):(?P<values>.*)$")
_ESTIMATOR_RATE = re.compile(r"global_step/sec: (?P<rate>[\d.]+(?:e[-+]?\d+)?)\s*$")
_BOOSTING = re.compile(r"^\s*(?:\[\w+\]\s*)?\[(?P<round>\d+)\]\s(?P<values>.*[:=].*)$")
_CELL = re.compile(r"^[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)$", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\s*(?P<epoch>\d+)/(?P<epochs>\d+)\s+(?P<cells>.*?)(?::\s+\d+%.*)?$")
#: Precision and recall of boxes or masks, then the mean average precisions, as Ultralytics heads them.
_CLASS_HEADER = re.compile(r"^\s*Class\s+Images\s+Instances\s+(?P<names>.*?)(?::\s+\d+%.*)?$")
_CLASS_ROW = re.compile(r"^\s*all\s+\d+\s+\d+\s+(?P<cells>[\d.\sa-z]+?)\s*$")


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
    """XGBoost and LightGBM: `[0]<tab>train-rmse:0.48314`; the number in front is the boosting round."""
    match = _BOOSTING.match(text)
    if match is None:
        return None
    values = read_values(match.group("values"), any_name=True)
    return Reading(step=int(match.group("round")), values=values) if values else None


def read_table(text: str, context: Context) -> Optional[Reading]:
    """Ultralytics: a header names the columns, `1/100 2.1G 1.234 …` fills them; `all 128 929 …` is the validation."""
    if "GPU_mem" in text and text.split()[:1] == ["Epoch"]:
        context.columns = tuple(text.split()[1:])
        return Reading()
    match = _CLASS_HEADER.match(text)
    if match is not None and context.columns:
        context.class_names = _class_names(match.group("names"))
        return Reading()
    match = _CLASS_ROW.match(text) if context.class_names else None
    if match is not None:
        names, context.class_names = context.class_names, ()
        return Reading(values=_fill(names, match.group("cells").split()))
    match = _TABLE_ROW.match(text) if context.columns else None
    if match is None:
        return None
    cells = match.group("cells").split()
    if len(cells) != len(context.columns):
        return None
    values = _fill([name if "loss" in name.lower() else "" for name in context.columns], cells)
    return Reading(float(match.group("epoch")), float(match.group("epochs")), values=values) if values else None


def _class_names(text: str) -> Tuple[str, ...]:
    """`Box(P R mAP50 mAP50-95) Mask(P …)` → val_box_precision, val_box_recall, val_box_map50, val_box_map50-95 …"""
    names: List[str] = []
    group = ""
    for word in text.split():
        if "(" in word:
            group, word = word.split("(", 1)  # noqa: PLW2901 - the word without its group
        word = {"P": "precision", "R": "recall"}.get(word.rstrip(")"), word.rstrip(")"))  # noqa: PLW2901
        names.append("_".join(part for part in ("val", group.lower(), word.lower()) if part))
    return tuple(names)


def _fill(names: Sequence[str], cells: List[str]) -> Dict[str, float]:
    found = {spell(name): cell for name, cell in zip(names, cells) if name and _CELL.match(cell)}
    return {name: to_number(cell) for name, cell in found.items() if name}
