"""TensorFlow device scopes and the parts of it that npu_bridge replaces."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import libcst as cst

from outlast.migrate.engine import ONE_WAY, Kind, Rule, Script
from outlast.migrate.tree import argument, inner, positional, tail

_GPU = re.compile(r"/?(?:device:)?gpu:(\d+|\*|%d|\{\}|)", re.I)
_CALLS: dict[str, tuple[Kind, str]] = {
    "MirroredStrategy": (Kind.HAND, "npu_bridge has NPUStrategy; or one process per card"),
    "LossScaleOptimizer": (Kind.HAND, "NPULossScaleOptimizer with a manager of npu_bridge"),
    "enable_mixed_precision_graph_rewrite": (Kind.HAND, "precision_mode=allow_mix_precision of the NpuOptimizer"),
    "list_physical_devices": (Kind.HAND, "the adapter chooses the device: leave it out"),
    "set_memory_growth": (Kind.HAND, "the adapter manages memory: leave it out"),
    "set_visible_devices": (Kind.HAND, "choose cards with ASCEND_RT_VISIBLE_DEVICES"),
    "is_gpu_available": (Kind.HAND, "the adapter chooses the device: leave it out"),
    "GPUOptions": (Kind.DIFFERS, "has no effect on an NPU"),
    "TPUEstimator": (Kind.HAND, "an NPU runs tf.estimator.Estimator, or NPUEstimator of npu_bridge"),
}


class TensorflowDevice(Rule):
    name: ClassVar[str] = "tensorflow-device"
    summary: ClassVar[str] = (
        "TensorFlow: tf.device('/gpu:0') → '/cpu:0' (the adapter places operators); the rest is listed"
    )
    nodes: ClassVar[tuple[type[cst.CSTNode], ...]] = (cst.Call, cst.Attribute)

    def look(self, node: Any, script: Script) -> None:
        if script.direction.target != "npu" or "tensorflow" not in script.names.roots:
            return
        if isinstance(node, cst.Attribute):
            if node.attr.value == "gpu_options":
                script.report(node, Kind.DIFFERS, "gpu_options has no effect on an NPU", "it may stay")
            return
        found = script.resolve(node.func)
        name = tail(node.func)
        if found.startswith("tensorflow") and name == "device":
            self._scope(node, script)
        elif found.startswith("tensorflow") and name in _CALLS:
            script.report(node, _CALLS[name][0], f"{name} is made for CUDA", _CALLS[name][1])
        elif name == "batch" and isinstance(node.func, cst.Attribute) and not found.startswith("tensorflow"):
            self._batch(node, script)

    def _batch(self, node: cst.Call, script: Script) -> None:
        if node.args and argument(node, "drop_remainder") is None and positional(node, 1) is None:
            message = "batch() without drop_remainder gives a last batch of another size"
            script.report(node, Kind.DIFFERS, message, "NPUs want static shapes: drop_remainder=True")

    def _scope(self, node: cst.Call, script: Script) -> None:
        where = positional(node, 0)
        text = inner(where)
        if where is not None and _GPU.fullmatch(text) and isinstance(where, cst.SimpleString):
            script.change(
                where, where.value.replace(text, "/cpu:0"), advice=f"the adapter places operators itself; {ONE_WAY}"
            )
            script.claim(where)
        elif where is not None and "gpu" in script.source(where).lower():
            script.report(node, Kind.HAND, "a device scope for a GPU", "the adapter places operators: use '/cpu:0'")
