"""What a path is for: inputs are not mistaken for results, results not for inputs, words not for places."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HEAD = "import argparse, glob, os\nimport h5py, pandas as pd\nimport numpy as np\nimport torch\nname = 'a'\n"
PARSER = "p = argparse.ArgumentParser()\n{}\nargs = p.parse_args()\n"


@pytest.mark.parametrize(
    "body",
    [
        'torch.save(1, f"ckpt/{name}.pth")\ntorch.load("ckpt/best.pth")\n',
        'torch.save(1, f"best_{name}.pth")\ntorch.load("best_1.pth")\n',
        'os.makedirs("ckpt")\nfrom tools import fit\nfit(1)\ntorch.load("ckpt/best.pth")\n',
        'if os.path.exists("ckpt/last.pth"):\n    torch.load("ckpt/last.pth")\ntorch.save(1, f"ckpt/{name}.pth")\n',
        'def f():\n    torch.save(1, "ckpt/%s.pth" % name)\ndef g():\n    torch.load("ckpt/best.pth")\nf()\ng()\n',
        'np.save(f"out/{name}.npy", 1)\nfiles = glob.glob("out/*.npy")\n',
    ],
)
def test_what_the_script_has_written_before_is_no_input(body):
    done = adapt(HEAD + body)
    assert "pretrain_url" not in done.text and "contract.data_url" not in done.text
    assert done.text.count("contract.train_url or") >= 2


@pytest.mark.parametrize(
    "body",
    [
        'torch.load("ckpt/start.pth")\ntorch.save(1, f"ckpt/{name}.pth")\n',
        'def test():\n    torch.save(1, f"ckpt/{name}.pth")\ntorch.load("ckpt/start.pth")\ntest()\n',
    ],
)
def test_what_is_loaded_before_anything_was_written_are_weights(body):
    assert 'torch.load(contract.pretrain_url or "ckpt/start.pth")' in adapt(HEAD + body).text


@pytest.mark.parametrize("line", ['h5py.File("d/x.h5")', 'pd.read_hdf("d/x.h5")', 'np.load("d/x.h5.npy")'])
def test_data_in_a_file_like_that_of_weights_is_data(line):
    text = adapt(HEAD + line + "\n").text
    assert 'contract.data_url or "d"' in text and "pretrain_url" not in text


@pytest.mark.parametrize(
    "save",
    [
        "torch.save(1, args.model_path)",
        "from tools import save_model\nsave_model(1, args.model_path)",
        "from tools import Net\nnet = Net()\nnet.save(args.model_path)",
        "from tools import dump_state\ndump_state(state=1, path=args.model_path)",
    ],
)
def test_an_option_that_is_saved_to_is_a_result_also_where_it_is_loaded(save):
    options = PARSER.format('p.add_argument("--model_path", default="model.pth")')
    done = adapt(HEAD + options + save + "\ntorch.load(args.model_path)\n")
    assert "pretrain_url" not in done.text
    assert "args.model_path = os.path.join(args.train_url, os.path.basename(" in done.text


def test_a_word_that_is_compared_is_no_place():
    body = 'start = "scratch"\nif start == "scratch":\n    net = 1\nelse:\n    net = torch.load(start)\n'
    assert "pretrain_url" not in adapt(HEAD + body).text
    options = PARSER.format('p.add_argument("--init_from", default="scratch")')
    done = adapt(HEAD + options + 'if args.init_from != "scratch":\n    torch.load(args.init_from)\n')
    assert "pretrain_url" not in done.text


def test_a_checkpoint_to_go_on_from_is_no_input_of_weights():
    options = PARSER.format('p.add_argument("--resume", default="")')
    assert "pretrain_url" not in adapt(HEAD + options + "if args.resume:\n    torch.load(args.resume)\n").text


def test_a_writer_that_chooses_its_folder_is_told_one():
    done = adapt("""
        from mindspore import load_checkpoint
        from mindspore.train.callback import CheckpointConfig, ModelCheckpoint
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        saves = ModelCheckpoint(prefix="net", config=CheckpointConfig(100))
        found = load_checkpoint("net-10_100.ckpt")
    """)
    assert "SummaryWriter(log_dir=contract.train_url)" in done.text
    assert "config=CheckpointConfig(100), directory=contract.train_url)" in done.text
    assert 'load_checkpoint(os.path.join(contract.train_url or "", "net-10_100.ckpt"))' in done.text
    assert "saves nothing" not in said(done, Kind.DIFFERS)
