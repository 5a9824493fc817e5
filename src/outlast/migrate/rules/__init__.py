"""The rules, one file each. `all_rules` gives them in the order in which they look at a node."""

from __future__ import annotations

from outlast.migrate.engine import Rule


def all_rules() -> list[Rule]:
    """Fresh rules for one file; those that add a line come last, when all changes are known."""
    from outlast.migrate.rules.accelerator_name import AcceleratorName
    from outlast.migrate.rules.amp import Amp
    from outlast.migrate.rules.backend import Backend
    from outlast.migrate.rules.both_devices import BothDevices
    from outlast.migrate.rules.code_text import CodeText
    from outlast.migrate.rules.data_parallel import DataParallel
    from outlast.migrate.rules.device_method import DeviceMethod
    from outlast.migrate.rules.device_string import DeviceString
    from outlast.migrate.rules.environment import Environment
    from outlast.migrate.rules.error_text import ErrorText
    from outlast.migrate.rules.library import Library
    from outlast.migrate.rules.mindspore_target import MindsporeTarget
    from outlast.migrate.rules.named_for_cuda import NamedForCuda
    from outlast.migrate.rules.operators import Operators
    from outlast.migrate.rules.precision import Precision
    from outlast.migrate.rules.profiler import Profiler
    from outlast.migrate.rules.switches import Switches
    from outlast.migrate.rules.tensor_attribute import TensorAttribute
    from outlast.migrate.rules.tensorflow_device import TensorflowDevice
    from outlast.migrate.rules.tensorflow_session import TensorflowSession
    from outlast.migrate.rules.torch_module import TorchModule
    from outlast.migrate.rules.torch_npu_import import TorchNpuImport
    from outlast.migrate.rules.trainer import TrainerArguments
    from outlast.migrate.rules.typed_tensor import TypedTensor

    return [
        TrainerArguments(), DataParallel(), Amp(), DeviceMethod(), TensorflowSession(), TensorflowDevice(),
        MindsporeTarget(), Profiler(), TypedTensor(), Backend(), Environment(), DeviceString(), TensorAttribute(),
        ErrorText(), Switches(), Library(), Operators(), Precision(), TorchModule(), CodeText(), NamedForCuda(),
        TorchNpuImport(), AcceleratorName(), BothDevices(),
    ]  # fmt: skip
