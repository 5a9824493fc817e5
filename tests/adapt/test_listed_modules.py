"""Modules whose names somebody goes through get no new ones, and are known again the second time."""

from __future__ import annotations

from programs import Program


def test_settings_that_are_all_printed_are_changed_once(tmp_path):
    program = Program(
        tmp_path,
        config='ROWS = "rows/"\nPLOTS = "plots/"\n',
        train="""
            import os
            import numpy as np
            import config
            for key, value in config.__dict__.items():
                print(key)
            rows = [np.load(config.ROWS + each) for each in os.listdir(config.ROWS)]
            np.save(config.PLOTS + "sum.npy", sum(rows))
        """,
    )
    program.adapt()
    text = program.text("config.py")
    assert text.count("import") == 4 and text.count('__import__("os").path.join') == 2, text
