"""Data that nobody is seen to read is named, in whichever file its place stands."""

from __future__ import annotations

from programs import Program


def test_files_that_another_file_puts_into_a_list_are_named(tmp_path):
    program = Program(
        tmp_path,
        rows="""
            import numpy as np
            class Rows:
                def __init__(self, rows):
                    self.rows = rows
                def __getitem__(self, at):
                    label, path = self.rows[at]
                    return np.load(path)
            def read():
                rows = []
                for at in range(3):
                    rows.append((at, "data/part ({}).npy".format(at)))
                return Rows(rows)
        """,
        train="from rows import read\nprint(read()[0])\n",
    )
    said = [each.message for each in program.adapt().findings]
    (words,) = [each for each in said if each.startswith("nothing reads --data_url")]
    assert "what is done with 'data/part ({}).npy' (line 11 of another file) is not understood" in words
