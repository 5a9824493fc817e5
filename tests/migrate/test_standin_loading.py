"""What the stand-in puts in place before a library of the script is imported, with small packages in their place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import outlast.migrate

STANDIN = Path(outlast.migrate.__file__).parent / "standin"
#: Like torch, it forgets the operators of a library with the library.
TORCH = """
import types
import weakref

known = set()


class Library:
    def __init__(self, name, kind):
        self.mine = set()
        weakref.finalize(self, known.difference_update, self.mine)

    def define(self, schema):
        operator = schema.partition("(")[0]
        self.mine.add(operator)
        known.add(operator)


library = types.SimpleNamespace(Library=Library)
ops = types.SimpleNamespace(torchvision=types.SimpleNamespace())
"""
TORCHVISION = """
import torch

assert {"nms", "qnms"} <= torch.known, torch.known
print("imported")
"""


def test_a_torchvision_built_for_cuda_finds_the_operators_that_torch_lacks(tmp_path):
    (tmp_path / "torch.py").write_text(TORCH)
    (tmp_path / "torchvision.py").write_text(TORCHVISION)
    environ = {**os.environ, "OUTLAST_STANDIN": "npu", "PYTHONPATH": f"{STANDIN}{os.pathsep}{tmp_path}"}
    ran = subprocess.run(
        [sys.executable, "-c", "import torchvision"], env=environ, capture_output=True, text=True, check=False
    )
    assert ran.stdout == "imported\n", ran.stderr
