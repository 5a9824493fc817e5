"""What a script prints of its arguments is the same without the options as before."""

from __future__ import annotations

import pytest
from checked import adapt
from stage import play

SCRIPT = """
import argparse, logging, sys
import numpy as np
logging.basicConfig(stream=sys.stdout, level="INFO", force=True)
parser = argparse.ArgumentParser()
parser.add_argument("--rate", type=float, default=0.5)
parser.add_argument("--out", default="w.npy")
args = parser.parse_args()
{}
np.save(args.out, np.ones(3) * args.rate)
"""


@pytest.mark.parametrize(
    "line",
    [
        "print(args)",
        'print("given:", vars(args))',
        'print(f"{args}")',
        'logging.info("%s", args)',
        'print("{}".format(args))',
        "for name, value in vars(args).items():\n    print(name, value)",
        "for name in sorted(vars(args)):\n    print(name, getattr(args, name))",
    ],
)
def test_all_arguments_together_are_what_they_were(line, tmp_path):
    text = SCRIPT.format(line)
    done = adapt(text)
    assert play(done.text, tmp_path).output == play(text, tmp_path).output
    play(done.text, tmp_path, "--train_url", str(tmp_path / "there"))
    assert (tmp_path / "there/w.npy").exists()


@pytest.mark.parametrize("line", ["print(args.rate)", 'print(vars(args)["rate"])', "print(f'{args.rate}')"])
def test_one_of_them_is_of_no_matter(line):
    assert 'parser.add_argument("--train_url"' in adapt(SCRIPT.format(line)).text


def test_a_second_adapt_knows_the_arguments_by_any_name():
    text = """
        import argparse
        import numpy as np
        def load(path):
            return np.load(path)
        def main(config):
            print(load(config.rows).sum(), load(config.more).sum())
        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--rows", default="npy/rows.npy")
            parser.add_argument("--more", default="npy/more.npy")
            config = parser.parse_args()
            print(config)
            main(config)
    """
    assert "config.rows = os.path.join(contract.data_url" in adapt(text).text
