"""Functions that are told a place before somebody else calls them: `partial(count, folder=…)`."""

from __future__ import annotations

from checked import adapt
from programs import Program
from stage import play

READ = """
from functools import partial
from pathlib import Path

def count(name, folder):
    return len(next(iter(sorted(folder.glob(name + ".*")))).read_text())
"""


def test_a_function_of_a_module_reads_where_it_is_told(tmp_path):
    rows = (
        READ
        + """
class Rows:
    def __init__(self, texts, marks):
        self.texts, self.marks = Path(texts), Path(marks)
        names = sorted(path.stem for path in self.texts.glob("*.txt"))
        self.sizes = list(map(partial(count, folder=self.marks), names))
"""
    )
    train = """
from pathlib import Path
from rows import Rows

texts = Path("./data/texts/")
marks = Path("./data/marks/")
print(Rows(texts, marks).sizes)
"""
    program = Program(tmp_path / "code", train=train, rows=rows)
    for folder in (tmp_path / "code/data", tmp_path / "given"):
        for kind, text in (("texts", "abc"), ("marks", "de")):
            (folder / kind).mkdir(parents=True)
            (folder / kind / "one.txt").write_text(text)
    assert program.run().lines == ["[2]"]
    program.adapt()
    assert program.run().lines == ["[2]"]
    assert program.run(f"--data_url={tmp_path / 'given'}").lines == ["[2]"], "not in the contract's folder itself"


def test_a_place_is_followed_into_such_a_function(tmp_path):
    text = (
        READ
        + """
sizes = map(partial(count, folder=Path("rows/new")), ["one"])
print(list(sizes))
"""
    )
    done = adapt(text)
    (tmp_path / "given").mkdir()
    (tmp_path / "given/one.txt").write_text("abcd")
    assert play(done.text, tmp_path, "--data_url=given").output == "[4]\n"
