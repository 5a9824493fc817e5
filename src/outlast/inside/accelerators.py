"""Accelerator cards as their own tools report them: `nvidia-smi` and `npu-smi`."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
import time
from typing import Any, Dict, List, Optional, Sequence

#: One card: kind ("gpu" or "npu"), index, busy_percent, memory_used_bytes, memory_total_bytes; None where not told.
Card = Dict[str, Any]

_MIB = 1 << 20
_TOOL_LIMIT_S = 20.0  # a first call may wake the driver, which takes seconds
_NVIDIA_QUERY = ("--query-gpu=index,utilization.gpu,memory.used,memory.total", "--format=csv,noheader,nounits")
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")


def read_cards() -> List[Card]:
    """All cards of this machine now; empty without the tools. Takes up to seconds: not for a busy loop."""
    found: List[Card] = []
    if shutil.which("nvidia-smi"):
        found += parse_nvidia(_output_of(["nvidia-smi", *_NVIDIA_QUERY]))
    if shutil.which("npu-smi"):
        found += parse_npu(_output_of(["npu-smi", "info"]))
    return found


def _output_of(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=_TOOL_LIMIT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def parse_nvidia(text: str) -> List[Card]:
    """Lines such as `0, 87, 30211, 32768`; a card that does not tell a value writes `[N/A]`."""
    found: List[Card] = []
    for line in text.splitlines():
        parts = [part.strip() for part in line.split(",")]
        if len(parts) == 4 and parts[0].isdigit():
            found.append(_card("gpu", parts[0], _number(parts[1]), _number(parts[2]), _number(parts[3])))
    return found


def parse_npu(text: str) -> List[Card]:
    """The table of `npu-smi info`: two rows for each chip.

    The first row starts with the card's number and name; the second with the chip and, where a card carries
    several chips, the device's number, followed by the bus id, the load, and pairs "used / total". The last pair
    is the memory on the chip (HBM where there is one). The table of processes below it has no such second row.
    """
    found: List[Card] = []
    card: Optional[str] = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 3 or not line.lstrip().startswith("|"):
            continue
        numbers = re.findall(r"\d+", cells[0].split()[0]) if cells[0] else []
        if not numbers:
            continue
        pairs = _PAIR.findall(cells[2])
        if re.fullmatch(r"[0-9A-Fa-f:.]+|NA", cells[1]) and pairs and card is not None:
            words = cells[0].split()
            index = words[1] if len(words) > 1 and words[1].isdigit() else card
            used, total = pairs[-1]
            found.append(_card("npu", index, _number(cells[2].split()[0]), float(used), float(total)))
            card = None
        else:
            card = numbers[0]
    return found


def _card(kind: str, index: str, busy: Optional[float], used: Optional[float], total: Optional[float]) -> Card:
    return {
        "kind": kind,
        "index": index,
        "busy_percent": busy,
        "memory_used_bytes": None if used is None else int(used * _MIB),
        "memory_total_bytes": None if total is None else int(total * _MIB),
    }


def _number(text: str) -> Optional[float]:
    try:
        return float(text)
    except ValueError:
        return None


class CardWatch:
    """The last known reading of this stint's cards, renewed in a thread: the tools may take seconds, or hang."""

    def __init__(self, gpus: Sequence[str], npus: Sequence[str], every_s: float = 10.0) -> None:
        self._wanted = {("gpu", index) for index in gpus} | {("npu", index) for index in npus}
        self._every_s = every_s
        self._asked_at: Optional[float] = None
        self._thread: Optional[threading.Thread] = None
        self._cards: List[Card] = []

    def cards(self) -> List[Card]:
        """What was read last; never waits. Asks again when that is `every_s` old and nobody is asking."""
        now = time.monotonic()
        due = self._asked_at is None or now - self._asked_at >= self._every_s
        if self._wanted and due and (self._thread is None or not self._thread.is_alive()):
            self._asked_at = now
            self._thread = threading.Thread(target=self._ask, name="outlast-cards", daemon=True)
            self._thread.start()
        return self._cards

    def _ask(self) -> None:
        self._cards = [card for card in read_cards() if (card["kind"], card["index"]) in self._wanted]
