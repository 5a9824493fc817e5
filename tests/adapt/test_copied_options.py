"""Settings that another file fills from options: `config.OUTPUT = args.output`."""

from __future__ import annotations

import pytest
from programs import Program

FILLS = {
    "in a branch": """
            if args.output:
                config.OUTPUT = args.output
            if args.data_path is not None:
                config.DATA_PATH = args.data_path
    """,
    "always": """
            config.OUTPUT = args.output
            config.DATA_PATH = args.data_path
    """,
    "and something below it": """
            if args.output:
                config.OUTPUT = args.output
            if args.data_path:
                config.DATA_PATH = args.data_path
            config.OUTPUT = os.path.join(config.OUTPUT, config.NAME)
    """,
}
SETTINGS = """
        import os
        class Settings:
            OUTPUT = ""
            DATA_PATH = ""
            NAME = "small"
            START = 0
        def update(config, args):
            {fill}
        def settings_of(args):
            config = Settings()
            update(config, args)
            return config
"""
TRAIN = """
        import argparse, os
        from settings import settings_of
        from rows import total
        from saving import save
        def parse():
            parser = argparse.ArgumentParser()
            parser.add_argument("--data-path", type=str, default="rows", help="path to dataset")
            parser.add_argument("--output", default="out", metavar="PATH", help="root of output folder")
            args = parser.parse_args()
            return settings_of(args)
        def main(config):
            weight = 0.0
            for epoch in range(config.START, 3):
                weight += total(config)
                print(weight)
                save(config, weight)
        config = parse()
        os.makedirs(config.OUTPUT, exist_ok=True)
        with open(os.path.join(config.OUTPUT, "settings.txt"), "w") as file:
            file.write(config.NAME)
        main(config)
"""
ROWS = """
        import os
        def total(config):
            with open(os.path.join(config.DATA_PATH, "a.csv")) as lines:
                return sum(float(line) for line in lines)
"""
SAVING = """
        import os
        def save(config, weight):
            with open(os.path.join(config.OUTPUT, "weight.txt"), "w") as file:
                file.write(str(weight))
"""


def _program(folder, fill):
    lines = [line.strip() if not line.startswith(" " * 16) else "    " + line.strip() for line in fill.splitlines()]
    body = "\n            ".join(line for line in lines if line.strip())
    program = Program(folder, train=TRAIN, rows=ROWS, saving=SAVING, settings=SETTINGS.format(fill=body))
    for at, name in enumerate(("rows", "brought"), 1):
        (folder / name).mkdir()
        (folder / name / "a.csv").write_text(f"{at}\n")
    return program


@pytest.mark.parametrize("fill", FILLS)
def test_all_files_take_the_place_of_the_option(fill, tmp_path):
    program = _program(tmp_path, FILLS[fill])
    before = program.run()
    done = program.adapt()
    assert program.run().lines == before.lines == ["1.0", "2.0", "3.0"], before.error
    assert "CONTRACT" not in program.text("rows.py") + program.text("saving.py") + program.text("settings.py")
    assert not [each for each in done.findings if "stays as it is" in each.message]
    out = tmp_path / "given"
    ran = program.run("--data_url", str(tmp_path / "brought"), "--train_url", str(out))
    assert ran.lines == ["2.0", "4.0", "6.0"], ran.error
    made = {each.name for each in out.rglob("*.txt")}
    assert made == {"settings.txt", "weight.txt"}
    assert len({each.parent for each in out.rglob("*.txt")}) == 1


def test_a_setting_that_gets_something_else_as_well_stays_in_all_files(tmp_path):
    fill = "config.OUTPUT = args.output\nconfig.DATA_PATH = args.data_path\nif config.START:\n    config.OUTPUT = 'x'"
    program = _program(tmp_path, fill.replace("\n    ", "\n" + " " * 16))
    done = program.adapt()
    ran = program.run("--data_url", str(tmp_path / "brought"), "--train_url", str(tmp_path / "given"))
    assert ran.lines == ["2.0", "4.0", "6.0"], ran.error
    assert (tmp_path / "out/weight.txt").exists()
    assert any(each.message.startswith("config.OUTPUT stays as it is") for each in done.findings)
