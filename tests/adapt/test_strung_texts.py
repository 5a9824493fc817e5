"""Paths whose text stands in several parts side by side."""

from __future__ import annotations

from checked import said
from programs import Program

from outlast.migrate.engine import Kind

STRUNG = {
    "train": """
        import sys
        from modes import test, train
        (test if "test" in sys.argv else train)("rows", "log")
    """,
    "modes": """
        def train(name, kind):
            path = (
                f"./models/net_{name}"
                f"{'_' if kind else ''}{kind}.txt"
            )
            with open(path, "w") as f:
                f.write("trained")
        def test(name, kind):
            path = (
                f"./models/net_{name}"
                f"{'_' if kind else ''}{kind}.txt"
            )
            with open(path) as f:
                print(f.read())
    """,
}


def test_a_result_whose_name_has_several_parts_lies_in_the_output_folder(tmp_path):
    program = Program(tmp_path / "code", **STRUNG)
    done = program.adapt()
    assert "\n" not in said(done, Kind.CHANGED)
    options = "--train_url", str(tmp_path / "out")
    ran = program.run(*options)
    assert ran.code == 0, ran.error
    assert (tmp_path / "out/models/net_rows_log.txt").read_text() == "trained"
    assert not (tmp_path / "code/models").exists()
    assert program.run(*options, "test").lines == ["trained"]
