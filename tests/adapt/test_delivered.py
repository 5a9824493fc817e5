"""What is read before the script has written it was delivered: it is found until the output folder has its own."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

LOOP = """
for epoch in range(2):
    words["n"] = words.get("n", 0) + 1
"""
SCRIPTS = {
    "literal": """
import json
words = json.load(open("words.json"))
{loop}
json.dump(words, open("words.json", "w"))
""",
    "constant": """
import json
import os
WORDS = "words.json"
if not os.path.exists(WORDS):
    raise SystemExit("no words")
words = json.load(open(WORDS))
{loop}
with open(WORDS, "w") as file:
    json.dump(words, file)
""",
    "folder": """
import json
import os
OUT = "results"
os.makedirs(OUT, exist_ok=True)
words = json.load(open(os.path.join(OUT, "words.json")))
{loop}
for name in ("a", "b"):
    with open(os.path.join(OUT, "last_%s.json" % name), "w") as file:
        json.dump(words, file)
""",
    "option": """
import argparse
import json
import os
p = argparse.ArgumentParser()
p.add_argument("--save_dir", default="results")
args = p.parse_args()
words = json.load(open(os.path.join(args.save_dir, "words.json")))
{loop}
with open(os.path.join(args.save_dir, "words.json"), "w") as file:
    json.dump(words, file)
""",
    "path object": """
import json
from pathlib import Path
out = Path("results")
words = json.loads((out / "words.json").read_text())
{loop}
(out / "words.json").write_text(json.dumps(words))
""",
    "function": """
import json
import os
def words_of(folder):
    with open(folder + "/words.json") as file:
        return json.load(file)
def keep(words, folder):
    with open(f"{folder}/words.json", "w") as file:
        json.dump(words, file)
words = words_of("results")
{loop}
keep(words, "results")
""",
}  # fmt: skip
WORDS = '{"n": 5}'


def furnish(folder, script):
    folder.mkdir()
    at = folder if script in ("literal", "constant") else folder / "results"
    at.mkdir(exist_ok=True)
    (at / "words.json").write_text(WORDS)
    return folder


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_file_that_is_read_first_is_found_where_it_was(script, tmp_path):
    text = SCRIPTS[script].replace("{loop}", LOOP) + 'print(words["n"])\n'
    done = adapt(text)
    before = play(text, furnish(tmp_path / "before", script))
    assert play(done.text, furnish(tmp_path / "after", script)) == before
    home, results = furnish(tmp_path / "platform", script), tmp_path / "out"
    results.mkdir()
    first = play(done.text, home, f"--train_url={results}", env={"OUTLAST_CHECKPOINT": ""})
    assert first.output == before.output == "7\n", done.text
    assert set(first.files) == {"words.json"} or set(first.files) == {"results/words.json"}
    assert (home / next(iter(first.files))).read_text() == WORDS


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_input_comes_before_the_old_place_and_the_output_before_both(script, tmp_path):
    done = adapt(SCRIPTS[script].replace("{loop}", "") + 'print(words["n"])\n')
    home, results, data = furnish(tmp_path / "home", script), tmp_path / "out", tmp_path / "data"
    results.mkdir()
    data.mkdir()
    (data / "words.json").write_text('{"n": 8}')
    words = f"--train_url={results}", f"--data_url={data}"
    assert play(done.text, home, *words).output == "8\n", done.text
    assert play(done.text, furnish(tmp_path / "alone", script), words[1]).output == "8\n"
    (results / "words.json").write_text('{"n": 9}')
    assert play(done.text, home, *words).output == "9\n"


TORCH = "import os\nimport torch\nnet = torch.nn.Linear(1, 1)\n"


def test_weights_that_are_saved_later_come_from_the_weights_option():
    for body in (
        'net.load_state_dict(torch.load("best.pt"))\ntorch.save(net, "best.pt")\n',
        'D = "m"\nos.makedirs(D)\nnet.load_state_dict(torch.load(D + "/pre.pt"))\ntorch.save(net, D + "/last.pt")\n',
    ):
        done = adapt(TORCH + body).text
        assert "contract.pretrain_url)" in done and "torch.load(find_delivered(" in done


@pytest.mark.parametrize(
    "body",
    [
        'torch.save(net, "best.pt")\ntorch.load("best.pt")\n',
        'if os.path.exists("best.pt"):\n    torch.load("best.pt")\ntorch.save(net, "best.pt")\n',
        'try:\n    torch.load("best.pt")\nexcept OSError:\n    pass\ntorch.save(net, "best.pt")\n',
        'from tools import n\nif n > 0:\n    torch.load("m/%d.pt" % n)\ntorch.save(net, "m/%d.pt" % 3)\n',
        'os.makedirs("ckpt")\nfrom tools import fit\nfit(1)\ntorch.load("ckpt/best.pth")\n',
        'D = "m"\ndef f():\n    torch.save(net, D + "/%d.pt" % 3)\ndef g():\n    torch.load(D + "/3.pt")\nf()\ng()\n',
    ],
)
def test_what_the_script_goes_on_with_itself_is_read_from_the_output_alone(body):
    assert "find_delivered" not in adapt(TORCH + body).text


HUGGING = "from transformers import AutoModel, Trainer\nimport os\n"


def test_a_model_that_is_saved_over_itself_is_loaded_from_where_it_was():
    text = HUGGING + 'P = "saved"\nmodel = AutoModel.from_pretrained(P)\nmodel.save_pretrained(P)\n'
    done = adapt(text).text
    found = 'find_delivered(P, contract.train_url, None if contract.pretrain_url else "", contract.pretrain_url)'
    assert f"from_pretrained({found})" in done and 'P = os.path.join(contract.train_url or "", "saved")' in done


def test_a_model_in_a_folder_of_an_option_is_loaded_from_where_it_was():
    text = HUGGING + "import argparse\np = argparse.ArgumentParser()\np.add_argument('--out_dir', default='saved')\n"
    text += "args = p.parse_args()\nm = AutoModel.from_pretrained(args.out_dir)\nm.save_pretrained(args.out_dir)\n"
    done = adapt(text).text
    assert 'from_pretrained((args.pretrain_url or ("saved" if args.train_url else args.out_dir)))' in done


def test_a_model_that_is_asked_for_is_not_taken_for_the_folder_of_the_platform():
    text = HUGGING + "from parts import model\n"
    text += (
        'if os.path.isdir("saved"):\n    model = AutoModel.from_pretrained("saved")\nmodel.save_pretrained("saved")\n'
    )
    done = adapt(text).text
    assert "find_delivered" not in done and done.count('os.path.join(contract.train_url or "", "saved")') == 3


@pytest.mark.parametrize(
    "body",
    [
        'model.save_pretrained("saved")\nAutoModel.from_pretrained("saved")\n',
        'trainer = Trainer()\ntrainer.train()\nAutoModel.from_pretrained("saved")\nmodel.save_pretrained("saved")\n',
    ],
)
def test_a_model_that_the_script_has_saved_is_loaded_from_the_output(body):
    done = adapt(HUGGING + "from parts import model\n" + body).text
    assert "pretrain_url" not in done and done.count('contract.train_url or "saved"') == 2


def test_weights_that_nobody_saves_and_that_are_asked_for_are_found():
    body = 'from parts import load_parts\nW = "start.bin"\nif os.path.exists(W):\n    load_parts(W, net)\n'
    done = adapt(TORCH + body + 'torch.save(net, "last.bin")\n').text
    found = 'find_delivered(W, contract.train_url, "", contract.pretrain_url)'
    assert f"if os.path.exists({found}):" in done and f"load_parts({found}, net)" in done


def test_a_file_that_an_option_names_in_the_folder_of_results_is_brought(tmp_path):
    done = adapt(
        """
        import argparse, os
        import torch
        parser = argparse.ArgumentParser()
        parser.add_argument("--save_folder", default="weights/")
        parser.add_argument("--base_path", default="start.pth")
        parser.add_argument("--kind", default="rows")
        args = parser.parse_args()
        model = torch.load(args.save_folder + args.base_path)
        torch.save(model, args.save_folder + "" + args.kind + ".pth")
        """,
        "xihe",
    )
    assert "torch.load(find_delivered(args.save_folder + args.base_path, args.output_path" in done.text
    assert "args.pretrain_url)" in done.text
    assert "--base_path" not in said(done, Kind.DIFFERS)


FLAGGED = {
    "a file": """
        if args.raw:
            convert("./prepared")
        x = np.load("./prepared/x.npy")
    """,
    "another branch": """
        if not args.raw:
            x = np.load("./prepared/x.npy")
        else:
            convert("./prepared")
            x = np.load("./prepared/x.npy")
    """,
    "a folder": """
        if args.raw:
            convert("./prepared")
        x = sum(np.load(os.path.join("./prepared", name)) for name in sorted(os.listdir("./prepared")))
    """,
    "a constant": """
        IS_RAW = False
        if IS_RAW:
            convert("./prepared")
        x = np.load("./prepared/x.npy")
    """,
}


@pytest.mark.parametrize("shape", FLAGGED)
def test_what_only_starts_with_a_flag_write_is_brought_to_the_others(shape, tmp_path):
    done = adapt(f"""
        import argparse, os
        import numpy as np
        parser = argparse.ArgumentParser()
        parser.add_argument("--raw", action="store_true")
        args = parser.parse_args()
        def convert(folder):
            os.makedirs(folder, exist_ok=True)
            np.save(folder + "/x.npy", np.loadtxt("raw/rows.csv"))
        {FLAGGED[shape]}
        print(x.sum())
    """)
    home, data, results = tmp_path / "home", tmp_path / "data", tmp_path / "out"
    for folder in (home, data, results):
        folder.mkdir()
    np.save(data / "x.npy", np.ones(3))
    given = f"--data_url={data}", f"--train_url={results}"
    assert play(done.text, home, *given).output == "3.0\n", done.text
    if shape != "a constant":
        (data / "rows.csv").write_text("2 2 2")
        assert play(done.text, home, *given, "--raw").output == "6.0\n", done.text
        assert play(done.text, home, *given).output == "6.0\n", done.text
    assert not list(home.iterdir())


@pytest.mark.parametrize("read", ['glob.glob("./prepared/*.npy")', "os.listdir(args.save_dir)"])
def test_a_folder_that_a_flag_makes_a_result_and_cannot_be_told_apart_is_named(read):
    done = adapt(f"""
        import argparse, glob, os
        import numpy as np
        parser = argparse.ArgumentParser()
        parser.add_argument("--raw", action="store_true")
        parser.add_argument("--save_dir", default="prepared")
        args = parser.parse_args()
        if args.raw:
            np.save({'args.save_dir + "/x.npy"' if "save" in read else '"./prepared/x.npy"'}, 1)
        else:
            print([np.load(name) for name in {read}])
    """)
    assert "is a result of starts with one flag, and an input of others" in said(done, Kind.HAND)


SETTINGS = {
    "at the top": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--work-path", {how})
        args = parser.parse_args()
        def main():
            {body}
        main()
    """,
    "in a function": """
        def read_options():
            parser = argparse.ArgumentParser()
            parser.add_argument("--work-path", {how})
            return parser.parse_args()
        def main(args):
            {body}
        if __name__ == "__main__":
            main(read_options())
    """,
    "handed on": """
        def main(work_path):
            args = argparse.Namespace(work_path=work_path)
            {body}
        parser = argparse.ArgumentParser()
        parser.add_argument("--work-path", {how})
        args = parser.parse_args()
        main(**vars(args))
    """,
    "another folder": """
        parser = argparse.ArgumentParser()
        parser.add_argument("--work-path", {how})
        parser.add_argument("--log-dir", default="logs")
        args = parser.parse_args()
        os.makedirs(args.log_dir, exist_ok=True)
        open(args.log_dir + "/log.txt", "w").write("begun")
        {body}
    """,
}
READS_SETTINGS = (
    'settings = json.load(open(args.work_path + "/config.json")); '
    'open(args.work_path + "/result.txt", "w").write(settings["name"]); print(settings["name"])'
)


@pytest.mark.parametrize("how", ["required=True", 'default="experiments/b"'])
@pytest.mark.parametrize("shape", SETTINGS)
def test_settings_in_the_folder_of_results_are_found_where_the_option_says(shape, how, tmp_path):
    done = adapt("import argparse, json, os\n" + dedent(SETTINGS[shape].format(how=how, body=READS_SETTINGS)))
    home, results = tmp_path / "home", tmp_path / "out"
    for name in "ab":
        (home / "experiments" / name).mkdir(parents=True)
        (home / "experiments" / name / "config.json").write_text(f'{{"name": "{name}"}}')
    before = sorted(home.rglob("*"))
    chosen = "--work-path=experiments/a"
    assert play(done.text, home, chosen, f"--train_url={results}").output == "a\n", done.text
    assert sorted(home.rglob("*")) == before
    assert [each.read_text() for each in results.rglob("result.txt")] == ["a"]
    if "required" in how:
        assert "--work-path" in said(done, Kind.DIFFERS) and "must still be given" in said(done, Kind.DIFFERS)
    else:
        results = tmp_path / "other"
        assert play(done.text, home, f"--train_url={results}").output == "b\n", done.text


PLAYED = "import os\nfrom stable_baselines3 import PPO\nfrom parts import world\n"
LEARN = 'model.learn(9)\nmodel.save("player")\n'


def test_what_an_earlier_start_has_saved_is_looked_for_where_it_was_saved():
    text = (
        'if os.path.exists("player.zip"):\n    model = PPO.load("player", world)\nelse:\n    model = PPO("a", world)\n'
    )
    done = adapt(PLAYED + text + LEARN).text
    assert 'os.path.exists(os.path.join(contract.train_url or "", "player.zip"))' in done
    assert done.count('os.path.join(contract.train_url or "", "player")') == 2
    later = adapt(f'{PLAYED}model = PPO("a", world)\n{LEARN}model = PPO.load("player")\n').text
    assert later.count('os.path.join(contract.train_url or "", "player")') == 2 and "find_delivered" not in later


def test_what_is_loaded_by_a_name_without_a_suffix_is_found_by_what_follows_it(tmp_path):
    """The file is `player.zip`: it counts as there, in the output folder and in the input."""
    (tmp_path / "stable_baselines3.py").write_text(
        "class PPO:\n"
        "    def learn(self, steps): pass\n"
        "    def save(self, path): open(path + '.zip', 'w').write(self.text + '+')\n"
        "    @classmethod\n"
        "    def load(cls, path):\n"
        "        found = cls()\n"
        "        found.text = open(path + '.zip').read()\n"
        "        return found\n"
    )
    head = "import sys\nsys.path.insert(0, '.')\nfrom stable_baselines3 import PPO\nmodel = PPO.load('player')\n"
    done = adapt(head + LEARN + "print(model.text)\n").text
    results, given = tmp_path / "out", tmp_path / "given"
    results.mkdir()
    given.mkdir()
    (given / "player.zip").write_text("given")
    (tmp_path / "player.zip").write_text("here")
    words = f"--train_url={results}", f"--pretrain_url={given}"
    assert play(done, tmp_path, words[0]).output == "here\n"
    assert play(done, tmp_path, *words).output == "here+\n"
    (results / "player.zip").unlink()
    assert play(done, tmp_path, *words).output == "given\n"
    assert play(done, tmp_path, words[1]).output == "given\n"
