"""The versions table of Xihe: which engine runs on which card. Only these combinations exist."""

from __future__ import annotations

from typing import NamedTuple

from outlast.errors import OutlastError
from outlast.operations.environments import Environments
from outlast.platforms.local.machine import Machine
from outlast.server.hub.trainings.envelope import BAD_PARAM, Refusal
from outlast.settings import Settings

_GPU, _NPU = "modelarts.p3.large.public", "modelarts.kat1.xlarge.public"


class Compute(NamedTuple):
    """What a training runs on, as forms and bodies name it."""

    type: str
    flavor: str
    version: str

    @property
    def card(self) -> str:
        """Which count of a run's resources its card is."""
        return "gpus" if self.flavor == _GPU else "npus"

    @property
    def hardware(self) -> str:
        return "1 × V100, 8 cores" if self.card == "gpus" else "1 × Ascend 910, 24 cores"


_ENGINE = "Ascend-Powered-Engine"
COMPUTES: tuple[Compute, ...] = (
    Compute("MPI", _GPU, "mindspore_1.3.0-cuda_10.1-py_3.7-ubuntu_1804-x86_64"),
    Compute(_ENGINE, _NPU, "mindspore_1.7.0-cann_5.1.0-py_3.7-euler_2.8.3-aarch64"),
    Compute(_ENGINE, _NPU, "mindspore_1.9.0-cann_6.0.RC1-py_3.7-ubuntu_18.04-amd64"),
    Compute(_ENGINE, _NPU, "mindspore_1.9.0-cann_6.0.RC1-py_3.9-ubuntu_18.04-amd64"),
    Compute(_ENGINE, _NPU, "mindspore_2.2.10-cann_7.0.RC1-py_3.9-euler_2.8.3"),
)
_CORES = {"gpus": 8, "npus": 24}


class Granted(NamedTuple):
    """What a compute becomes on this server, and what is different from what was asked for, in sentences."""

    environment: str | None
    cpus: int | None
    gpus: int | None
    npus: int | None
    notices: tuple[str, ...]


def find_compute(type: str, flavor: str, version: str) -> Compute:
    wanted = Compute(type, flavor, version)
    if wanted not in COMPUTES:
        known = ", ".join(dict.fromkeys(each.version for each in COMPUTES))
        raise Refusal(
            BAD_PARAM, f"compute: there is no {version[:80]!r} of type {type[:40]!r} on {flavor[:60]!r}",
            hint=f"versions: {known}",
        )  # fmt: skip
    return wanted


def grant(settings: Settings, compute: Compute) -> Granted:
    """The engine where pip can make it here, and as much of the card as this machine has."""
    environment, notices = None, []
    try:
        found = Environments(settings).find(compute.version)
        environment = found.name if found.here == "yes" else None
    except OutlastError:
        pass
    if environment is None:
        notices.append(f"the engine {compute.version} exists only as an image; the script runs in this server's Python")
    there = Machine.look(settings.home / "local" / "machine.json", remember=False).capacity
    cards = {"gpus": there.gpus, "npus": there.npus}[compute.card]
    if not cards:
        notices.append(f"this machine has no card for {compute.flavor}; the script runs on its processor")
        return Granted(environment, None, None, None, tuple(notices))
    # A card brings its share of the cores, so that every card of the machine can be used at once.
    cpus = max(1, min(_CORES[compute.card], there.cpus // cards))
    gpus, npus = (1, None) if compute.card == "gpus" else (None, 1)
    return Granted(environment, cpus, gpus, npus, tuple(notices))
