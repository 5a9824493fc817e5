"""Ways in which scripts parse arguments: each takes the contract's too, and stays what it was without them."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

TRAIN = """
    x = np.load(os.path.join({0}, "x.npy"))
    total = 0.0
    for epoch in range({1}):
        total = total + x.sum()
        print(epoch, total)
    os.makedirs("out", exist_ok=True)
    np.save("out/total.npy", total)
"""
OPTIONS = """
    {0}.add_argument("--data-dir", default="data")
    {0}.add_argument("--epochs", type=int, default=4)
"""
#: name → (the script, the set-up that is found)
WAYS = {
    "handed in": "def main(argv=None):\n    p = argparse.ArgumentParser()"
    + OPTIONS.format("p")
    + "    args = p.parse_args(argv)"
    + TRAIN.format("args.data_dir", "args.epochs")
    + "main()\n",
    "sys.argv": "def main():\n    p = argparse.ArgumentParser()"
    + OPTIONS.format("p")
    + "    args = p.parse_args(sys.argv[1:])"
    + TRAIN.format("args.data_dir", "args.epochs")
    + "main()\n",
    "a function makes the parser": "def get_parser():\n    parser = argparse.ArgumentParser()"
    + OPTIONS.format("parser")
    + "    return parser\ndef main(args):"
    + TRAIN.format("args.data_dir", "args.epochs")
    + "if __name__ == '__main__':\n    main(get_parser().parse_args())\n",
    "a function returns what it parsed": "def parse_args():\n    parser = argparse.ArgumentParser()"
    + OPTIONS.format("parser")
    + "    args = parser.parse_args()\n    assert args.epochs\n    return args\ndef main():\n    opt = parse_args()"
    + TRAIN.format("opt.data_dir", "opt.epochs")
    + "main()\n",
    "handed on unnamed": "def parse():\n    parser = argparse.ArgumentParser()"
    + OPTIONS.format("parser")
    + "    return parser.parse_args()\ndef train(cfg):"
    + TRAIN.format("cfg.data_dir", "cfg.epochs")
    + "train(parse())\n",
    "a dictionary": "def main():\n    ap = argparse.ArgumentParser()"
    + OPTIONS.format("ap")
    + "    args = vars(ap.parse_args())"
    + TRAIN.format('args["data_dir"]', 'args["epochs"]')
    + "main()\n",
    "a class of options": "class Options:\n  def __init__(self):\n    self.parser = argparse.ArgumentParser()"
    + OPTIONS.format("self.parser")
    + "  def parse(self):\n    self.opt = self.parser.parse_args()\n    return self.opt\ndef main(opt):"
    + TRAIN.format("opt.data_dir", "opt.epochs")
    + "main(Options().parse())\n",
    "a global name": "parser = argparse.ArgumentParser()\n"
    + textwrap.dedent(OPTIONS.format("parser"))
    + "def main():\n    global args\n    args = parser.parse_args()\n    train()\ndef train():"
    + TRAIN.format("args.data_dir", "args.epochs")
    + "main()\n",
    "kept in self": "class Trainer:\n  def __init__(self, args):\n    self.args = args\n  def train(self):"
    + TRAIN.format("self.args.data_dir", "self.args.epochs")
    + "def main():\n    p = argparse.ArgumentParser()"
    + OPTIONS.format("p")
    + "    Trainer(p.parse_args()).train()\nmain()\n",
    "optparse": "def main():\n    p = optparse.OptionParser()"
    + OPTIONS.format("p").replace("add_argument", "add_option").replace("type=int", 'type="int"')
    + "    (options, args) = p.parse_args()"
    + TRAIN.format("options.data_dir", "options.epochs")
    + "main()\n",
}
HEAD = "import argparse, optparse, os, sys\nimport numpy as np\n"


@pytest.mark.parametrize("way", WAYS)
def test_the_parser_of_the_script_takes_the_options_of_the_contract(way, tmp_path):
    text = HEAD + WAYS[way]
    done = adapt(text)
    assert done.setup == ("optparse" if way == "optparse" else "argparse") and "contract" not in done.text
    for name in ("before", "after", "platform", "input"):
        (tmp_path / name / "data").mkdir(parents=True)
        np.save(tmp_path / name / "data" / "x.npy", np.ones(2 if name == "input" else 3))
    before = play(text, tmp_path / "before", "--epochs=2")
    after = play(done.text, tmp_path / "after", "--epochs=2")
    assert (after.output, after.files) == (before.output, before.files)
    given = [f"--data_url={tmp_path / 'input' / 'data'}", f"--train_url={tmp_path / 'results'}", "--epochs=2"]
    there = play(done.text, tmp_path / "platform", *given)
    assert there.output == "0 2.0\n1 4.0\n" and set(there.files) == {"data/x.npy"}
    assert (tmp_path / "results" / "total.npy").exists()


@pytest.mark.parametrize("line", ['p.add_argument("data")', 'p.add_argument("-d", "--data", required=True)'])
def test_what_must_be_given_is_still_asked_for_as_before(line):
    text = f"import argparse, os\np = argparse.ArgumentParser()\n{line}\na = p.parse_args()\nos.listdir(a.data)\n"
    errors = []
    for each in (text, adapt(text).text):
        with contextlib.redirect_stderr(io.StringIO()) as error, pytest.raises(SystemExit):
            old, sys.argv = sys.argv, ["script.py"]
            try:
                exec(compile(each, "script.py", "exec"), {})
            finally:
                sys.argv = old
        errors.append(error.getvalue().splitlines()[-1])
    assert errors[0] == errors[1]


def test_a_positional_file_keeps_its_place():
    done = adapt("""
        import argparse
        import numpy as np
        p = argparse.ArgumentParser()
        p.add_argument("table")
        a = p.parse_args()
        x = np.load(a.table)
    """)
    assert "nargs" not in done.text and "must still be given" in said(done, Kind.DIFFERS)


def test_a_function_that_runs_before_the_parsing_gets_a_parser_at_the_top():
    done = adapt("""
        import argparse
        import numpy as np
        def read():
            return np.load("d/x.npy")
        x = read()
        args = argparse.ArgumentParser().parse_args()
    """)
    assert "contract, sys.argv[1:] =" in done.text and "contract.data_url" in done.text


def test_a_module_that_parses_when_it_is_imported_finds_only_its_own(tmp_path):
    (tmp_path / "options.py").write_text(
        "import argparse\np = argparse.ArgumentParser()\np.add_argument('--n', type=int)\nargs = p.parse_args()\n"
    )
    done = adapt("import os\nfrom options import args\nimport numpy as np\nprint(args.n, np.load('d/x.npy').sum())\n")
    (tmp_path / "train.py").write_text(done.text)
    np.save(tmp_path / "x.npy", np.ones(2))
    words = ["--n=3", f"--data_url={tmp_path}"]
    ran = subprocess.run([sys.executable, "train.py", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "3 2.0\n", ran.stderr


#: a parser that has an option of the contract itself, and a path where its arguments do not reach
OWN_OPTION = """
    import argparse, sys
    import numpy as np

    x = np.load("data/x.npy")

    def parse(argv):
        parser = argparse.ArgumentParser()
        parser.add_argument({0}, default=None)
        return parser.parse_args(argv)

    def main(argv):
        args = parse(argv)
        print(args.output_path, x.sum())

    main({1})
"""


@pytest.mark.parametrize("argv", ["sys.argv[1:]", "[each for each in sys.argv[1:]]"])
@pytest.mark.parametrize("flag", ["--output_path", "--output-path"])
def test_an_option_that_the_script_has_itself_is_left_to_it(flag, argv, tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2))
    done = adapt(OWN_OPTION.format(f'"{flag}"', argv), "xihe")
    (tmp_path / "train.py").write_text(done.text)
    for words in (["--output_path", "o"], [f"{flag}=o"]):
        ran = subprocess.run([sys.executable, "train.py", f"--data_url={tmp_path}", *words],
                             cwd=tmp_path, capture_output=True, text=True, timeout=60)  # fmt: skip
        assert ran.stdout == "o 2.0\n", ran.stderr


def test_a_parser_at_the_top_knows_also_what_the_script_has_itself(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2))
    script = OWN_OPTION.replace("output_path", "data_url").format('"--data_url"', "sys.argv[1:]")
    script = script.replace("return", 'parser.add_argument("--output_path")\n        return')
    (tmp_path / "train.py").write_text(adapt(script, "xihe").text)
    ran = subprocess.run([sys.executable, "train.py", f"--data_url={tmp_path}", "--output_path=o"],
                         cwd=tmp_path, capture_output=True, text=True, timeout=60)  # fmt: skip
    assert ran.stdout == f"{tmp_path} 2.0\n", ran.stderr


def test_a_command_line_is_followed_through_the_functions_that_hand_it_on():
    done = adapt("""
        import argparse, sys
        import numpy as np

        def parse_args(argv):
            parser = argparse.ArgumentParser()
            parser.add_argument("--path", default="x")
            return parser.parse_args(argv)

        def main(argv):
            args = parse_args(argv)
            print(np.load(args.path + "/x.npy"))

        if __name__ == "__main__":
            main(sys.argv[1:])
    """)
    assert done.setup == "argparse"
    assert "--path follows --data_url" in said(done, Kind.CHANGED)


def test_what_an_object_made_at_the_import_runs_does_not_wait_for_the_arguments(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2))
    done = adapt("""
        import argparse
        import numpy as np

        def read():
            return np.load("x.npy")

        class Words:
            def __init__(self):
                self.x = read()

        words = Words()

        def train(args):
            print(words.x.sum(), args.n)

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--n", type=int, default=3)
            args = parser.parse_args()
            train(args)
    """)
    (tmp_path / "train.py").write_text(done.text)
    ran = subprocess.run([sys.executable, "train.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "2.0 3\n", ran.stderr


def test_arguments_that_another_caller_may_bring_are_not_asked_for_more(tmp_path):
    np.save(tmp_path / "x.npy", np.ones(2))
    done = adapt("""
        import argparse
        import numpy as np

        def train(args):
            if type(args) == type({}):
                args = argparse.Namespace(**args)
            print(np.load("x.npy").sum(), args.n)

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--n", type=int, default=3)
            train(parser.parse_args())
    """)
    (tmp_path / "training.py").write_text(done.text)
    code = "import training; training.train({'n': 4})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "2.0 4\n", ran.stderr


COMMANDS = {
    "click": """
        import click, os
        import numpy as np

        @click.command()
        @click.argument("source", type=click.Path(exists=True))
        @click.argument("output_path", type=click.Path())
        def main(source, output_path):
            print(np.load(os.path.join(source, "x.npy")).sum())
            os.makedirs(output_path, exist_ok=True)
            np.save(os.path.join(output_path, "total.npy"), 1)

        main()
    """,
    "absl": """
        from absl import app, flags
        import os
        import numpy as np
        _SOURCE = flags.DEFINE_string("source", None, "data", required=True)
        _OUT = flags.DEFINE_string("out", None, "results", required=True)

        def main(argv):
            print(np.load(os.path.join(_SOURCE.value, "x.npy")).sum())
            os.makedirs(_OUT.value, exist_ok=True)
            np.save(os.path.join(_OUT.value, "total.npy"), 1)

        app.run(main)
    """,
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_a_command_must_be_given_may_be_left_out_with_the_option_of_the_contract(kind, tmp_path):
    done = adapt(COMMANDS[kind])
    assert done.setup == kind
    np.save(tmp_path / "x.npy", np.ones(2))
    (tmp_path / "train.py").write_text(done.text)
    own = [".", "out"] if kind == "click" else ["--source=.", "--out=out"]
    for argv in (own, ["--data_url", str(tmp_path), "--train_url", "there"]):
        assert _start(tmp_path, *argv).stdout == "2.0\n"
    assert (tmp_path / "out" / "total.npy").is_file() and (tmp_path / "there" / "total.npy").is_file()
    before = tmp_path / "before"
    before.mkdir()
    (before / "train.py").write_text(textwrap.dedent(COMMANDS[kind]))
    ended = [_start(folder) for folder in (before, tmp_path)]
    assert ended[0].returncode == ended[1].returncode != 0
    if kind == "click":
        assert ended[0].stderr.splitlines()[-1] == ended[1].stderr.splitlines()[-1]


def _start(folder, *argv):
    return subprocess.run(
        [sys.executable, "-B", "train.py", *argv], cwd=folder, capture_output=True, text=True, timeout=60
    )


def test_a_function_of_fire_need_not_be_given_what_the_contract_gives():
    text = "import fire, os\ndef train({}):\n    os.listdir(data_path)\nfire.Fire(train)\n"
    done = adapt(text.format("data_path: str, epochs: int = 3"))
    assert "def train(data_path: str = None, epochs: int = 3, data_url=None" in done.text
    assert "    elif data_path is None:\n        raise fire.core.FireError(" in done.text
    refused = adapt(text.format("data_path, epochs"))
    assert "--data_path is required" in said(refused, Kind.HAND)


@pytest.mark.parametrize(
    ("head", "parse"),
    [
        ("from tap import Tap\nclass Args(Tap):", "args = Args().parse_args()\nos.listdir(args.data_dir)\n"),
        (
            "from tap import Tap\nclass Args(Tap):",
            "def main(a):\n    os.listdir(a.data_dir)\nmain(Args().parse_args())\n",
        ),
        ("import tyro\nclass Args:", "args = tyro.cli(Args)\nos.listdir(args.data_dir)\n"),
        ("import simple_parsing\nclass Args:", "args = simple_parsing.parse(Args)\nos.listdir(args.data_dir)\n"),
    ],
)
def test_a_class_of_options_is_set_and_given_what_it_asks_for(head, parse):
    kept = adapt(f'import os\n{head}\n    data_dir: str = "data"\n    n: int = 3\n{parse}')
    assert "if contract.data_url:\n" in kept.text and ".data_dir = contract.data_url\n" in kept.text
    assert "sys.argv +=" not in kept.text
    asked = adapt(f"import os\n{head}\n    data_dir: str\n    n: int = 3\n{parse}")
    assert 'if contract.data_url:\n    sys.argv += ["--data_dir", contract.data_url]\n' in asked.text
    assert not said(asked, Kind.HAND).startswith("--data_dir")


CHECKED = """
    import click, os

    @click.command()
    @click.option("-f", "--filename", default="names.txt", type=click.Path(exists=True, dir_okay=False))
    @click.option("--rows", default=None, type=click.Path(exists=True))
    def main(filename, rows):
        print(open(filename).read(), rows and sorted(os.listdir(rows)))

    main()
"""


def test_click_does_not_ask_for_what_the_contract_brings(tmp_path):
    done = adapt(CHECKED)
    data, before, after = (tmp_path / each for each in ("data", "before", "after"))
    for folder in (data, before, after):
        folder.mkdir()
    (data / "names.txt").write_text("one")
    (before / "train.py").write_text(textwrap.dedent(CHECKED))
    (after / "train.py").write_text(done.text)
    assert _start(after, "--data_url", str(data)).stdout == "one ['names.txt']\n"
    for argv in ([], ["--filename", "other"], ["-f", str(data / "names.txt"), "--rows", "nowhere"]):
        ended = [_start(folder, *argv) for folder in (before, after)]
        assert ended[0].returncode == ended[1].returncode == 2
        assert ended[0].stderr == ended[1].stderr
    assert _start(after, "-f", str(data / "names.txt"), "--rows", str(data)).stdout == "one ['names.txt']\n"
