"""Results that are named after the weights a script starts from: the name is no folder of the platform."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

SCRIPT = """
import argparse, os
import torch
from transformers import AutoModel
parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", default="small-bert")
parser.add_argument("--out", default="models")
args = parser.parse_args()
model = AutoModel.from_pretrained(args.model_name_or_path)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
    {save}
"""
OLD = 'os.environ.get("CONTRACT_BEFORE_MODEL_NAME_OR_PATH") or args.model_name_or_path'
SAVE = "torch.save(model.state_dict(), {})"


@pytest.mark.parametrize(
    "path",
    [
        'os.path.join(args.out, "{}-{}.pt".format(args.model_name_or_path, epoch))',
        'os.path.join(args.out, "%s-%d.pt" % (args.model_name_or_path, epoch))',
        'os.path.join(args.out, "%s.pt" % args.model_name_or_path)',
        'os.path.join(args.out, args.model_name_or_path + ".pt")',
        'os.path.join(args.out, args.model_name_or_path, "net.pt")',
        'args.out + "/" + args.model_name_or_path.split("/")[-1]',
    ],
)
def test_a_result_keeps_the_name_of_the_weights(path):
    done = adapt(SCRIPT.format(save=SAVE.format(path)), "xihe")
    assert OLD in done.text
    assert "AutoModel.from_pretrained(args.model_name_or_path)" in done.text
    assert "follows --pretrain_url; names that are made of it stay" in said(done, Kind.CHANGED)


def test_a_formatted_text_keeps_its_quotes():
    done = adapt(SCRIPT.format(save=SAVE.format('f"{args.out}/{args.model_name_or_path}-{epoch}.pt"')), "xihe")
    assert "{os.environ.get('CONTRACT_BEFORE_MODEL_NAME_OR_PATH') or args.model_name_or_path}" in done.text


def test_a_name_from_a_line_before():
    save = 'name = f"{args.model_name_or_path}-{epoch}"; ' + SAVE.format('os.path.join(args.out, name + ".pt")')
    assert "CONTRACT_BEFORE_MODEL_NAME_OR_PATH') or args" in adapt(SCRIPT.format(save=save), "xihe").text


@pytest.mark.parametrize(
    "asked",
    [
        '"bert" in args.model_name_or_path',
        'args.model_name_or_path in ["a", "b"]',
        '"gpt" in args.model_name_or_path.lower()',
        'args.model_name_or_path.startswith("gpt")',
    ],
)
def test_a_question_for_a_word_is_about_the_old_name(asked):
    line = f"if {asked}: " + SAVE.format('os.path.join(args.out, "net.pt")')
    done = adapt(SCRIPT.format(save=line), "xihe")
    assert f"({OLD})" in done.text and "args.model_name_or_path = args.pretrain_url" in done.text


@pytest.mark.parametrize(
    "line",
    [
        'words = open(args.model_name_or_path + "/vocab.txt").read()',
        'words = open(os.path.join(args.model_name_or_path, "vocab.txt")).read()',
        'words = open("{}/vocab.txt".format(args.model_name_or_path)).read()',
        'words = open(f"{args.model_name_or_path}/vocab.txt").read()',
        'print("weights: " + args.model_name_or_path)',
        'if args.model_name_or_path.endswith(".bin"): pass',
        "if args.model_name_or_path is not None: pass",
        'if args.model_name_or_path == "": pass',
        'if args.model_name_or_path.startswith("/"): pass',
    ],
)
def test_what_lies_beside_the_weights_is_read_there(line):
    assert "CONTRACT_BEFORE" not in adapt(SCRIPT.format(save=line), "xihe").text


HANDED = {
    "a name": """
        name = args.model_name_or_path
        model = AutoModel.from_pretrained(name)
        torch.save(model, os.path.join(args.out, f"{name}.pt"))
    """,
    "a name that is asked for a word": """
        model_name_or_path = args.model_name_or_path
        kind = "small" if "bert" in model_name_or_path else "large"
        model = AutoModel.from_pretrained(model_name_or_path)
    """,
    "a function": """
        def train(kind, out):
            model = AutoModel.from_pretrained(kind)
            torch.save(model, os.path.join(out, kind + ".pt"))
        train(args.model_name_or_path, out=args.out)
    """,
    "an object": """
        class Training:
            def __init__(self, kind, out):
                self.kind, self.out = kind, out
                self.name = kind
                self.model = AutoModel.from_pretrained(kind)
            def save(self):
                torch.save(self.model, f"{self.out}/{self.name}.pt")
        Training(args.model_name_or_path, args.out).save()
    """,
}


@pytest.mark.parametrize("way", HANDED)
def test_a_name_is_followed_to_where_it_is_handed_on(way):
    done = adapt(SCRIPT.partition("model =")[0] + textwrap.dedent(HANDED[way]), "xihe")
    assert (
        "CONTRACT_BEFORE_MODEL_NAME_OR_PATH"
        in done.text.partition("AutoModel.from")[2] + done.text.partition("kind =")[2]
    )
    assert "args.model_name_or_path = args.pretrain_url" in done.text


@pytest.mark.parametrize(
    "lines",
    [
        "name = args.model_name_or_path\nif not name:\n    name = 'other'",
        "def save(name): torch.save(model, os.path.join(args.out, name))\nsave('a.pt')\nsave(args.model_name_or_path)",
    ],
)
def test_a_name_that_may_be_another_is_left_alone(lines):
    text = SCRIPT.partition("optimizer =")[0] + lines + "\ntorch.save(model, os.path.join(args.out, 'a'))\n"
    assert "CONTRACT_BEFORE" not in adapt(text, "xihe").text


def test_a_required_option_gives_the_name_of_the_folder():
    text = SCRIPT.replace('default="small-bert"', "required=True")
    done = adapt(text.format(save=SAVE.format('os.path.join(args.out, args.model_name_or_path + ".pt")')), "xihe")
    assert "args.model_name_or_path or os.path.basename(os.path.normpath(args.pretrain_url))" in done.text


def test_a_module_names_its_log_after_the_weights(tmp_path):
    program = Program(
        tmp_path,
        train=SCRIPT.replace("import torch\n", "import torch\nfrom told import open_log\n").format(
            save="open_log(args).write(str(epoch))"
        ),
        told="""
        import os
        def open_log(args):
            os.makedirs("logs", exist_ok=True)
            return open(os.path.join("logs", f"{args.model_name_or_path}.txt"), "a")
        """,
    )
    program.adapt("xihe")
    text = (tmp_path / "told.py").read_text()
    assert "{os.environ.get('CONTRACT_BEFORE_MODEL_NAME_OR_PATH') or args.model_name_or_path}.txt" in text
    assert 'os.environ["CONTRACT_BEFORE_MODEL_NAME_OR_PATH"] = str(' in (tmp_path / "train.py").read_text()
