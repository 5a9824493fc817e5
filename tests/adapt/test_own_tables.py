"""Tables that an object begins when it is made keep the rows of the stints before."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from programs import Program
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

TABLE = """
from pathlib import Path
class Table:
    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.begin()
    def begin(self):
        with self.path.open("w") as f:
            f.write("epoch,loss\\n")
    def add(self, *row):
        with self.path.open("a") as f:
            print(*row, sep=",", file=f)
"""
GIVEN = """
class Table:
    def __init__(self, path):
        with open(path, "w") as f:
            f.write("epoch,loss\\n")
        self.path = path
    def add(self, *row):
        self._add(",".join(map(str, row)))
    def _add(self, line):
        with open(self.path, "a") as f:
            f.write(line + "\\n")
"""
ROUNDS = """
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
table = Table("table.csv")
for epoch in range(4):
    print(epoch)
    loss = sum(step(net, opt, x, y) for x, y in POINTS)
    table.add(epoch, loss)
    print("added")
print("end")
"""
TRAINER = """
from pathlib import Path
class Trainer:
    def __init__(self, args):
        self.table = Path(args.out) / "rows" / "table.csv"
        self.table.parent.mkdir(parents=True, exist_ok=True)
        self.table.write_text("epoch,loss\\n")
        self.net = nn.Linear(1, 1)
        self.opt = torch.optim.SGD(self.net.parameters())
    def log(self, *row):
        with self.table.open("a") as f:
            print(*row, sep=",", file=f)
    def train(self):
        for epoch in range(4):
            print(epoch)
            self.log(epoch, sum(step(self.net, self.opt, x, y) for x, y in POINTS))
            print("added")
        folder = self.table.parent
        folder.mkdir(exist_ok=True)
        torch.save(self.net.state_dict(), folder / "net.pt")
        print("end")
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--out", default=".")
args = parser.parse_args()
Trainer(args).train()
"""


@pytest.mark.parametrize(
    ("text", "file"), [(TABLE + ROUNDS, "table.csv"), (GIVEN + ROUNDS, "table.csv"), (TRAINER, "rows/table.csv")]
)
def test_a_table_of_an_object_keeps_its_rows(text, file, run, tmp_path):
    run(HEAD + STEP + text)
    whole = (tmp_path / file).read_text()
    done = adapt_plainly(HEAD + STEP + text)
    run(done.text)
    assert (tmp_path / file).read_text() == whole
    for stop in (1, 3, 4, 5, 8):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        run(done.text, env=env)
        assert (tmp_path / file).read_text() == whole, stop


def test_the_folder_of_a_table_goes_where_an_option_says():
    done = adapt(HEAD + STEP + TRAINER).text
    assert "self.table.parent.mkdir(parents=True, exist_ok=True)" in done and "folder = self.table.parent\n" in done
    assert 'resume_dir = os.environ.get("OUTLAST_CHECKPOINT") or args.train_url' in done.partition("def log")[0]


def test_a_table_whose_class_does_not_see_the_options_is_told():
    text = HEAD + STEP + TABLE + textwrap.dedent("""
        import argparse
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--out", default="out")
            args = parser.parse_args()
    """) + textwrap.indent(ROUNDS.replace('"table.csv"', "args.out"), "    ") + "main()\n"  # fmt: skip
    done = adapt(text)
    assert "devnull" not in done.text and "self.path is begun anew in each start" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "change",
    [
        ("self.path = Path(path)", "self.path = Path(path) if path else None\n        if self.path is None: return"),
        ('table = Table("table.csv")', 'table = Table("table.csv")\nother = [Table("b.csv")]'),
        ("    def begin(self):\n", "    def begin(self):\n      if not self.path.exists():\n"),
    ],
)
def test_what_may_be_no_file_or_is_begun_elsewhere_stays(change):
    text = HEAD + STEP + (TABLE + ROUNDS).replace(*change)
    assert "devnull" not in adapt_plainly(text).text


def test_a_table_of_a_class_of_another_file_is_told(tmp_path):
    rounds = "from tables import Table\n" + ROUNDS
    done = Program(tmp_path / "code", train=HEAD + STEP + rounds, tables=TABLE).adapt()
    assert "self.path is begun anew in each start" in said(done, Kind.DIFFERS)
