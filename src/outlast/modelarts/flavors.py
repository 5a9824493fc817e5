"""What a flavor of ModelArts has, by its id or by the sentence that forms show for it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Flavor(NamedTuple):
    """One node. Zero means: not said."""

    cpus: int = 0
    memory_gb: int = 0
    gpus: int = 0
    npus: int = 0
    card: str = ""
    limit_h: int = 0  # free ones end after an hour

    @property
    def sentence(self) -> str:
        """`8 cores, 64 GB, 1 × V100`."""
        parts = [f"{self.cpus} cores"] if self.cpus else []
        parts += [f"{self.memory_gb} GB"] if self.memory_gb else []
        cards = self.gpus + self.npus
        parts += [f"{cards} × {self.card}"] if cards else []
        return ", ".join(parts)


_ONE_V100 = Flavor(8, 64, gpus=1, card="V100")
#: Names differ from region to region and from year to year; these are the ones that documents show.
_KNOWN = {
    "modelarts.p3.large": _ONE_V100,
    "modelarts.p3.large.ex": _ONE_V100,
    "modelarts.p3.8xlarge": Flavor(72, 512, gpus=8, card="V100"),
    "modelarts.vm.gpu": _ONE_V100,  # modelarts.vm.gpu.free
    "modelarts.vm.gpu.v100": _ONE_V100,
    "modelarts.vm.gpu.v100nv32": _ONE_V100,
    "modelarts.vm.gpu.p100": Flavor(8, 64, gpus=1, card="P100"),
    "modelarts.bm.gpu.8v100": Flavor(72, 512, gpus=8, card="V100"),
}
_ASCEND = re.compile(r"modelarts\.kat1\.(\d*)xlarge")
_BARE_ASCEND = re.compile(r"modelarts\.bm\.910\.arm\.public\.(\d+)")
_CPU = re.compile(r"modelarts\.vm\.cpu\.(\d+)u")

_CORES = re.compile(r"(\d+)\s*(?:vcpus?|cores?|u\b|核)", re.IGNORECASE)
_MEMORY = re.compile(r"(\d+)\s*gi?b", re.IGNORECASE)
_CARDS = re.compile(
    r"(?:(\d+)\s*[*x×]\s*)?((?:Tesla |NVIDIA[- ])?(?:V100|P100|P4|T4|A100)|Ascend[ -]?\d*\w*)", re.IGNORECASE
)
_CARDS_AFTER = re.compile(r"^\s*[*x×]\s*(\d+)")


def find_flavor(text: str) -> Flavor | None:
    """What a flavor has, or None when nothing can be told of it."""
    if not text.strip():
        return None
    name = text.strip().lower()
    limit_h = 1 if name.endswith(".free") else 0
    plain = name.removesuffix(".free").removesuffix(".public")
    found = _KNOWN.get(plain) or _by_rule(name, plain) or _by_words(text)
    return found._replace(limit_h=limit_h) if found else (Flavor(limit_h=limit_h) if limit_h else None)


def _by_rule(name: str, plain: str) -> Flavor | None:
    if match := _ASCEND.fullmatch(plain):
        cards = int(match[1] or 1)
        return Flavor(24 * cards, 96 * cards, npus=cards, card="Ascend 910")
    if match := _BARE_ASCEND.fullmatch(name):
        cards = int(match[1])
        return Flavor(24 * cards, 256 * cards, npus=cards, card="Ascend 910")
    if match := _CPU.fullmatch(plain):
        return Flavor(int(match[1]), 4 * int(match[1]))
    return None


def _by_words(text: str) -> Flavor | None:
    """`CPU: 24 vCPUs 96GiB Ascend: 1*Ascend 910(32GiB)`, as the ToolKit and the console put it."""
    cores, memory, card = _CORES.search(text), _MEMORY.search(text), _CARDS.search(text)
    if not cores and not card:
        return None
    count = 0
    if card:
        after = _CARDS_AFTER.match(text[card.end() :])
        count = int(card[1] or (after[1] if after else 1))
    ascend = bool(card and card[2].lower().startswith("ascend"))
    return Flavor(
        int(cores[1]) if cores else 0, int(memory[1]) if memory else 0, gpus=0 if ascend else count,
        npus=count if ascend else 0, card=card[2].strip() if card else "",
    )  # fmt: skip
