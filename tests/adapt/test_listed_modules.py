"""Modules whose names somebody goes through get no new ones, and are known again the second time."""

from __future__ import annotations

import numpy as np
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


def test_a_folder_of_a_configuration_keeps_the_slash_before_what_is_added(tmp_path):
    (tmp_path / "config.yaml").write_text("rows: rows/\n")
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in/a.npy", np.ones(3))
    program = Program(
        tmp_path,
        train="""
            import os
            import numpy as np
            config = dict(line.strip().split(": ") for line in open("config.yaml"))
            print(sum(np.load(config["rows"] + each).sum() for each in os.listdir(config["rows"])))
        """,
    )
    program.adapt()
    assert program.run("--data_url", str(tmp_path / "in")).lines == ["3.0"]
