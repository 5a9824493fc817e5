"""Commands that name a folder of results: they are not changed, so they are told."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TRAIN = """
    import os
    import subprocess
    import numpy as np

    name = "first"
    os.makedirs("kept/" + name, exist_ok=True)
    {command}
    w = 0.0
    for epoch in range(4):
        w += 1
        np.save("kept/" + name + "/w.npy", w)
"""
TOLD = "goes on using 'kept', of which --train_url takes the place"


@pytest.mark.parametrize(
    "command",
    [
        'os.system("cp train.py kept" + "/" + name + "/" + "train.py.backup")',
        'os.system("cp train.py ./kept/%s" % name)',
        'os.system(f"cp -r code kept/{name}/code")',
        'subprocess.call("rm -rf kept", shell=True)',
    ],
)
def test_a_command_that_uses_a_folder_of_results_is_told(command):
    done = adapt(TRAIN.format(command=command))
    assert command in done.text
    assert TOLD in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "command",
    [
        'os.system("mkdir -p kept/first")',
        'os.system("nvidia-smi")',
        'os.system("cp -r codes keptback")',
        'subprocess.run(["cp", "train.py", "kept/first"])',  # a path by itself follows the option
    ],
)
def test_other_commands_are_none_of_results(command):
    assert TOLD not in said(adapt(TRAIN.format(command=command)), Kind.DIFFERS)
