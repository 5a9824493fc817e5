"""Checks for TensorFlow checkpoints: an index, its data shards, and the `checkpoint` file that names the newest."""

from __future__ import annotations

import os
import re
from typing import BinaryIO, Dict, List, Set, Tuple

from .base import Cut, Verdict, read_at, torn, unknown, whole

_SHARD = re.compile(r"(.+)\.data-(\d{5})-of-(\d{5})")
_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_FOOTER_BYTES = 48
_BLOCK_TRAILER_BYTES = 5
_STATE_BYTES = 1 << 20
_STATE_FIELD = b"model_checkpoint_path:"
_PATH_LINE = re.compile(r'\s*(model_checkpoint_path|all_model_checkpoint_paths)\s*:\s*"((?:[^"\\]|\\.)*)"\s*')


def is_shard(name: str) -> bool:
    return _SHARD.fullmatch(name) is not None


def check_shard(folder: str, name: str) -> Verdict:
    """A shard alone is no checkpoint: its index is written after it. Its own bytes have no form."""
    match = _SHARD.fullmatch(name)
    prefix = match.group(1) if match else name
    if not os.path.isfile(os.path.join(folder, prefix + ".index")):
        return torn("tensorflow-data", "%s.index is missing" % prefix)
    return unknown("tensorflow-data")


def is_index(folder: str, name: str, file: BinaryIO, size: int) -> bool:
    """An `.index` that ends like a table of TensorFlow, or that lies beside data shards of its name."""
    if not name.endswith(".index"):
        return False
    if size >= _FOOTER_BYTES and read_at(file, size - 8, 8) == _MAGIC:
        return True
    return bool(_shards(folder, name[: -len(".index")]))


def check_index(folder: str, name: str, file: BinaryIO, size: int) -> Verdict:
    """The footer is there, the blocks it points to lie before it, and every data shard exists."""
    if size < _FOOTER_BYTES or read_at(file, size - 8, 8) != _MAGIC:
        return torn("tensorflow-index", "table footer is missing")
    try:
        at = size - _FOOTER_BYTES
        footer = read_at(file, at, _FOOTER_BYTES)
        for start, length in _handles(footer):
            if start + length + _BLOCK_TRAILER_BYTES > at:
                raise Cut
    except Cut:
        return torn("tensorflow-index", "table footer does not match the file")
    missing = _missing_shard(folder, name[: -len(".index")])
    return torn("tensorflow-index", "%s is missing" % missing) if missing else whole("tensorflow-index")


def _handles(footer: bytes) -> List[Tuple[int, int]]:
    """The footer's two pairs of (offset, length), each a varint."""
    values: List[int] = []
    value = shift = 0
    for byte in footer[:40]:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
            if len(values) == 4:
                return [(values[0], values[1]), (values[2], values[3])]
    raise Cut


def _shards(folder: str, prefix: str) -> Dict[int, Set[int]]:
    """Number of shards in a set -> which of them exist."""
    found: Dict[int, Set[int]] = {}
    for name in os.listdir(folder or "."):
        match = _SHARD.fullmatch(name)
        if match is not None and match.group(1) == prefix:
            found.setdefault(int(match.group(3)), set()).add(int(match.group(2)))
    return found


def _missing_shard(folder: str, prefix: str) -> str:
    """A shard that the index needs and that is not there, or nothing."""
    groups = _shards(folder, prefix)
    if not groups:
        return "%s.data-00000-of-00001" % prefix

    def newest(total: int) -> int:
        names = [_shard_name(prefix, index, total) for index in groups[total]]
        return max(os.stat(os.path.join(folder, name)).st_mtime_ns for name in names)

    # A script that changed its number of shards leaves the old ones behind; the newest set is the one meant.
    total = max(groups, key=newest)
    absent = sorted(set(range(total)) - groups[total])
    return _shard_name(prefix, absent[0], total) if absent else ""


def _shard_name(prefix: str, index: int, total: int) -> str:
    return "%s.data-%05d-of-%05d" % (prefix, index, total)


def is_state(name: str, head: bytes) -> bool:
    return name == "checkpoint" and (head.startswith(_STATE_FIELD) or _STATE_FIELD.startswith(head))


def check_state(folder: str, file: BinaryIO, size: int) -> Verdict:
    """The newest prefix has an index, and is the last of the list that follows it."""
    kind = "tensorflow-state"
    if size > _STATE_BYTES:
        return unknown(kind)
    text = read_at(file, 0, size).decode("utf-8", "replace")
    if not text.endswith("\n"):
        return torn(kind, "ends within a line")
    newest, listed, times = "", [], 0
    for line in text.splitlines():
        match = _PATH_LINE.fullmatch(line)
        if match is not None and match.group(1) == "model_checkpoint_path":
            newest = match.group(2)
        elif match is not None:
            listed.append(match.group(2))
        elif line.lstrip().startswith("all_model_checkpoint_timestamps"):
            times += 1
    if not newest:
        return torn(kind, "names no checkpoint")
    if not os.path.isfile(os.path.join(folder, newest + ".index")):
        return torn(kind, "%s.index is missing" % newest)
    if (listed and newest not in listed) or (times and times != len(listed)):
        return torn(kind, "ends within its list")
    # Written by hand or by an old version: the list or its times may be absent, or may have been cut off.
    return whole(kind) if listed and times else unknown(kind)
