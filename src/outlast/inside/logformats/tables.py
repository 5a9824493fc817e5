"""Numbers in columns: Ultralytics, fastai, and the boxes that Lightning and Stable-Baselines draw."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Sequence, Tuple

from .names import read_name, spell
from .reading import Context, Reading
from .text import to_number

_CELL = re.compile(r"^[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)$", re.IGNORECASE)
_TABLE_ROW = re.compile(r"^\s*(?P<epoch>\d+)/(?P<epochs>\d+)\s+(?P<cells>.*?)(?::\s+\d+%.*)?$")
#: fastai: `epoch     train_loss  valid_loss  accuracy  time`, then `0         0.52  0.31  0.91  00:05`
_FASTAI_HEADER = re.compile(r"^epoch\s+(?P<names>train_loss\s+valid_loss\s.*?)\s+time\s*$")
_FASTAI_ROW = re.compile(r"^(?P<epoch>\d+)\s+(?P<cells>[\d.\snaif]*?)\s+\d+:\d+(?::\d+)?\s*$")
#: Precision and recall of boxes or masks, then the mean average precisions, as Ultralytics heads them.
_CLASS_HEADER = re.compile(r"^\s*Class\s+Images\s+(?:Instances|Labels|Targets)\s+(?P<names>.*?)(?::\s+\d+%.*|:)?$")
_TOP_HEADER = re.compile(r"^\s*classes\s+(?P<names>top1_acc\s+top5_acc)\b")
_CLASS_ROW = re.compile(r"^\s*all\s+(?:\d+\s+\d+\s+)?(?P<cells>[\d.\sa-z]+?)\s*$")
#: `│   test_acc   │   0.98   │`, `|    loss    | 0.5   |`, and Lightning's table without a frame
_BOXED = re.compile(r"^\s*[│|]\s*(?P<name>[A-Za-z][\w/.@\-]*)\s*[│|]\s*(?P<cell>[-+\w.]+)\s*[│|]\s*$")
_BARE = re.compile(r"^\s{2,}(?P<name>[A-Za-z][\w/.@\-]*)\s{3,}(?P<cell>[-+\w.]+)\s*$")


def read_table(text: str, context: Context) -> Optional[Reading]:
    """A header names the columns, `1/100 2.1G 1.234 …` fills them; `all 128 929 …` is a validation."""
    if "poch" in text and _read_header(text, context):
        return Reading()
    if not context.columns:
        return None
    match = _CLASS_HEADER.match(text) or _TOP_HEADER.match(text)
    if match is not None:
        context.class_names = _class_names(match.group("names"))
        return Reading()
    match = _CLASS_ROW.match(text) if context.class_names else None
    if match is not None:
        names, context.class_names = context.class_names, ()
        return Reading(values=_fill(names, match.group("cells").split()))
    match = _TABLE_ROW.match(text) or _FASTAI_ROW.match(text)
    return None if match is None else _read_row(match.groupdict(), context)


def _read_header(text: str, context: Context) -> bool:
    words = text.split()
    match = _FASTAI_HEADER.match(text)
    if match is not None:
        context.columns, context.from_zero = tuple(match.group("names").split()), True
    elif words[0] == "Epoch" and "gpu_mem" in text.lower():
        # YOLOv5 and v7 count epochs from zero, up to one less than there are; later ones never print `obj`.
        context.columns, context.from_zero = tuple(words[1:]), "obj" in words or "obj_loss" in words
    else:
        return False
    return True


def _read_row(row: Dict[str, str], context: Context) -> Optional[Reading]:
    cells = row["cells"].split()
    if len(cells) != len(context.columns):
        return None
    is_fastai = "epochs" not in row
    values = _fill([name if is_fastai else _loss_name(name) for name in context.columns], cells)
    if not values:
        return None
    first = 1.0 if context.from_zero else 0.0
    return Reading(float(row["epoch"]) + first, None if is_fastai else float(row["epochs"]) + first, values=values)


def _loss_name(column: str) -> str:
    """The losses among Ultralytics' columns; older versions call them `box`, `obj`, `cls`."""
    if "loss" in column.lower():
        return column
    return column + "_loss" if column in ("box", "obj", "cls", "total") else ""


def _class_names(text: str) -> Tuple[str, ...]:
    """`Box(P R mAP50 mAP50-95) Mask(P …)` → val_box_precision, val_box_recall, val_box_map50, val_box_map50-95 …"""
    names: List[str] = []
    group = ""
    for word in text.split():
        if "(" in word:
            group, word = word.split("(", 1)  # noqa: PLW2901 - the word without its group
        word = {"P": "precision", "R": "recall"}.get(word.rstrip("):"), word.rstrip("):"))  # noqa: PLW2901
        names.append("_".join(part for part in ("val", group.lower(), word.lower()) if part))
    return tuple(names)


def _fill(names: Sequence[str], cells: List[str]) -> Dict[str, float]:
    found = {spell(name): cell for name, cell in zip(names, cells) if name and _CELL.match(cell)}
    return {name: to_number(cell) for name, cell in found.items() if name}


def read_cells(text: str, context: Context) -> Optional[Reading]:
    """A name and a number, each in a cell of its own: test results, the tables of reinforcement learning."""
    match = _BOXED.match(text) or _BARE.match(text)
    if match is None or _CELL.match(match.group("cell")) is None:
        return None
    name, number = read_name(match.group("name")), to_number(match.group("cell"))
    if name.spelled == "total_timesteps":
        return Reading(step=int(number))
    is_metric = name.is_strong or "_rew_" in name.spelled
    if not is_metric or name.is_ignored or (match.re is _BARE and match.group("cell").isdigit()):
        return None
    return Reading(values={name.spelled: number})
