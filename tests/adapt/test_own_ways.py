"""Ways of ordinary scripts that once were adapted wrongly: what each becomes now, or why it is refused."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TRAINING = """
import argparse, os, torch
parser = argparse.ArgumentParser()
parser.add_argument("--resume", {option})
args = parser.parse_args()
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
start_epoch = 0
if {test}:
    state = torch.load("last.pt")
    model.load_state_dict(state["model"])
    start_epoch = state["epoch"]
for epoch in range(start_epoch, 9):
    {body}
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("option", "test", "words"),
    [
        ('default=""', "args.resume", "--resume=PATH"),
        ("default=None, type=str", "args.resume and os.path.isfile(args.resume)", "--resume=PATH"),
        ('action="store_true"', "args.resume", "--resume "),
        ('default=""', "(resume := args.resume)", "--resume=PATH"),
        ('default=""', "resume", "--resume=PATH"),
    ],
)
def test_a_script_that_goes_on_by_a_flag_goes_on_without_it(option, test, words):
    done = adapt(TRAINING.format(option=option, test=test, body="pass"))
    assert words in said(done, Kind.KEPT) and "first_epoch = start_epoch" in done.text


def test_a_count_of_its_own_checkpoint_that_rounds_read_is_kept():
    """A later stint would find a later file, and count on from there as well."""
    text = TRAINING.format(option='action="store_true"', test="args.resume", body="print(epoch - start_epoch)")
    assert 'start_epoch = resumed["start_epoch"]' in adapt(text).text
    ends = TRAINING.format(option='default=""', test="args.resume", body="pass").replace("9):", "start_epoch + 9):")
    assert 'start_epoch = resumed["start_epoch"]' in adapt(ends).text
    only_first = TRAINING.format(option='default=""', test="args.resume", body="pass")
    assert 'resumed["start_epoch"]' not in adapt(only_first).text


def test_where_nothing_can_be_added_the_flag_is_named():
    body = "epoch += 1"
    done = adapt(TRAINING.format(option='default=""', test="args.resume", body=body))
    assert "goes on only when it is started with --resume=PATH" in said(done, Kind.DIFFERS)
    assert "outlast run … -- --resume=PATH" in said(done, Kind.DIFFERS) and done.is_complete


OWN = """
import torch
def train({given}):
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    start_epoch = 0
    {before}
    if {test}:
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        start_epoch = state["epoch"] + 1
        print(start_epoch)
    for epoch in range({first}, 9):
        optimizer.step()
        torch.save(model.state_dict(), "last.pt")
{call}
"""


@pytest.mark.parametrize(
    ("given", "before", "test", "call"),
    [
        ("checkpoint", "", 'checkpoint != ""', "train(**settings)"),
        ("cfg", "checkpoint = cfg.place", "cfg.resume_from", "train(cfg)"),
        ("checkpoint=None", "", "checkpoint is not None", "train()"),
    ],
)
def test_a_script_that_goes_on_by_a_setting_goes_on_without_it(given, before, test, call):
    done = adapt(OWN.format(given=given, before=before, test=test, call=call, first="start_epoch"))
    assert "already" not in said(done, Kind.KEPT) and "first_epoch = start_epoch" in done.text
    assert "goes on as before; in a stint nothing need be passed" in said(done, Kind.KEPT)


def test_a_count_that_reaches_no_loop_is_no_resume():
    done = adapt(OWN.format(given="checkpoint=None", before="", test="checkpoint", call="train()", first="0"))
    assert "goes on" not in said(done, Kind.KEPT) and 'first_epoch = resumed["epoch"] + 1' in done.text


def test_a_start_that_is_only_handed_in_does_not_resume():
    done = adapt("""
        import keras
        def train(start_epoch, model):
            if start_epoch > 0:
                model.load_weights("w.h5")
            model.fit(1, epochs=9, initial_epoch=start_epoch)
        train(0, keras.Model())
    """)
    assert "already" not in said(done, Kind.KEPT) and "resume_fit(model.fit, " in done.text


HEAD = "import argparse, os, numpy as np, torch\np = argparse.ArgumentParser()\n{}\nargs = p.parse_args()\n"


def test_a_stem_is_no_folder():
    option = 'p.add_argument("--save", default="out/last")'
    done = adapt(HEAD.format(option) + 'torch.save({}, args.save + ".pt")\n')
    assert "args.save = os.path.join(args.train_url, os.path.basename(os.path.normpath(args.save)))" in done.text


def test_a_required_file_is_not_called_like_the_data_folder():
    done = adapt(HEAD.format('p.add_argument("--table", required=True)') + "np.load(args.table)\n")
    assert '"--data_url", required' not in done.text
    assert "args.table = os.path.join(args.data_url, os.path.basename(os.path.normpath(args.table)))" in done.text
    assert "--table follows --data_url by its last name, and must still be given" in said(done, Kind.DIFFERS)


def test_several_weights_are_not_all_the_same():
    options = 'p.add_argument("--g", default="")\np.add_argument("--d", default="")'
    done = adapt(HEAD.format(options) + "torch.load(args.g)\ntorch.load(args.d)\n")
    assert "= args.pretrain_url" not in done.text and "--g, --d each take weights" in said(done, Kind.DIFFERS)


def test_an_option_that_is_a_path_stays_one():
    option = 'from pathlib import Path\np.add_argument("--out", type=Path, default="out")'
    done = adapt(HEAD.format(option) + 'np.save(args.out / "x.npy", 1)\n')
    assert "args.out = Path(args.train_url)" in done.text


def test_subcommands_leave_the_contract_to_a_parser_of_its_own():
    done = adapt("""
        import argparse, os
        p = argparse.ArgumentParser()
        train = p.add_subparsers().add_parser("train")
        train.add_argument("--dataroot", required=True)
        args = p.parse_args()
        print(os.listdir(args.dataroot))
    """)
    assert "contract, sys.argv[1:] = " in done.text and "required=not contract.data_url" in done.text
    assert "args.dataroot = contract.data_url" in done.text


def test_a_choice_of_two_ways_to_parse_is_understood():
    done = adapt("""
        import argparse, os
        def options(known=False):
            p = argparse.ArgumentParser()
            p.add_argument("--data_dir", default="data")
            return p.parse_known_args()[0] if known else p.parse_args()
        def run(**words):
            opt = options(True)
        opt = options()
        print(os.listdir(opt.data_dir))
    """)
    assert "    if args.data_url:\n        args.data_dir = args.data_url\n    return args\n" in done.text


def test_a_command_line_that_a_library_reads_does_not_see_the_contract():
    done = adapt("from pytorch_lightning.cli import LightningCLI\nx = 1\nLightningCLI()\n")
    assert "contract, sys.argv[1:] = " in done.text


def test_a_download_goes_on_where_its_place_is_not_the_contracts():
    text = "from sets import Birds\nwhere = home()\nb = Birds(where, download=True)\n"
    assert "download=True" in adapt(text).text
    assert "Birds downloads its data" in said(adapt(text, "xihe"), Kind.HAND)


@pytest.mark.parametrize(
    ("flag", "new"),
    [
        ("FETCH", "not contract.data_url and FETCH"),
        ("FETCH or MORE", "not contract.data_url and (FETCH or MORE)"),
        ("not OFF", "not contract.data_url and not OFF"),
        ("OFF", "OFF"),
        ("False", "False"),
    ],
)
def test_nothing_is_downloaded_where_a_setting_asks_for_it(flag, new):
    text = "from torchvision import datasets\nFETCH = MORE = True\nOFF = False\n"
    done = adapt(text + f'datasets.MNIST("m", download={flag})\n')
    assert f"download={new})" in done.text
    is_asked = "MNIST is not downloaded when --data_url is given" in said(done, Kind.CHANGED)
    assert is_asked is ("contract" in new)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('datasets.MNIST(root=".", download=True)',
         'datasets.MNIST(root=contract.data_url or ".", download=not contract.data_url)'),
        ('Birds(root="~/sets", download=True)',
         'Birds(root=contract.data_url or "~/sets", download=not contract.data_url)'),
        ('tasks("birds", root="~/sets")', 'tasks("birds", root=contract.data_url or "~/sets")'),
        ("imdb.load_data(num_words=9)",
         "load_delivered(imdb.load_data, contract.data_url)(num_words=9)"),
        ('get_file("a.txt", "http://h/a.txt")',
         '(os.path.join(contract.data_url, "a.txt") if contract.data_url else get_file("a.txt", "http://h/a.txt"))'),
        ('np.save("o/{}.npy".format(1), 1)', 'np.save(os.path.join(contract.train_url or "o", "{}.npy".format(1)), 1)'),
        ("np.save(os.path.join(PLACE, 'x.npy'), 1)", "np.save(os.path.join(contract.train_url or PLACE, 'x.npy'), 1)"),
        ('ModelCheckpoint("net", "ckpt", 1)', 'ModelCheckpoint("net", contract.train_url or "ckpt", 1)'),
    ],
)  # fmt: skip
def test_a_place_is_found_where_it_stands(before, after):
    head = (
        "import os\nimport numpy as np\nfrom torchvision import datasets\nfrom keras.datasets import imdb\n"
        "from keras.utils import get_file\nfrom mindspore.train.callback import ModelCheckpoint\n"
        "from sets import Birds, tasks, PLACE\nx = 1\n"
    )
    assert after in adapt(head + before + "\n").text.splitlines()


def test_a_folder_with_a_percent_sign_is_no_format(tmp_path):
    done = adapt('import numpy as np\nfor n in (1, 2):\n    np.save("out/x_%d.npy" % n, n)\n')
    folder = tmp_path / "100% {new}"
    folder.mkdir()
    exec(
        compile(
            done.text.replace("parse_known_args()", f"parse_known_args(['--train_url', {str(folder)!r}])"), "s", "exec"
        ),
        {},
    )
    assert sorted(path.name for path in folder.iterdir()) == ["x_1.npy", "x_2.npy"]


def test_mindspore_counts_epochs_on():
    done = adapt("""
        import mindspore as ms
        model = ms.train.Model(net)
        model.train(9, data, callbacks=[a])
    """)
    assert "model.train(9 - resume_done, data, callbacks=[a] + resume_callbacks, **resume_words)" in done.text
    assert 'resume_words = {"initial_epoch": first_epoch}' in done.text


def test_a_fit_in_each_branch_goes_on():
    done = adapt("""
        import keras
        model = keras.Model()
        if plain:
            model.fit(1, epochs=9)
        else:
            model.fit(2, epochs=9)
    """)
    assert done.text.count("resume_fit(model.fit, contract.train_url)(") == 2 and done.is_complete


def test_a_list_beside_the_code_is_not_data_where_data_lies_elsewhere():
    option = 'p.add_argument("--data_dir", default="d")'
    done = adapt(HEAD.format(option) + 'names = open("names.json").read()\nprint(os.listdir(args.data_dir))\n')
    assert 'open("names.json")' in done.text and "'names.json' travels with the code" in said(done, Kind.KEPT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.save('%i_a.npy' % 1, 1)", "np.save(os.path.join(contract.train_url or '', '%i_a.npy' % 1), 1)"),
        ("np.save(os.path.join(os.getcwd(), 'o', 'a.npy'), 1)",
         "np.save(os.path.join(contract.train_url or os.getcwd(), 'o', 'a.npy'), 1)"),
        ("get_file('a.tar.gz', origin='http://h/a')",
         "(os.path.join(contract.data_url, \"a.tar.gz\") if contract.data_url else get_file('a.tar.gz', "
         "origin='http://h/a'))"),
    ],
)  # fmt: skip
def test_more_places_are_found_where_they_stand(before, after):
    head = "import os\nimport numpy as np\nfrom keras.utils import get_file\nx = 1\n"
    assert after in adapt(head + before + "\n").text.splitlines()


def test_a_dictionary_called_like_options_holds_no_options():
    text = 'import argparse, numpy as np\nopt = {"m": "net"}\nnp.save(opt["m"] + ".npy", 1)\n'
    assert "or opt" not in adapt(text).text


@pytest.mark.parametrize(
    "call", ['h5py.File("o/x.h5", "w")', 'gzip.open("o/x.gz", mode="wb")', 'tf.io.gfile.GFile("o/x", "w")']
)
def test_what_is_opened_to_be_written_is_a_result(call):
    done = adapt(f"import gzip, h5py\nimport tensorflow as tf\nf = {call}\n")
    assert 'os.path.join(contract.train_url or "o", ' in done.text


def test_a_home_folder_alone_is_no_data():
    text = 'from os.path import expanduser\nfrom sets import Birds\nBirds(root=expanduser("~"){}, download=True)\n'
    assert 'Birds(root=expanduser("~"), download=True)' in adapt(text.format("")).text
    below = 'Birds(root=contract.data_url or expanduser("~") + "/b", download=not contract.data_url)'
    assert below in adapt(text.format(' + "/b"')).text


def test_the_flag_of_its_own_resume_is_no_input_that_must_be_passed():
    text = """
        import argparse, os, torch
        def get_args():
            p = argparse.ArgumentParser()
            p.add_argument("--resume", default="")
            p.add_argument("--output-dir", default=".")
            return p.parse_args()
        def main(args):
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            start_epoch = 0
            if args.resume:
                state = torch.load(args.resume)
                model.load_state_dict(state["model"])
                start_epoch = state["epoch"] + 1
            for epoch in range(start_epoch, 9):
                optimizer.step()
                torch.save({"model": model.state_dict(), "epoch": epoch}, os.path.join(args.output_dir, "last.pth"))
        main(get_args())
    """
    done = adapt(text)
    assert done.is_complete and "--resume=PATH goes on as before" in said(done, Kind.KEPT)


def test_a_file_that_click_has_a_default_for_follows_the_output_folder():
    text = """
        import click, torch
        @click.command()
        @click.option("--lr", default=0.1)
        @click.option("--out", default="results/model.pt")
        def train(lr, out):
            torch.save(lr, out)
        train()
    """
    done = adapt(text)
    assert "--out follows --train_url" in said(done, Kind.CHANGED)
    assert "out = os.path.join(train_url, os.path.basename(os.path.normpath(out)))" in done.text


@pytest.mark.parametrize("end", ["", ",", ",\n", "\n"])
def test_a_call_of_fit_may_end_with_a_comma(end):
    done = adapt(f"import keras\nmodel = keras.Sequential()\nmodel.fit(x, y, epochs=3, verbose=0{end})\n")
    assert done.is_complete and f"contract.train_url)(x, y, epochs=3, verbose=0{end})" in done.text


def test_arguments_that_are_handed_on_all_together_stay_as_they_are():
    text = """
        import argparse, numpy
        def learn(data, out):
            numpy.save(out, numpy.load(data))
        parser = argparse.ArgumentParser()
        parser.add_argument("--data", default="data/x.npy")
        parser.add_argument("--out", default="out/y.npy")
        learn(**vars(parser.parse_args()))
    """
    done = adapt(text)
    assert 'parser.add_argument("--data_url"' not in done.text.replace("contract_parser", "")
    assert "contract, sys.argv[1:] = contract_parser.parse_known_args()" in done.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import torch\ndef deal():\n    while True:\n        yield 1\nfor x in deal():\n    loss(x).backward()\n",
         "goes once through its samples"),
        ("import torch, time\nfrom nets import Trainer\nwhile not ready():\n    time.sleep(1)\nTrainer(1).train(9)\n",
         "Trainer of nets runs the training, out of sight here"),
        ("import torch\nwhile more():\n    loss().backward()\n", "the training loop is a while loop"),
    ],
)  # fmt: skip
def test_the_reason_names_the_loop_that_trains(text, reason):
    assert reason in said(adapt(text), Kind.HAND)


def test_the_count_of_a_schedule_is_no_resume():
    text = TRAINING.format(option='action="store_true"', test="args.resume", body="pass")
    text = text.replace("for epoch", "schedule = optimizer.schedule\nschedule.last_epoch = start_epoch - 1\nfor epoch")
    assert "counts on from it already" not in said(adapt(text), Kind.KEPT)


def test_what_each_round_makes_anew_and_other_names_of_the_model_are_not_saved_again():
    text = """
        import torch
        from nets import several
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        raw_model = model.module if several else model
        checkpoint, last, mean = None, 0, 0
        for epoch in range(9):
            for batch in model.batches:
                optimizer.step()
            mean = mean * 0.9 + last
            last = model.loss
            if epoch % 3 == 0:
                checkpoint = {"model": raw_model.state_dict()}
                torch.save(checkpoint, "last.pt")
    """
    assert "(epoch, model, optimizer, last, mean)" in said(adapt(text), Kind.CHANGED)


def test_a_clock_that_is_called_a_start_is_none():
    done = adapt("""
        import time
        import torch
        model = torch.nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for epoch in range(1, 11):
            epoch_start = time.time()
            optimizer.step()
            print(time.time() - epoch_start)
        torch.save(model.state_dict(), "best.pth")
        model.load_state_dict(torch.load("best.pth"))
    """)
    assert not said(done, Kind.KEPT) and "resume.pt" in done.text


_IN_PART = """
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from peft import LoraConfig, get_peft_model
model = AutoModelForCausalLM.from_pretrained("a/b"{quantized})
{more}
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for epoch in range(3):
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""


@pytest.mark.parametrize(
    ("quantized", "more", "is_in_part"),
    [
        (", quantization_config=BitsAndBytesConfig(load_in_4bit=True)", "", True),
        ("", "model = get_peft_model(model, LoraConfig())", True),
        ("", "", False),
    ],
)
def test_of_compressed_and_frozen_weights_only_what_is_trained_is_kept(quantized, more, is_in_part):
    text = _IN_PART.format(quantized=quantized, more=more)
    if not is_in_part:
        text = text.replace(", BitsAndBytesConfig", "").replace("from peft import LoraConfig, get_peft_model\n", "")
    done = adapt(text)
    assert ('model.load_state_dict(resumed["model"], strict=False)' in done.text) is is_in_part
    assert ("model.named_parameters() if each.requires_grad" in done.text) is is_in_part
    assert "optimizer.load_state_dict(resumed[" in done.text


def test_a_field_that_some_rounds_set_on_a_model_that_is_not_seen_is_told():
    done = adapt("""
        import torch
        from nets import Net
        net = Net()
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for epoch in range(100):
            if epoch % 50 == 0:
                net.negatives = net.sample()
            opt.zero_grad()
            net.loss().backward()
            opt.step()
    """)
    assert "net.negatives is set in some rounds" in said(done, Kind.DIFFERS)


def test_a_refusal_names_the_call_that_trains():
    done = adapt("""
        from drawing import Plotter
        from models import Painter
        plotter = Plotter()
        painter = Painter()
        total = 0
        for epoch in range(9):
            total += epoch
            plotter.reset()
            painter.optimize_parameters()
            painter.save(epoch)
    """)
    assert "painter.optimize_parameters() may change what is not saved" in said(done, Kind.HAND)
