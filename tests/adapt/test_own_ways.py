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
    body = "rows = torch.utils.data.DataLoader([1], generator=torch.Generator())"
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
        ("from sklearn.linear_model import SGDClassifier\nnet = SGDClassifier()\ndef deal(x):\n"
         "    for at in range(0, 9, 3):\n        yield x[at:at + 3]\nfor x in deal([1]):\n    net.partial_fit(x, x)\n",
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
