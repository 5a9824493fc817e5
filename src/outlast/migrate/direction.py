"""From which device to which: the words of each side, in one table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

TARGETS = ("npu", "cuda", "any")

#: device word → the other words of its side
_BACKENDS = {"cuda": "nccl", "npu": "hccl"}

#: (CUDA, NPU) names of variables that mean the same
ENVIRONMENT = (
    ("CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"),
    ("CUDA_LAUNCH_BLOCKING", "ASCEND_LAUNCH_BLOCKING"),
    ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF"),
    ("PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_NPU_MEMORY_CACHING"),
    ("NCCL_SOCKET_IFNAME", "HCCL_SOCKET_IFNAME"),
    ("TORCH_NCCL_BLOCKING_WAIT", "TORCH_HCCL_BLOCKING_WAIT"),
    ("TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_HCCL_ASYNC_ERROR_HANDLING"),
)

#: A file without any of these bytes is not even parsed. Lower case; `npu` alone would match `input`.
_WORDS = {
    "cuda": (
        rb"cuda|nccl|cudnn|\bapex\b|\bamp_C\b|nvidia|flash_attn|xformers|bitsandbytes|\bcupy\b|\btriton\b|pynvml"
        rb"|DataParallel|autocast|pytorch_lightning|lightning|tensorflow|mindspore|\bgpus?\b|data_parallel|horovod"
    ),
    "npu": rb"(?<![a-z])npu|npu(?![a-z])|hccl|ascend",
}


#: What a migrated site looks like, for counting.
_SITES = {
    "npu": re.compile(r"(?<![A-Za-z])(?:npu|hccl|ASCEND_\w+)(?![A-Za-z])"),
    "cuda": re.compile(r"(?<![A-Za-z])(?:cuda|nccl|CUDA_\w+)(?![A-Za-z])"),
    "any": re.compile(r"\baccelerator\b|\bACCELERATOR\b"),
}


@dataclass(frozen=True)
class Direction:
    """One direction. `sources` are the device words to look for; `target` is what they become."""

    target: str

    @property
    def sources(self) -> tuple[str, ...]:
        return {"npu": ("cuda",), "cuda": ("npu",), "any": ("cuda", "npu")}[self.target]

    @cached_property
    def environment(self) -> dict[str, str]:
        """Variable to find → variable to write; empty when the target has no names of its own."""
        pairs = {"npu": ENVIRONMENT, "cuda": tuple((npu, cuda) for cuda, npu in ENVIRONMENT), "any": ()}
        return dict(pairs[self.target])

    @cached_property
    def backends(self) -> tuple[str, ...]:
        return tuple(_BACKENDS[word] for word in self.sources)

    @property
    def backend(self) -> str:
        """The collective library of the target; empty for `any`."""
        return _BACKENDS.get(self.target, "")

    @cached_property
    def device(self) -> re.Pattern[str]:
        """Matches what a device string begins with, the word as group 1."""
        return re.compile(rf"({'|'.join(self.sources)})(?![A-Za-z_])")

    @cached_property
    def _prefilter(self) -> re.Pattern[bytes]:
        return re.compile(b"|".join(_WORDS[word] for word in self.sources), re.IGNORECASE)

    def concerns(self, data: bytes) -> bool:
        """Whether a file may hold anything to change or to report; reads bytes only."""
        return self._prefilter.search(data) is not None

    def count_sites(self, text: str) -> int:
        """How often a text speaks of the target; a measure of how much there was to do."""
        return len(_SITES[self.target].findall(text))
