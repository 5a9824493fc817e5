"""A class that a table of another file holds takes its place where it is made by the name that it was picked by."""

from __future__ import annotations

import pytest
from programs import POINTS, Program

SETS = """
    import os
    class Rows:
        def __init__(self, root, split):
            with open(os.path.join(root, split + ".csv")) as f:
                self.rows = f.read().split()
    class Words(Rows):
        def __init__(self, root, split):
            with open(os.path.join(root, split + ".txt")) as f:
                self.rows = f.read().split()
    {table}
"""
TRAIN = """
    import json
    from sets import get_set
    def train(cfg):
        kind = get_set(cfg["data"]["kind"])
        path = cfg["data"]["path"]
        print(len(kind(path, split="train").rows))
    with open("config.json") as f:
        cfg = json.load(f)
    train(cfg)
"""
TABLES = {
    "written where it is asked": 'def get_set(name):\n        return {"rows": Rows, "words": Words}[name]',
    "with a name": 'TABLE = {"rows": Rows, "words": Words}\n    def get_set(name):\n        return TABLE[name]',
}


@pytest.mark.parametrize("table", TABLES)
def test_what_a_class_of_a_table_reads_is_data(table, tmp_path):
    program = Program(tmp_path / "code", sets=SETS.format(table=TABLES[table]), train=TRAIN)
    (tmp_path / "code/config.json").write_text('{"data": {"kind": "rows", "path": "rows"}}')
    for home in (tmp_path / "code/rows", tmp_path / "given"):
        home.mkdir()
        (home / "train.csv").write_text(POINTS if "given" in str(home) else "1,2\n")
    program.adapt()
    assert program.run().lines == ["1"]
    ran = program.run("--data_url", str(tmp_path / "given"))
    assert ran.lines == ["8"], ran.error
