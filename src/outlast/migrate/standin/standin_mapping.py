# mypy: ignore-errors
# ruff: noqa: ANN001, ANN002, ANN003, ANN201, ANN202, ANN204
"""One device as the processor: everything that names `npu` or `cuda` is answered by the processor."""

import torch
from torch.overrides import TorchFunctionMode

_KEYWORDS = ("device", "map_location", "device_type", "pin_memory_device")


class AsProcessor(TorchFunctionMode):
    """Turns the device word into `cpu` wherever torch is asked."""

    def __init__(self, word):
        super().__init__()
        self._word = word

    def map(self, value):
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == self._word else value
        if isinstance(value, str) and (value == self._word or value.startswith(self._word + ":")):
            return "cpu"
        if isinstance(value, dict):
            return {self.map(key): self.map(each) for key, each in value.items()}
        return value

    def __torch_function__(self, function, types, args=(), kwargs=None):
        given = {key: self.map(value) if key in _KEYWORDS else value for key, value in (kwargs or {}).items()}
        if type(given.get("device")) is int:
            given["device"] = "cpu"
        if getattr(function, "__name__", "") == "to" and len(args) > 1 and type(args[1]) is int:
            args = (args[0], "cpu", *args[2:])
        return function(*[self.map(arg) for arg in args], **given)


def install(word):
    """Enter the mode for the rest of the process and give tensors and modules their methods."""
    mode = AsProcessor(word)
    mode.__enter__()

    def same(self, *args, **kwargs):
        return self

    for kind in (torch.Tensor, torch.nn.Module, torch.nn.utils.rnn.PackedSequence):
        setattr(kind, word, same)
    setattr(torch.Tensor, "is_" + word, property(lambda self: True))
    torch.Tensor.pin_memory = same
    torch.Tensor.is_pinned = lambda self, *args, **kwargs: True
    module_to, load = torch.nn.Module.to, torch.load

    def to(self, *args, **kwargs):
        def mapped(value):
            return "cpu" if type(value) is int else mode.map(value)

        return module_to(self, *[mapped(arg) for arg in args], **{key: mapped(arg) for key, arg in kwargs.items()})

    def load_mapped(file, map_location=None, *args, **kwargs):
        return load(file, mode.map(map_location), *args, **kwargs)

    torch.nn.Module.to, torch.load = to, load_mapped
    return mode


def fill(module):
    """Give a device module the answers of a machine with one card."""
    answers = {
        "is_available": True, "device_count": 1, "current_device": 0, "memory_allocated": 0, "max_memory_allocated": 0,
        "memory_reserved": 0, "max_memory_reserved": 0, "memory_cached": 0, "max_memory_cached": 0,
        "get_device_name": "stand-in", "is_bf16_supported": True, "is_initialized": True, "_is_in_bad_fork": False,
        "mem_get_info": (64 << 30, 64 << 30), "utilization": 0, "get_device_capability": (8, 0),
    }  # fmt: skip
    quiet = ("set_device", "synchronize", "empty_cache", "ipc_collect", "reset_peak_memory_stats", "init",
             "reset_max_memory_allocated", "reset_max_memory_cached", "set_per_process_memory_fraction",
             "reset_accumulated_memory_stats", "_lazy_init")  # fmt: skip
    for name, value in answers.items():
        setattr(module, name, lambda *args, _value=value, **kwargs: _value)
    for name in quiet:
        setattr(module, name, lambda *args, **kwargs: None)
    for name in ("manual_seed", "manual_seed_all"):
        setattr(module, name, lambda seed: None)
    module.get_rng_state = lambda *args: torch.default_generator.get_state()
    module.set_rng_state = lambda state, *args: torch.default_generator.set_state(state)
    module.get_rng_state_all = lambda: [torch.default_generator.get_state()]
    module.set_rng_state_all = lambda states: torch.default_generator.set_state(states[0])
    module.default_generators = (torch.default_generator,)
    for name in "Float Double Half BFloat16 Long Int Short Char Byte Bool".split():
        setattr(module, name + "Tensor", getattr(torch, name + "Tensor"))
    module.Stream, module.Event, module.device, module.stream = _Stream, _Event, _Context, _Context
    module.current_stream = module.default_stream = lambda *args: _Stream()


class _Context:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


class _Stream(_Context):
    def wait_stream(self, stream):
        return None

    wait_event = record_event = wait_stream

    def synchronize(self):
        return None

    def query(self):
        return True


class _Event(_Stream):
    def record(self, stream=None):
        import time

        self._at_s = time.perf_counter()

    def wait(self, stream=None):
        return None

    def elapsed_time(self, other):
        return (other._at_s - self._at_s) * 1000


def plain_collectives(distributed, word, library):
    """`nccl` and `hccl` become gloo, and DistributedDataParallel takes modules of the processor."""
    begin, new_group = distributed.init_process_group, distributed.new_group

    def named(backend):
        return "gloo" if isinstance(backend, str) and library in backend else backend

    def init_process_group(backend=None, *args, **kwargs):
        kwargs.pop("device_id", None)
        return begin(named(backend), *args, **kwargs)

    def grouped(ranks=None, timeout=None, backend=None, *args, **kwargs):
        return new_group(ranks, timeout, named(backend), *args, **kwargs)

    distributed.init_process_group, distributed.new_group = init_process_group, grouped
    parallel = torch.nn.parallel.DistributedDataParallel
    construct = parallel.__init__

    def bare(self, module, device_ids=None, output_device=None, *args, **kwargs):
        construct(self, module, None, None, *args, **kwargs)

    parallel.__init__ = bare
