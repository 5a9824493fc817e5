"""Settings that the script chooses by, and that also begin the name of a file."""

from __future__ import annotations

import pytest
from checked import said
from programs import Program

from outlast.migrate.engine import Kind

SCRIPT = """
    import tools
    config = tools.read_settings()
    {asks}
    tools.write(config, tools.first(config["kind"]))
"""
TOOLS = """
    import json, os
    SIZES = {"small": 1, "large": 2}
    def read_settings():
        return json.load(open("config.json"))
    def first(kind):
        with open(kind + "_rows.txt") as f:
            return f.read()
    def write(config, rows):
        with open(os.path.join(config["out"], "w.txt"), "w") as f:
            f.write(rows)
"""
ASKS = {
    "a table of another file": 'print(tools.SIZES[config["kind"]])',
    "a comparison": """print(1 if config['kind'] == "small" else 2 if config['kind'] == "large" else 3)""",
}


def _program(folder, asks):
    program = Program(folder / "code", train=SCRIPT.format(asks=asks), tools=TOOLS)
    (program.folder / "config.json").write_text('{"kind": "small", "out": "."}')
    (program.folder / "small_rows.txt").write_text("1 2 3")
    return program, program.adapt()


@pytest.mark.parametrize("asks", ASKS)
def test_a_setting_that_the_script_chooses_by_stays(asks, tmp_path):
    program, done = _program(tmp_path, ASKS[asks])
    assert 'config["kind"] stays as it is' in said(done, Kind.DIFFERS)
    (tmp_path / "out").mkdir()
    ran = program.run("--data_url", str(tmp_path / "data"), "--train_url", str(tmp_path / "out"))
    assert ran.lines == ["1"], ran.error
    assert (tmp_path / "out/w.txt").read_text() == "1 2 3"


def test_a_setting_that_is_compared_with_one_word_is_a_place(tmp_path):
    program, done = _program(tmp_path, 'print(config["kind"] != "none")')
    assert "stays as it is" not in said(done, Kind.DIFFERS)
    assert 'config["kind"] = ' in program.text("train.py")
