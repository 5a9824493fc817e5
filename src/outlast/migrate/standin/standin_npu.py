# mypy: ignore-errors
# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204, N801, PLW0108, PLW0603, UP031
"""`torch.npu` over the compiled device: what a card answers, from host memory."""

import types

import torch


def _index(device):
    if device is None:
        return None
    if isinstance(device, int):
        return device
    return torch.device(device).index


def install(npu, binary):
    """Register the module, the methods of tensors, the tensor types, the generators and the collective library."""

    def card(device):
        index = _index(device)
        return binary.current_device() if index is None else index

    class device:
        def __init__(self, where):
            self._card = card(where)

        def __enter__(self):
            self._before = binary.current_device()
            binary.set_device(self._card)

        def __exit__(self, *args):
            binary.set_device(self._before)

    class Stream(torch.Stream):
        def __new__(cls, device=None, priority=0, **kwargs):
            return torch.Stream.__new__(cls, device="npu:%d" % card(device), priority=priority)

    class StreamContext:
        def __init__(self, stream):
            self._stream = stream

        def __enter__(self):
            return self._stream

        def __exit__(self, *args):
            return None

    seeds = torch.default_generator
    properties = types.SimpleNamespace(name="stand-in", total_memory=64 << 30)
    answers = {
        "is_available": lambda: True,
        "device_count": binary.device_count,
        "current_device": binary.current_device,
        "set_device": lambda where: binary.set_device(card(where)),
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "manual_seed": lambda seed: seeds.manual_seed(seed),
        "manual_seed_all": lambda seed: seeds.manual_seed(seed),
        "initial_seed": torch.initial_seed,
        "get_rng_state": lambda where=0: seeds.get_state(),
        "set_rng_state": lambda state, where=0: seeds.set_state(state),
        "get_rng_state_all": lambda: [seeds.get_state()],
        "set_rng_state_all": lambda states: seeds.set_state(states[0]),
        "mem_get_info": lambda where=None: (64 << 30, 64 << 30),
        "get_device_name": lambda where=None: "stand-in",
        "get_device_capability": lambda where=None: None,
        "get_device_properties": lambda where=None: properties,
        "is_bf16_supported": lambda *args: True,
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16],
        "utilization": lambda where=None: 0,
        "current_stream": Stream,
        "default_stream": Stream,
    }
    for name in ("memory_allocated", "memory_reserved", "memory_cached"):
        answers[name] = lambda where=None: binary.memory_allocated()
        answers["max_" + name] = lambda where=None: binary.max_memory_allocated()
    for name in ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"):
        answers[name] = lambda where=None: binary.reset_peak()
    for name in ("init", "_lazy_init", "synchronize", "empty_cache", "ipc_collect", "seed", "seed_all", "set_stream",
                 "set_compile_mode", "set_option", "set_per_process_memory_fraction"):  # fmt: skip
        answers[name] = lambda *args, **kwargs: None
    for name, answer in answers.items():
        setattr(npu, name, answer)
    npu.device, npu.Stream, npu.stream, npu.StreamContext = device, Stream, StreamContext, StreamContext
    npu.Event = lambda enable_timing=False, blocking=False, interprocess=False: torch.Event("npu", enable_timing=True)
    torch._register_device_module("npu", npu)
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
    npu.default_generators = tuple(binary.default_generator(each) for each in range(binary.device_count()))
    _types(npu)
    _recurrent()
    if torch.distributed.is_available():
        import standin_collectives

        standin_collectives.install()


def _types(npu):
    def of(dtype):
        def make(*args):
            if args and all(isinstance(arg, int) for arg in args):
                return torch.empty(args, dtype=dtype, device="npu")
            return torch.tensor(*(args or ([],)), dtype=dtype, device="npu")

        return make

    names = {"Float": torch.float32, "Double": torch.float64, "Half": torch.float16, "BFloat16": torch.bfloat16,
             "Long": torch.int64, "Int": torch.int32, "Short": torch.int16, "Char": torch.int8, "Byte": torch.uint8,
             "Bool": torch.bool}  # fmt: skip
    for name, dtype in names.items():
        setattr(npu, name + "Tensor", of(dtype))


def _recurrent():
    """LSTM and GRU lose their gradients in the fallback of torch, so they are moved over as a whole."""

    def moved(value, where):
        if isinstance(value, torch.Tensor):
            return value.to(where)
        return type(value)(moved(each, where) for each in value) if isinstance(value, (list, tuple)) else value

    def on_processor(operator):
        def call(*args):
            where = next(arg.device for arg in args if isinstance(arg, torch.Tensor))
            return tuple(moved(each, where) for each in operator(*moved(list(args), "cpu")))

        return call

    global _library
    _library = torch.library.Library("aten", "IMPL")
    for name in ("lstm.input", "lstm.data", "gru.input", "gru.data"):
        first, _, last = name.partition(".")
        _library.impl(name, on_processor(getattr(getattr(torch.ops.aten, first), last)), "AutogradPrivateUse1")
