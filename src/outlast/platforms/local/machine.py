"""What this machine has: processors, memory, accelerator cards."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.inside.accelerators import read_cards
from outlast.inside.processes import boot_id
from outlast.platforms.local.queue import Need

_TOOL_LIMIT_S = 30.0


@dataclass(frozen=True)
class Machine:
    """Everything that stints share out among themselves."""

    cpu_list: tuple[int, ...]
    memory_bytes: int
    gpus: tuple[str, ...] = ()
    npus: tuple[str, ...] = ()

    @property
    def capacity(self) -> Need:
        return Need(len(self.cpu_list), self.memory_bytes, len(self.gpus), len(self.npus))

    @classmethod
    def look(cls, remembered: Path | None = None, *, remember: bool = True) -> Machine:
        """Look at the machine. Cards are looked up once per boot: their tools may take seconds."""
        cpus = tuple(sorted(os.sched_getaffinity(0)))
        cards = _recall(remembered) if remembered else None
        if cards is None:
            cards = {"boot": boot_id(), "gpus": find_gpus(), "npus": find_npus()}
            if remembered and remember:
                _remember(remembered, cards)
        return cls(
            cpus,
            memory_total_bytes(),
            _allowed(cards["gpus"], "CUDA_VISIBLE_DEVICES"),
            _allowed(cards["npus"], "ASCEND_RT_VISIBLE_DEVICES"),
        )


def _recall(path: Path) -> dict[str, Any] | None:
    try:
        cards: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return cards if cards.get("boot") == boot_id() and "gpus" in cards and "npus" in cards else None


def _remember(path: Path, cards: dict[str, Any]) -> None:
    # By thread too: a server looks from several at once.
    aside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    aside.write_text(json.dumps(cards))
    aside.replace(path)


def _allowed(cards: list[str], variable: str) -> tuple[str, ...]:
    """Cards that whoever started us may use: their own variable narrows the list."""
    words = os.environ.get(variable)
    if words is None:
        return tuple(cards)
    wanted = [word.strip() for word in words.split(",")]
    return tuple(card for card in cards if card in wanted)


def memory_total_bytes() -> int:
    """Memory of the machine, or of the container we are in when that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(path).read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


def find_gpus() -> list[str]:
    """Indexes of the NVIDIA cards, from `nvidia-smi -L`: `GPU 0: Tesla V100 (UUID: …)`."""
    if shutil.which("nvidia-smi") is None:
        return []
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=_TOOL_LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return re.findall(r"^GPU (\d+):", done.stdout, re.MULTILINE) if done.returncode == 0 else []


def find_npus() -> list[str]:
    """Indexes of the Ascend cards: from `npu-smi info`, or by their device files where the tool is missing."""
    cards = [str(card["index"]) for card in read_cards() if card["kind"] == "npu"] if shutil.which("npu-smi") else []
    if cards:
        return cards
    found = [re.fullmatch(r"/dev/davinci(\d+)", path) for path in glob.glob("/dev/davinci*")]  # noqa: PTH207
    return sorted((match.group(1) for match in found if match), key=int)
