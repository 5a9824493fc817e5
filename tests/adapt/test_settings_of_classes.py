"""Settings that are fields of classes, put together of one another."""

from __future__ import annotations

import json
import textwrap

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


FILLED = """
    from pathlib import Path
    from shelf import Model

    class Settings(Model):
        rows: Path = Path("TODO")
        output_path: Path = Path("TODO")
        saved: Path = Path("TODO")
"""
SHELF = """
    import json

    class Model:
        @classmethod
        def load_file(cls, name):
            made = cls()
            for key, value in json.load(open(name)).items():
                setattr(made, key, type(getattr(cls, key))(value))
            return made
"""


@pytest.mark.parametrize("name", ["saved", "output_path"])
def test_what_a_file_fills_into_a_class_gives_way_where_it_is_used(name, tmp_path):
    code = tmp_path / "code"
    train = f"""
        from conf import Settings
        settings = Settings.load_file("run.json")
        settings.{name}.mkdir()
        kept = settings.{name} / "kept"
        kept.mkdir()
        first = open(settings.rows).readline().strip()
        (kept / "w.txt").write_text(first)
        print(first)
    """
    program = Program(code, train=train, conf=FILLED)
    # A library, as far as the program is concerned.
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "shelf.py").write_text(textwrap.dedent(SHELF))
    (code / "run.json").write_text(json.dumps({"rows": "sets/x.csv", name: "run-1"}))
    for folder, text in ((code / "sets", "old"), (tmp_path / "in", "new")):
        folder.mkdir(parents=True)
        (folder / "x.csv").write_text(text)
    program.adapt()
    path = {"PYTHONPATH": str(tmp_path / "libraries")}
    assert program.run(environ=path).lines == ["old"]
    for _ in range(2):  # a second stint finds the folders
        given = program.run("--data_url", str(tmp_path / "in"), "--train_url", str(tmp_path / "out"), environ=path)
        assert (given.lines, given.error) == (["new"], "")
    assert (tmp_path / "out" / "kept" / "w.txt").read_text() == "new"
