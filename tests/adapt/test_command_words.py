"""Places that the words of a command line bring, by whatever library, and what libraries write by themselves."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

TRAINING = """
import argparse, os, sys
from pathlib import Path
import numpy as np
import torch

{lines}
net = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    opt.zero_grad()
    net(torch.ones(1, 1)).sum().backward()
    opt.step()
{behind}
"""
OPTION = """
parser = argparse.ArgumentParser()
parser.add_argument("--out", {})
args = parser.parse_args()
"""


@pytest.mark.parametrize(
    ("option", "use", "follows"),
    [
        # A name that is put right behind a folder must not become part of the folder's own.
        ("required=True", 'args.out + "net.pth"', 'args.out = os.path.join(args.train_url, "")'),
        ('default="./net"', 'args.out + "_last.pth"', "os.path.basename(os.path.normpath(args.out))"),
        ('default="./net"', 'os.path.join(args.out, "net.pth")', "args.out = args.train_url"),
    ],
)
def test_names_right_behind_a_folder_lie_in_it(option, use, follows):
    behind = f"os.makedirs(args.out, exist_ok=True)\ntorch.save(net, {use})"
    assert follows in adapt(TRAINING.format(lines=OPTION.format(option), behind=behind)).text


@pytest.mark.parametrize(
    ("used", "is_told"), [("", False), ("print(args.checkpoint_path)", True), ("vars(args)", True)]
)
def test_an_option_that_nothing_reads_is_not_spoken_of(used, is_told):
    lines = OPTION.format('default=None)\nparser.add_argument("--checkpoint_path", default=None')
    done = adapt(TRAINING.format(lines=lines, behind=f"{used}\ntorch.save(net, args.out)"))
    assert ("checkpoint_path" in said(done, Kind.DIFFERS) + said(done, Kind.CHANGED)) is is_told


@pytest.mark.parametrize(
    ("lines", "behind", "written"),
    [
        ("rows = np.load(sys.argv[1])", "", "np.load(os.path.join(contract.data_url, os.path.basename("),
        ('name = sys.argv[1] if len(sys.argv) > 1 else "data/rows.npy"\nrows = np.load(name)', "",
         "os.path.basename(os.path.normpath(sys.argv[1])))"),
        ("out = sys.argv[2]", "torch.save(net, out)", "out = os.path.join(contract.train_url, os.path.basename("),
        ("", "torch.save(net, os.path.join(sys.argv[1], 'net.pth'))", "contract.train_url or sys.argv[1]"),
    ],
)  # fmt: skip
def test_words_of_the_command_line_are_places(lines, behind, written):
    done = adapt(TRAINING.format(lines=lines, behind=behind))
    assert written in done.text
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_a_word_of_the_command_line_is_one_in_a_module_too(tmp_path):
    program = Program(
        tmp_path,
        rows="""
            import sys
            import numpy as np

            def rows():
                return np.load(sys.argv[1])
        """,
        train="""
            from rows import rows

            print(rows())
        """,
    )
    program.adapt()
    assert 'os.environ.get("CONTRACT_DATA_URL")' in program.text("rows.py")


def test_a_template_of_a_path_follows_with_its_marks():
    lines = OPTION.format('default="rows/{split}.csv"').replace("--out", "--rows")
    reads = 'import pandas as pd\nrows = pd.read_csv(args.rows.replace("{split}", "train"))'
    done = adapt(TRAINING.format(lines=lines + reads, behind=""))
    assert "args.rows = os.path.join(args.data_url, os.path.basename(os.path.normpath(args.rows)))" in done.text


CLICK = """
import click
import pathlib
import torch


@click.command()
@click.option("--results-dir", default="results", type=pathlib.Path)
@click.option("--checkpoint", is_flag=True)
@click.option("--log-file/--no-log-file", default=False)
@click.option("--save-path", type=int, default=3)
def main(results_dir, checkpoint, log_file, save_path):
    results_dir = results_dir.joinpath("last")
    results_dir.mkdir(exist_ok=True)
    torch.save([1], results_dir.joinpath("net.pth"))


if __name__ == "__main__":
    main()
"""


def test_a_switch_of_click_is_no_place_and_its_paths_are_followed():
    done = adapt(CLICK)
    assert "results_dir = pathlib.Path(train_url)" in done.text
    assert not any(word in said(done, Kind.DIFFERS) for word in ("--checkpoint", "--log-file", "--save-path"))


def test_mlflow_writes_to_the_folder_for_results():
    done = adapt(TRAINING.format(lines="import mlflow\nmlflow.start_run()", behind=""))
    assert 'os.environ.setdefault("MLFLOW_TRACKING_URI", os.path.join(os.path.abspath(' in done.text
    assert "mlflow writes to --train_url" in said(done, Kind.CHANGED)
    told = adapt(
        TRAINING.format(lines='import mlflow\nmlflow.set_tracking_uri("http://a")\nmlflow.start_run()', behind="")
    )
    assert "MLFLOW_TRACKING_URI" not in told.text


def test_a_data_set_of_an_option_that_follows_is_not_fetched():
    text = """
        import fire
        from datasets import load_dataset

        def train(data_path: str = ""):
            print(load_dataset(data_path))

        fire.Fire(train)
    """
    done = adapt(text, "xihe")
    assert "data_path = data_url" in done.text and "load_dataset" not in said(done, Kind.HAND)


@pytest.mark.parametrize(("given", "is_named"), [("", True), ('image_path="a.gz"', False), ("download=False", False)])
def test_data_sets_of_paddle_are_fetched(given, is_named):
    done = adapt(f"import paddle\nrows = paddle.vision.datasets.MNIST({given})\n", "xihe")
    assert ("MNIST fetches" in said(done, Kind.HAND)) is is_named


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        ('import click\n@click.command()\n@click.option("--out", default="runs")\ndef main(out):', "main()"),
        ('import typer\ndef main(out: str = "runs"):', "typer.run(main)"),
        ('import fire\ndef main(out="runs"):', "fire.Fire(main)"),
        ('from absl import app, flags\nflags.DEFINE_string("out", "runs", "x")\nFLAGS = flags.FLAGS\n'
         "def main(_):", "app.run(main)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("moves", ['os.chdir("..")', "print(os.path.join(os.getcwd(), OUT))", ""])
def test_a_relative_folder_is_told_from_where_the_script_starts(head, foot, moves):
    out = "FLAGS.out" if "absl" in head else "out"
    body = [moves.replace("OUT", out), f"os.makedirs({out}, exist_ok=True)"]
    body += [f'torch.save([1], os.path.join({out}, "net.pth"))']
    text = "\n".join(["import os", "import torch", head, *(f"    {line}" for line in body if line), foot, ""])
    value = "FLAGS.train_url" if "absl" in head else "train_url"
    anchored = f"{value} = os.path.abspath({value})"
    assert (anchored in adapt(text).text) is bool(moves)


def test_hydra_may_go_elsewhere_before_its_function_runs():
    done = adapt("""
        import hydra
        import torch

        @hydra.main(config_path="conf", config_name="config")
        def main(cfg):
            torch.save([1], "net.pth")

        main()
    """)
    assert 'add_argument("--train_url", type=os.path.abspath, default=None' in done.text


@pytest.mark.parametrize(("given", "is_brought"), [("", True), (", pretrained=False", False)])
def test_models_of_fastai_take_their_weights_from_an_input(given, is_brought):
    done = adapt(f"from fastai.vision.all import *\nlearn = vision_learner(dls, resnet34{given})\n", "xihe")
    assert ("torch.hub.set_dir(hub_folder(contract.pretrain_url))" in done.text) is is_brought
