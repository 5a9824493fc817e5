"""The flavors and engines that this door lists, as both generations word them.

Nodes of a job are processes of this machine, so that eight are plenty; a free flavor is given once. Numbers of the
first generation are published ones where there are any; the others are ours and stay the same: rows are only ever
added at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from outlast.modelarts.engines import ENGINE_IDS, ENGINES, Engine, is_v1_compatible
from outlast.modelarts.flavors import Flavor, find_flavor

MOST_NODES = 8
_DISK_GB = 50
_OWN_ENGINE_IDS = 1001
_FREE_CODE = "modelarts.vm.gpu.free"

#: Row n has the spec_id n + 1.
FLAVORS: tuple[str, ...] = (
    "modelarts.vm.cpu.2u", "modelarts.vm.cpu.8u", "modelarts.p3.large.public", "modelarts.p3.large.public.free",
    "modelarts.p3.8xlarge.public", "modelarts.kat1.xlarge", "modelarts.kat1.2xlarge", "modelarts.kat1.4xlarge",
    "modelarts.kat1.8xlarge", "modelarts.kat1.xlarge.public", "modelarts.kat1.8xlarge.public",
    "modelarts.bm.910.arm.public.1", "modelarts.bm.910.arm.public.2", "modelarts.bm.910.arm.public.4",
    "modelarts.bm.910.arm.public.8", "modelarts.vm.gpu.free", "modelarts.vm.gpu.p100", "modelarts.vm.gpu.v100NV32",
    "modelarts.bm.gpu.8v100", "modelarts.p3.large.ex",
)  # fmt: skip

#: Numbers of frameworks in the first generation.
_TYPES = {"TensorFlow": 1, "MXNet": 2, "Ray": 3, "Caffe": 4, "XGBoost": 9, "PyTorch": 10, "MindSpore": 10}
_ASCEND_TYPE, _ASCEND_NAME = 13, "Ascend-Powered-Engine"


class Choice(NamedTuple):
    """A flavor of the table."""

    id: str
    spec_id: int
    flavor: Flavor

    @property
    def kind(self) -> str:
        return "GPU" if self.flavor.gpus else "Ascend" if self.flavor.npus else "CPU"

    @property
    def is_free(self) -> bool:
        return bool(self.flavor.limit_h)


def _choices() -> tuple[Choice, ...]:
    found = ((name, find_flavor(name)) for name in FLAVORS)
    return tuple(Choice(name, place, flavor) for place, (name, flavor) in enumerate(found, 1) if flavor is not None)


CHOICES = _choices()
OFFERED: tuple[Engine, ...] = tuple(engine for engine in ENGINES if engine.platform == "ModelArts")
_PUBLISHED = {name: number for number, name in ENGINE_IDS.items()}
#: Number in the first generation → engine.
ENGINES_BY_NUMBER: dict[int, str] = {
    _PUBLISHED.get(engine.name, _OWN_ENGINE_IDS + place): engine.name for place, engine in enumerate(OFFERED)
}
NUMBERS = {name: number for number, name in ENGINES_BY_NUMBER.items()}


def choose_flavor(text: str) -> Choice | None:
    """The row of a flavor by its id, whatever its case."""
    return next((each for each in CHOICES if each.id.lower() == text.strip().lower()), None)


def flavor_of_spec(spec_id: object) -> str:
    """The flavor of a number of the first generation, empty when there is none."""
    return next((each.id for each in CHOICES if str(each.spec_id) == str(spec_id)), "")


def most_nodes(choice: Choice) -> int:
    return 1 if choice.is_free else MOST_NODES


def flavor_info(choice: Choice) -> dict[str, Any]:
    """What a flavor has. An NPU's number is a text, a GPU's is none: so the service has it."""
    has = choice.flavor
    body: dict[str, Any] = {
        "max_num": most_nodes(choice), "cpu": {"arch": "arm" if has.npus else "x86", "core_num": has.cpus},
        "memory": {"size": has.memory_gb, "unit": "GB"}, "disk": {"size": _DISK_GB, "unit": "GB"},
    }  # fmt: skip
    if has.gpus:
        body["gpu"] = {"unit_num": has.gpus, "product_name": f"NVIDIA-{has.card}", "memory": "32GB"}
    if has.npus:
        body["npu"] = {"unit_num": str(has.npus), "product_name": has.card, "memory": "32GB"}
    return body


def billing_body(choice: Choice) -> dict[str, Any]:
    """What a flavor is billed as. The free ones go by one name in both generations."""
    return {"code": _FREE_CODE if choice.is_free else choice.id, "unit_num": 1}


def flavor_body(choice: Choice) -> dict[str, Any]:
    """A row of the second generation's list."""
    return {
        "flavor_id": choice.id, "flavor_name": choice.flavor.sentence, "flavor_type": choice.kind,
        "max_num": most_nodes(choice), "billing": billing_body(choice),
        "flavor_info": flavor_info(choice), "support_groups": "public", "attributes": {},
    }  # fmt: skip


def spec_body(choice: Choice) -> dict[str, Any]:
    """A row of the first generation's list: cores and gigabytes as texts."""
    has = choice.flavor
    return {
        "spec_id": choice.spec_id, "spec_code": choice.id, "core": str(has.cpus), "cpu": str(has.memory_gb),
        "gpu_num": has.gpus, "gpu_type": f"nvidia-{has.card.lower()}" if has.gpus else "", "npu_num": has.npus,
        "unit_num": 1, "max_num": most_nodes(choice), "storage": f"{_DISK_GB}GB", "interface_type": 1,
        "no_resource": False,
    }  # fmt: skip


def engine_name(engine: Engine) -> str:
    return _ASCEND_NAME if engine.device.startswith("Ascend") else engine.framework


def engine_body(engine: Engine) -> dict[str, Any]:
    """A row of the second generation's list. There are no images here: the packages are installed."""
    old = is_v1_compatible(engine.name)
    return {
        "engine_id": engine.name, "engine_name": engine_name(engine), "engine_version": engine.name,
        "v1_compatible": old, "run_user": "" if old else "1000",
        "image_info": {"cpu_image_url": "", "gpu_image_url": "", "image_version": ""},
    }  # fmt: skip


def engine_of_first(engine: Engine) -> dict[str, Any]:
    """A row of the first generation's list."""
    kind = _ASCEND_TYPE if engine.device.startswith("Ascend") else _TYPES.get(engine.framework, 0)
    return {
        "engine_id": NUMBERS[engine.name], "engine_name": engine_name(engine), "engine_type": kind,
        "engine_version": engine.name,
    }  # fmt: skip
