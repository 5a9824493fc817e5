"""The folder of the code that a module names: what lies below it follows the contract where that is said, no sooner."""

from __future__ import annotations

from programs import Program

TRAIN = """
    import numpy as np
    from settings import BASE_DIR

    logs = BASE_DIR / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    w = 0.0
    for epoch in range(4):
        w += 1
        np.save(logs / "w.npy", w)
"""


def test_a_module_keeps_the_folder_in_which_it_lies(tmp_path):
    settings = "from pathlib import Path\nBASE_DIR = Path(__file__).resolve().parent\n"
    program = Program(tmp_path, settings=settings, train=TRAIN)
    program.adapt()
    assert program.text("settings.py") == settings
    assert "(contract.train_url) if contract.train_url else BASE_DIR) / " in program.text("train.py")


def test_a_folder_of_a_module_that_is_no_folder_of_the_code_follows_the_contract_there(tmp_path):
    settings = 'from pathlib import Path\nBASE_DIR = Path("/srv/results")\n'
    program = Program(tmp_path, settings=settings, train=TRAIN)
    program.adapt()
    assert "CONTRACT_TRAIN_URL" in program.text("settings.py")
