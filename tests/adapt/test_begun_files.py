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


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_round_has_added_before_it_was_stopped_is_not_added_twice(shape, run, tmp_path):
    text = HEAD + STEP + textwrap.dedent(SHAPES[shape])
    text += ROUNDS.replace("    add(epoch, loss)\n", '    add(epoch, loss)\n    print("added", epoch)\n')
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt_plainly(text)
    for stop in range(1, 12):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        run(done.text, env=env)
        assert (tmp_path / "table.csv").read_text() == whole, stop


def test_rows_below_an_option_are_not_added_twice_either(run, tmp_path):
    written = 'open("table.csv", "a").write(f"{epoch},{loss}\\n")\n    print("added")'
    text = HEAD + STEP + 'open("table.csv", "w").close()\n' + ROUNDS.replace("add(epoch, loss)", written)
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt(text)
    for stop in range(1, 12):
        folder = tmp_path / f"out{stop}"
        assert run(done.text, "--train_url", str(folder), kill_after=stop).was_killed
        run(done.text, "--train_url", str(folder))
        assert (folder / "table.csv").read_text() == whole, stop


def test_a_function_that_is_given_the_options_by_another_name_is_not_spoken_of_where_that_is_unknown(run, tmp_path):
    text = HEAD + STEP + textwrap.dedent("""
        import argparse
        def add(opt, epoch, loss):
            with open("table.csv", "a") as f:
                print(epoch, loss, opt.rate, file=f)
        parser = argparse.ArgumentParser()
        parser.add_argument("--rate", default=1)
        args = parser.parse_args()
    """) + ROUNDS.replace("add(epoch", "add(args, epoch")  # fmt: skip
    done = adapt(text)
    assert "os.path.join(opt.train_url" in done.text
    run(done.text, "--train_url", str(tmp_path / "out"))
    run(done.text, "--train_url", str(tmp_path / "out"))
    assert (tmp_path / "out/table.csv").read_text().count("\n") == 5


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


def test_a_table_beside_a_training_in_plain_python_is_kept_as_well(run, tmp_path):
    text = textwrap.dedent("""
        import random
        random.seed(3)
        with open("table.csv", "w") as f:
            f.write("epoch,loss\\n")
        loss = 1.0
        for epoch in range(4):
            print(epoch)
            loss -= 0.1 * random.random()
            with open("table.csv", "a") as f:
                f.write(f"{epoch},{loss}\\n")
            print("added")
    """)
    run(text)
    whole = (tmp_path / "table.csv").read_text()
    done = adapt_plainly(text)
    for stop in range(1, 9):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        run(done.text, env=env)
        assert (tmp_path / "table.csv").read_text() == whole, stop


def test_tensorflow_asks_for_the_checkpoint_before_a_table_is_begun():
    done = adapt_plainly(textwrap.dedent("""
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        opt = tf.keras.optimizers.SGD()
        with open("table.csv", "w") as f:
            f.write("epoch,loss\\n")
        for epoch in range(4):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(tf.ones((2, 3))) ** 2)
            slopes = tape.gradient(loss, model.trainable_variables)
            opt.apply_gradients(zip(slopes, model.trainable_variables))
            with open("table.csv", "a") as f:
                f.write(f"{epoch},{float(loss)}\\n")
    """)).text  # fmt: skip
    asked = 'resume_path = os.path.join(resume_dir or "", "resume", "checkpoint")\n'
    assert asked + "with open(os.devnull if resume_dir and os.path.exists(resume_path)" in done
    assert (
        done.count("resume_dir = ") == 1 and '        if os.path.exists("table.csv"):\n            os.truncate' in done
    )
