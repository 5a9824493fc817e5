"""The engines that ModelArts and Xihe offer: framework, device and Python of each, and which can be had elsewhere.

A row with requirements is one that pip can install from an index for that Python; every other exists only as an image
of the platform. Rows for a Python older than 3.7 are images only: nothing of ours runs there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_OLD_PROTOBUF = "protobuf<3.21"  # releases of that time break with later ones, which pip would take


class Engine(NamedTuple):
    """One engine, named as its platform names it."""

    name: str
    framework: str
    version: str
    device: str
    python: str
    platform: str
    resources: str = ""
    requirements: tuple[str, ...] = ()


_V100 = "1 × V100 32 GB, 8 cores, 64 GB"
_910 = "1 × Ascend 910 32 GB, 24 ARM cores, 96 GB"
_MINDSPORE, _TORCH, _TENSORFLOW = "MindSpore", "PyTorch", "TensorFlow"

ENGINES: tuple[Engine, ...] = (
    Engine("mindspore_1.3.0-cuda_10.1-py_3.7-ubuntu_1804-x86_64", _MINDSPORE, "1.3.0", "GPU, CUDA 10.1", "3.7",
           "Xihe", _V100, ("mindspore-gpu==1.3.0", _OLD_PROTOBUF)),
    Engine("mindspore_1.7.0-cann_5.1.0-py_3.7-euler_2.8.3-aarch64", _MINDSPORE, "1.7.0", "Ascend, CANN 5.1.0", "3.7",
           "Xihe", _910),
    Engine("mindspore_1.9.0-cann_6.0.RC1-py_3.7-ubuntu_18.04-amd64", _MINDSPORE, "1.9.0", "Ascend, CANN 6.0.RC1", "3.7",
           "Xihe", _910),
    Engine("mindspore_1.9.0-cann_6.0.RC1-py_3.9-ubuntu_18.04-amd64", _MINDSPORE, "1.9.0", "Ascend, CANN 6.0.RC1", "3.9",
           "Xihe", _910),
    Engine("mindspore_2.2.10-cann_7.0.RC1-py_3.9-euler_2.8.3", _MINDSPORE, "2.2.10", "Ascend, CANN 7.0.RC1", "3.9",
           "Xihe", _910),
    Engine("mindspore_1.6.0-cann_5.0.3.6-py_3.7-euler_2.8.3-aarch64", _MINDSPORE, "1.6.0", "Ascend, CANN 5.0.3", "3.7",
           "ModelArts", _910),
    Engine("pytorch_1.8.0-cuda_10.2-py_3.7-ubuntu_18.04-x86_64", _TORCH, "1.8.0", "GPU, CUDA 10.2", "3.7", "ModelArts",
           _V100, ("torch==1.8.0",)),
    Engine("tensorflow_2.1.0-cuda_10.1-py_3.7-ubuntu_18.04-x86_64", _TENSORFLOW, "2.1.0", "GPU, CUDA 10.1", "3.7",
           "ModelArts", _V100, ("tensorflow==2.1.0", _OLD_PROTOBUF)),
    Engine("MindSpore-1.3.0-c78-python3.7-euleros2.8-aarch64", _MINDSPORE, "1.3.0", "Ascend", "3.7", "ModelArts",
           _910),
    Engine("MindSpore-1.2.0-c77-python3.7-euleros2.8-aarch64", _MINDSPORE, "1.2.0", "Ascend", "3.7", "ModelArts",
           _910),
    Engine("Mindspore-1.1.1-python3.7-aarch64", _MINDSPORE, "1.1.1", "Ascend", "3.7", "ModelArts", _910),
    Engine("MindSpore-GPU-1.1.0-python3.7", _MINDSPORE, "1.1.0", "GPU, CUDA 10.1", "3.7", "ModelArts", _V100,
           ("mindspore-gpu==1.1.0", _OLD_PROTOBUF)),
    Engine("TF-1.15-python3.7-aarch64", _TENSORFLOW, "1.15", "Ascend", "3.7", "ModelArts", _910),
    Engine("TF-2.1.0-python3.6", _TENSORFLOW, "2.1.0", "GPU", "3.6", "ModelArts", _V100),
    Engine("TF-1.13.1-python3.6", _TENSORFLOW, "1.13.1", "GPU", "3.6", "ModelArts", _V100),
    Engine("TF-1.8.0-python3.6", _TENSORFLOW, "1.8.0", "GPU", "3.6", "ModelArts", _V100),
    Engine("TF-1.8.0-python2.7", _TENSORFLOW, "1.8.0", "GPU", "2.7", "ModelArts", _V100),
    Engine("PyTorch-1.4.0-python3.6", _TORCH, "1.4.0", "GPU", "3.6", "ModelArts", _V100),
    Engine("PyTorch-1.3.0-python3.6", _TORCH, "1.3.0", "GPU", "3.6", "ModelArts", _V100),
    Engine("PyTorch-1.0.0-python3.6", _TORCH, "1.0.0", "GPU", "3.6", "ModelArts", _V100),
    Engine("MXNet-1.2.1-python3.6", "MXNet", "1.2.1", "GPU", "3.6", "ModelArts", _V100),
    Engine("XGBoost-0.80-Sklearn-0.18.1-python3.6", "XGBoost", "0.80", "CPU", "3.6",
           "ModelArts", "8 cores, 32 GB"),
    Engine("RAY-0.7.4-python3.6", "Ray", "0.7.4", "GPU", "3.6", "ModelArts", _V100),
    Engine("Caffe-1.0.0-python2.7", "Caffe", "1.0.0", "GPU", "2.7", "ModelArts", _V100),
)  # fmt: skip

#: v1 bodies name their engine by a number; these are the published ones.
ENGINE_IDS = {
    3: "TF-1.8.0-python2.7",
    4: "TF-1.8.0-python3.6",
    100: "XGBoost-0.80-Sklearn-0.18.1-python3.6",
    130: "TF-1.15-python3.7-aarch64",
}

#: Engines that behave as in v1, where `data_url` is an address: their names go on with a hyphen, later ones with `_`.
_V1_COMPATIBLE = re.compile(r"^(?:caffe|horovod|pytorch|xgboost|tf|mxnet|ray|mindspore|spark_mllib)-", re.I)


def find_engine(text: str) -> Engine | None:
    """The engine of that name, whatever its case."""
    wanted = text.strip().lower()
    return next((each for each in ENGINES if wanted and each.name.lower() == wanted), None)


def is_v1_compatible(text: str) -> bool:
    return bool(_V1_COMPATIBLE.match(text))
