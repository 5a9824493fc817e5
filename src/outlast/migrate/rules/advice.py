"""What to do about names of torch.cuda that the NPU lacks, and about those that behave differently there."""

from __future__ import annotations

_SMI = "ask the driver instead: npu-smi info"
_DROP = "leave it out, or guard it with `if torch.cuda.is_available():`"
_PROFILE = "use torch_npu.profiler, or leave it out"
_SPAWN = "no collective functions below torch.npu: use torch.distributed"

#: first name below torch.cuda → what to do instead
ABSENT: dict[str, str] = {
    "OutOfMemoryError": "catch torch.OutOfMemoryError, which the NPU raises too",
    "AcceleratorError": "catch torch.AcceleratorError",
    "nvtx": "torch.npu.mstx marks ranges with other functions; or leave it out",
    "profiler": _PROFILE,
    "cudart": _DROP,
    "check_error": _DROP,
    "CudaError": "catch RuntimeError",
    "cudaStatus": _DROP,
    "DeferredCudaCallError": "catch RuntimeError",
    "nccl": _SPAWN,
    "comm": _SPAWN,
    "sparse": "no sparse tensor types of the NPU: use dense tensors",
    "jiterator": "no kernels from text: write the operation with torch functions",
    "tunable": _DROP,
    "gds": "no direct storage: read through the host",
    "green_contexts": _DROP,
    "GreenContext": _DROP,
    "get_arch_list": "it lists compute capabilities of NVIDIA cards; ask torch.npu.get_device_name()",
    "get_gencode_flags": "only for compiling CUDA code",
    "has_half": "every NPU has float16",
    "has_magma": _DROP,
    "is_tf32_supported": "see torch.npu.matmul.allow_hf32",
    "current_solver_handle": _DROP,
    "get_stream_from_external": "torch.npu.ExternalStream takes the handle",
    "list_gpu_processes": _SMI,
    "caching_allocator_enable": _DROP,
    "caching_allocator_disabled": _DROP,
    "memory_usage": _SMI,
    "temperature": _SMI,
    "power_draw": _SMI,
    "clock_rate": _SMI,
    "device_memory_used": _SMI,
    "ComplexFloatStorage": "no complex storages on the NPU",
    "ComplexDoubleStorage": "no complex storages on the NPU",
    "_sleep": "wait on an event instead",
    "_lazy_init": "torch.npu.init()",
    "_lazy_call": _DROP,
}

#: name below torch.cuda → (what is different, what to do)
DIFFERENT: dict[str, tuple[str, str]] = {
    "get_device_capability": (
        "returns None on the NPU, so `capability[0] >= 7` fails",
        "test for None first, or set TORCH_NPU_DEVICE_CAPABILITY",
    ),
    "get_device_properties": (
        "has only name, total_memory, L2_cache_size, cube_core_num and vector_core_num",
        "do not ask for major, minor or multi_processor_count",
    ),
    "DoubleTensor": ("few NPU operators take float64", "use FloatTensor where the precision allows"),
    "is_bf16_supported": ("bfloat16 needs Atlas A2 or newer", "fall back to float16 with a GradScaler"),
    "make_graphed_callables": ("graph capture is documented for inference only", "train without graphs"),
    "CUDAGraph": ("graph capture is documented for inference only", "train without graphs"),
    "graph": ("graph capture is documented for inference only", "train without graphs"),
}
