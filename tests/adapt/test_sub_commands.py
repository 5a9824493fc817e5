"""Scripts with sub-commands: an option is there only in a start of the command that has it."""

from __future__ import annotations

from checked import adapt
from stage import play

TOLD = """
import argparse
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train")
train.add_argument("--rows", required=True, help="file with the rows")
train.add_argument("--names", default="names.txt", help="file with the names")
train.add_argument("--save-dir", default="models")
look = commands.add_parser("look")
look.add_argument("--picture", required=True, help="file to look at")
look.add_argument("--result", required=True, help="file for what is seen")
args = parser.parse_args()
if args.command == "train":
    print(open(args.rows).read(), open(args.names).read())
    with open(args.save_dir + "/net.txt", "w") as out:
        out.write("net")
else:
    with open(args.result, "w") as out:
        out.write(open(args.picture).read())
"""


def test_options_of_another_command_are_left_alone(tmp_path):
    done = adapt(TOLD)
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    for name in ("rows.csv", "names.txt", "cat.png"):
        (data / name).write_text(name)
    given = "--data_url", str(data), "--train_url", str(out)
    assert play(done.text, tmp_path, "train", "--rows", "rows.csv", *given).output == "rows.csv names.txt\n"
    play(done.text, tmp_path, "look", "--picture", "x/cat.png", "--result", "seen.txt", *given)
    assert (out / "seen.txt").read_text() == "cat.png" and len([*out.rglob("net.txt")]) == 1


def test_the_one_folder_of_a_command_is_the_contracts():
    done = adapt("""
        import argparse
        import pandas as pd
        parser = argparse.ArgumentParser()
        commands = parser.add_subparsers(dest="command")
        train = commands.add_parser("train")
        train.add_argument("--rows", default="rows")
        test = commands.add_parser("test")
        test.add_argument("--others", default="others")
        args = parser.parse_args()
        if args.command == "train":
            print(pd.read_csv(args.rows + "/a.csv"))
        else:
            print(pd.read_csv(args.others + "/a.csv"))
    """)
    for name in ("rows", "others"):
        assert f'hasattr(args, "{name}"):\n        args.{name} = contract.data_url\n' in done.text


def test_a_folder_that_two_commands_have_lies_beside_what_either_has():
    done = adapt("""
        import argparse
        import pandas as pd
        parser = argparse.ArgumentParser()
        commands = parser.add_subparsers(dest="command")
        train = commands.add_parser("train")
        train.add_argument("--rows", default="rows")
        train.add_argument("--labels", default="labels")
        test = commands.add_parser("test")
        test.add_argument("--rows", default="rows")
        args = parser.parse_args()
        print(pd.read_csv(args.rows + "/a.csv"))
        if args.command == "train":
            print(pd.read_csv(args.labels + "/a.csv"))
    """)
    assert "args.rows = contract.data_url" not in done.text and "args.labels = contract.data_url" not in done.text
