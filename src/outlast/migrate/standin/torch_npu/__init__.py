# mypy: ignore-errors
# ruff: noqa: ANN002, ANN003, ANN202, ANN204, N801
"""A stand-in for torch_npu in trial runs: a device on host memory, or with `OUTLAST_STANDIN=npu-light` only names."""

import importlib.util
import os
import sys
import types

import torch

torch.utils.rename_privateuse1_backend("npu")
npu = types.ModuleType("torch_npu.npu")
amp = types.ModuleType("torch_npu.npu.amp")


def _light():
    import standin_mapping

    standin_mapping.fill(npu)
    npu.get_device_capability = lambda *args: None
    torch._register_device_module("npu", npu)
    standin_mapping.install("npu")  # from now on, no function of torch hears the word npu any more
    if torch.distributed.is_available():
        standin_mapping.plain_collectives(torch.distributed, "npu", "hccl")


def _device():
    path = os.environ["OUTLAST_STANDIN_BINARY"]
    spec = importlib.util.spec_from_file_location("outlast_standin", path)
    binary = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(binary)
    import standin_npu

    standin_npu.install(npu, binary)


class autocast(torch.autocast):
    """Accepted, without effect, so that the numbers can be compared."""

    def __init__(self, *args, **kwargs):
        super().__init__("cpu", enabled=False)


class GradScaler(torch.amp.GradScaler):
    _word = "cpu"

    def __init__(self, *args, **kwargs):
        kwargs.pop("dynamic", None)
        super().__init__(self._word, **kwargs)


if os.environ.get("OUTLAST_STANDIN") == "npu-light":
    _light()
else:
    _device()
    GradScaler._word = "npu"
amp.autocast, amp.GradScaler = autocast, GradScaler
amp.custom_fwd = lambda function=None, **kwargs: function if function else (lambda each: each)
amp.custom_bwd = lambda function: function
npu.amp = amp
torch.autocast = torch.amp.autocast = autocast
torch.amp.GradScaler = lambda device="npu", *args, **kwargs: GradScaler(*args, **kwargs)
torch.npu = npu
for _name in ("torch_npu.npu", "torch.npu"):
    sys.modules[_name] = npu
    sys.modules[_name + ".amp"] = amp
