"""Libraries and tools that exist only for NVIDIA cards."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.context import Shape, Use, use_of
from outlast.migrate.engine import Kind, Rule, Script
from outlast.migrate.tree import dotted, inner, positional, tail

_KERNELS = "no build for Ascend; torch_npu has its own fused operators (torch_npu.npu_*)"
_LIBRARIES: dict[str, str] = {
    "apex": "Ascend has its own build of apex; where it is missing, use torch.amp",
    "amp_C": "part of apex for CUDA; use torch.amp",
    "flash_attn": "use torch.nn.functional.scaled_dot_product_attention, or torch_npu.npu_fusion_attention",
    "xformers": "use torch.nn.functional.scaled_dot_product_attention",
    "bitsandbytes": _KERNELS,
    "triton": "needs triton-ascend; or write the kernel with torch functions",
    "cupy": "use numpy, or torch on the device",
    "pycuda": _KERNELS,
    "numba.cuda": "write the kernel with torch functions",
    "pynvml": "ask the driver: npu-smi info",
    "nvidia_smi": "ask the driver: npu-smi info",
    "cuda.bindings": _KERNELS,
    "cuda.core": _KERNELS,
    "cuda.cuda": _KERNELS,
    "cuda.cudart": _KERNELS,
    "tinycudann": _KERNELS,
    "cutlass": _KERNELS,
    "polygraphy": "use the Ascend tools (ATC, MindIE) for inference",
    "nvidia": "NVIDIA's own package; read the data on the processor instead",
    "tensorrt": "use the Ascend tools (ATC, MindIE) for inference",
    "torch_tensorrt": "use the Ascend tools (ATC, MindIE) for inference",
    "horovod": "use torch.distributed with hccl; with TensorFlow, npu_bridge's own functions",
    "deepspeed": "needs its accelerator for Ascend: DS_ACCELERATOR=npu",
    "transformer_engine": _KERNELS,
    "cuml": _KERNELS,
    "cudf": _KERNELS,
    "pycocotools_cuda": _KERNELS,
}
_CALLS: dict[str, str] = {
    "torch.utils.cpp_extension.CUDAExtension": "CUDA code must be written anew for Ascend (Ascend C), or done in torch",
    "torch.utils.cpp_extension.load": "CUDA code must be written anew for Ascend (Ascend C), or done in torch",
    "torch.utils.cpp_extension.load_inline": "CUDA code must be written anew for Ascend (Ascend C), or done in torch",
}
_ASCEND = "an Ascend operator; use a torch function that does the same"
#: Names that people give to the kernels they compile: `lightconv_cuda`, `autogptq_cuda_64`.
_EXTENSION = re.compile(r"\w+_cuda(?:_\w+)?")
#: The same as part of a package; `to_cuda` and its like are functions.
_KERNEL_NAME = re.compile(r"fused_|\w+_(?:ext|kernel|conv|attn)_|\w*conv_")
_PROVIDER = re.compile(r"CUDAExecutionProvider|TensorrtExecutionProvider")
_PROVIDER_ADVICE = "onnxruntime's build for Ascend has CANNExecutionProvider"
_SMI = re.compile(r"\bnvidia-smi\b")
_COMMANDS = frozenset({"system", "popen", "Popen", "run", "call", "check_call", "check_output", "getoutput", "split"})


class Library(Rule):
    name: ClassVar[str] = "library"
    summary: ClassVar[str] = "Libraries, kernels and tools that only one kind of card has are listed with advice"
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (
        cst.Import, cst.ImportFrom, cst.Call, cst.SimpleString, cst.FormattedStringText,
    )  # fmt: skip

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target == "cuda":
            if isinstance(node, cst.Call) and script.resolve(node.func).startswith(("torch_npu.npu_", "torch.npu_")):
                script.report(node, Kind.HAND, f"{dotted(node.func)} has no twin", _ASCEND)
            return
        if isinstance(node, cst.Import):
            for alias in node.names:
                self._imported(node, dotted(alias.name), script)
        elif isinstance(node, cst.ImportFrom):
            if not node.relative:
                names = [] if isinstance(node.names, cst.ImportStar) else [tail(alias.name) for alias in node.names]
                module = dotted(node.module)
                found = next((f"{module}.{name}" for name in names if f"{module}.{name}" in _LIBRARIES), module)
                kernels = [name for name in names if name.endswith("_cuda") and _KERNEL_NAME.match(name)]
                self._imported(node, kernels[0] if kernels else found, script)
        elif isinstance(node, cst.Call):
            found = script.resolve(node.func)
            if found in _CALLS:
                script.report(node, Kind.HAND, f"{found} builds code for CUDA", _CALLS[found])
            elif tail(node.func) in ("import_module", "__import__"):
                self._imported(node, inner(positional(node, 0)), script)
        else:
            self._text(node, node.value if isinstance(node, cst.FormattedStringText) else inner(node), script)

    def _text(self, node: cst.SimpleString | cst.FormattedStringText, text: str, script: Script) -> None:
        if _PROVIDER.fullmatch(text):
            script.report(node, Kind.HAND, f"{text} runs on NVIDIA cards", _PROVIDER_ADVICE)
        elif _SMI.search(text) and (self._is_run(script) or self._is_command(node, text, script)):
            script.report(node, Kind.HAND, "nvidia-smi is not there", "npu-smi info prints other columns")

    def _is_run(self, script: Script) -> bool:
        return any(isinstance(parent, cst.Call) and tail(parent.func) in _COMMANDS for parent in script.parents)

    def _is_command(self, node: cst.CSTNode, text: str, script: Script) -> bool:
        """Kept for later: `command = 'nvidia-smi -L'`."""
        begins = _SMI.match(text.lstrip()) is not None
        return begins and use_of(node, Shape.BARE, script) is not Use.PROSE

    def _imported(self, node: cst.CSTNode, module: str, script: Script) -> None:
        for name, advice in _LIBRARIES.items():
            if module == name or module.startswith(name + "."):
                kind = Kind.DIFFERS if name in ("apex", "deepspeed") and _has_build(module) else Kind.HAND
                script.report(node, kind, f"{module} is made for CUDA", advice)
                return
        if _EXTENSION.fullmatch(module):
            script.report(node, Kind.HAND, f"{module} has the name of kernels for CUDA", _KERNELS)


def _has_build(module: str) -> bool:
    """What Ascend's own builds of these libraries cover under the same name."""
    return module in ("apex", "deepspeed", "apex.amp") or module.startswith("deepspeed")
