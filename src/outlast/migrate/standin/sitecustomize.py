# mypy: ignore-errors
# ruff: noqa: ANN001, ANN202, F401, PTH100, PTH120
"""Python loads this first in a trial run: when torch has been imported, a device is put beside it.

`OUTLAST_STANDIN` says which: `cuda` for the script as it is, `npu` for the migrated one (its `import torch_npu` finds
the package beside this file). A sitecustomize of the environment's own is loaded as well.
"""

import importlib.util
import os
import sys

#: A library of torch takes its operators along when nobody holds it any longer.
_KEPT = []
_HERE = os.path.dirname(os.path.abspath(__file__))


class _AfterTorch:
    """Runs `standin_cuda` right behind the first import of torch."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec("torch")
        if spec is not None:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                import standin_cuda

                standin_cuda.install(module)

            spec.loader.exec_module = exec_module
        return spec


class _BeforeTorchvision:
    """A torchvision built for CUDA asks for two operators that torch without CUDA does not have."""

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision":
            sys.meta_path.remove(self)
            import torch

            if not hasattr(torch.ops.torchvision, "nms"):
                library = torch.library.Library("torchvision", "DEF")
                _KEPT.append(library)
                for operator in ("nms", "qnms"):
                    library.define(operator + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def _load_the_other():
    ours = [entry for entry in sys.path if os.path.abspath(entry or ".") == _HERE]
    for entry in ours:
        sys.path.remove(entry)
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize
    except ImportError:
        pass
    finally:
        sys.path[:0] = ours
        if mine is not None:
            sys.modules["sitecustomize"] = mine


if os.environ.get("OUTLAST_STANDIN"):
    sys.meta_path.insert(0, _BeforeTorchvision())
if os.environ.get("OUTLAST_STANDIN") == "cuda":
    sys.meta_path.insert(0, _AfterTorch())
_load_the_other()
