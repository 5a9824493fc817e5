"""Tables that are begun before the rounds keep the lines of the stints before."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, adapt_plainly, said
from torch_stage import HEAD, STEP

from outlast.migrate.engine import Kind

#: the line is printed before it is written, so that a kill at a printed line falls between two rounds
ROUNDS = """
net = nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters())
for epoch in range(5):
    print(epoch)
    loss = sum(step(net, opt, x, y) for x, y in POINTS)
    add(epoch, loss)
print("end")
"""
SHAPES = {
    "a block that names the columns, which later lines read": """
        import csv
        TABLE = "table.csv"
        with open(TABLE, mode="w", newline="") as f:
            names = ["epoch", "loss"]
            csv.writer(f).writerow(names)
        def add(epoch, loss):
            with open(TABLE, "a", newline="") as f:
                csv.writer(f).writerow([epoch, loss][:len(names)])
    """,
    "a file that is closed at once": """
        open("table.csv", "w").close()
        def add(epoch, loss):
            with open("table.csv", "a") as f:
                f.write(f"{epoch},{loss}\\n")
    """,
    "a path that opens itself": """
        import csv
        from pathlib import Path
        TABLE = Path("table.csv")
        with TABLE.open("w", newline="") as f:
            csv.writer(f).writerow(["epoch", "loss"])
        def add(epoch, loss):
            with TABLE.open(mode="a", newline="") as f:
                csv.writer(f).writerow([epoch, loss])
    """,
    "a path that is put together, and a text that is written at once": """
        import pathlib
        HERE = pathlib.Path(".")
        (HERE / "table.csv").write_text("epoch,loss\\n")
        def add(epoch, loss):
            with (HERE / "table.csv").open("a") as f:
                f.write(f"{epoch},{loss}\\n")
    """,
    "a name that is closed": """
        out = open("table.csv", "w")
        out.write("epoch,loss\\n")
        out.close()
        def add(epoch, loss):
            print(epoch, loss, sep=",", file=open("table.csv", "a+"))
    """,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_table_keeps_the_lines_of_the_stints_before(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape]) + ROUNDS
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt_plainly(text)
    run(done.text)
    assert (tmp_path / "table.csv").read_text() == whole
    for stop in range(1, 7):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        run(done.text, env=env)
        assert (tmp_path / "table.csv").read_text() == whole, stop


def test_a_function_inside_of_the_training_adds_to_the_file_that_this_begins(run, tmp_path):
    begun = """
        from pathlib import Path
        def main(table):
            with table.open("w") as f:
                f.write("epoch,loss\\n")
            def add(epoch, loss):
                with table.open("a") as f:
                    f.write(f"{epoch},{loss}\\n")
    """
    text = HEAD + STEP + textwrap.dedent(begun) + textwrap.indent(ROUNDS, "    ") + 'main(Path("table.csv"))\n'
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt_plainly(text)
    env = {"OUTLAST_CHECKPOINT": str(tmp_path / "kept")}
    assert run(done.text, env=env, kill_after=3).was_killed
    run(done.text, env=env)
    assert (tmp_path / "table.csv").read_text() == whole


def test_what_a_round_has_added_before_it_was_stopped_is_not_added_twice(run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES["a block that names the columns, which later lines read"])
    text += ROUNDS.replace("    add(epoch, loss)\n", '    add(epoch, loss)\n    print("added", epoch)\n')
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt_plainly(text)
    for stop in range(1, 12):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        run(done.text, env=env)
        assert (tmp_path / "table.csv").read_text() == whole, stop


def test_a_training_that_is_done_leaves_what_the_next_one_has_added():
    text = HEAD + STEP + textwrap.dedent(SHAPES["a block that names the columns, which later lines read"])
    inner = textwrap.indent(ROUNDS, "    ")
    assert "truncate" not in adapt_plainly(text + "for seed in (1, 2):" + inner).text


@pytest.mark.parametrize(
    "head",
    [
        'with open("settings.txt", "w") as f:\n    f.write("rate 0.1")\n',
        'import os\nif not os.path.exists("table.csv"):\n    open("table.csv", "w").close()\n',
    ],
)
def test_what_is_begun_only_once_or_for_itself_stays(head):
    text = HEAD + STEP + head + 'def add(epoch, loss):\n    open("table.csv", "a").write("x")\n' + ROUNDS
    assert "devnull" not in adapt_plainly(text).text


def test_a_path_of_the_contract_is_not_begun_anew_either():
    text = HEAD + STEP + textwrap.dedent(SHAPES["a file that is closed at once"]) + ROUNDS
    assert 'else os.path.join(contract.train_url or "", "table.csv"), "w")' in adapt(text).text


@pytest.mark.parametrize("made", ['logging.FileHandler("a.log", mode="w")', 'logging.FileHandler("a.log", "w")',
                                  'logging.basicConfig(filename="a.log", filemode="w")'])  # fmt: skip
def test_a_log_that_each_start_empties_is_told(made):
    text = HEAD + STEP + f"import logging\n{made}\ndef add(epoch, loss):\n    logging.info(loss)\n" + ROUNDS
    assert "empties its file" in said(adapt_plainly(text), Kind.DIFFERS)
    assert "empties its file" not in said(adapt_plainly(text.replace('"w"', '"a"')), Kind.DIFFERS)
