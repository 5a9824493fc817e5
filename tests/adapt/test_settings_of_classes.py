"""Settings that are fields of classes, put together of one another."""

from __future__ import annotations

import pytest
from programs import Program


@pytest.mark.parametrize("here", ["__file__", "'__file__'"])
def test_places_that_a_class_puts_together_of_its_own_give_way(here, tmp_path):
    code = tmp_path / "code"
    program = Program(
        code,
        train="""
            from conf import Small
            from rows import Rows
            rows = Rows()
            print(rows.first)
            open(Small.save, "w").write(rows.first)
        """,
        rows="""
            from conf import Base
            class Rows:
                def __init__(self):
                    self.first = self.read(Base.top)
                def read(self, path):
                    return open(path).readline().strip()
        """,
        conf=f"""
            import os
            here = os.path.abspath(os.path.dirname({here}))
            data, nets = os.path.join(here, "data"), os.path.join(here, "nets")
            class Base:
                root = os.path.join(data, "raw")
                top = os.path.join(root, "x.csv")
            class Small(Base):
                save = os.path.join(nets, "w.txt")
        """,
    )
    for folder, text in ((code / "data" / "raw", "old"), (tmp_path / "in" / "raw", "new")):
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text(text)
    (code / "nets").mkdir()
    program.adapt()
    assert program.run().lines == ["old"]
    given = program.run("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"))
    assert (given.lines, given.error) == (["new"], "")
    assert (tmp_path / "out" / "w.txt").read_text() == "new"
