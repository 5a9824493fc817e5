"""`python seeded.py SCRIPT ARGUMENT…`: run a script as itself, with generators that begin alike in every run."""

import importlib.util
import os
import random
import runpy
import sys

SEEDS = {
    "numpy": lambda numpy: numpy.random.seed(1),
    "torch": lambda torch: (torch.manual_seed(1), torch.set_num_threads(1)),
    "tensorflow": lambda tensorflow: tensorflow.random.set_seed(1),
    "mindspore": lambda mindspore: mindspore.set_seed(1),
}

random.seed(1)
for name, seed in SEEDS.items():
    if importlib.util.find_spec(name):
        seed(importlib.import_module(name))
del sys.argv[0]
sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
