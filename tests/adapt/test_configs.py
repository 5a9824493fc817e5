"""Configurations: what this file sets in them is what code of other files finds."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from checked import adapt, said
from stage import contents, play

from outlast.migrate.engine import Kind

#: name → (the script, the file beside it)
WAYS = {
    "a function gives it": (
        """
        import os
        from settings import get_config, path_of

        def train(config):
            os.makedirs(config["folder"], exist_ok=True)
            print(open(config["source"]).read())
            with open(path_of(config, "last"), "w") as file:
                file.write("x")

        if __name__ == "__main__":
            config = get_config()
            train(config)
        """,
        'def get_config():\n    return {"folder": "saved", "source": "data/words.csv"}\n'
        'def path_of(config, name):\n    return config["folder"] + "/" + name + ".txt"\n',
    ),
    "one in another": (
        """
        import json, os
        import settings
        config = json.loads(settings.TEXT)
        os.makedirs(config["train"]["folder"], exist_ok=True)
        print(open(config["source"]).read())
        settings.save(config["train"])
        """,
        'TEXT = \'{"train": {"folder": "saved"}, "source": "data/words.csv"}\'\n'
        'def save(config):\n    open(config["folder"] + "/last.txt", "w").close()\n',
    ),
    "a dictionary of this file": (
        """
        from settings import run
        config = {"save_dir": "saved", "data_dir": "data", "name": "words.csv"}
        run(config["save_dir"], **{"folder": config["data_dir"], "name": config["name"]})
        """,
        "import os\ndef run(save, folder, name):\n    print(open(os.path.join(folder, name)).read())\n"
        "    os.makedirs(save, exist_ok=True)\n    open(save + '/last.txt', 'w').close()\n",
    ),
    "a class of this file": (
        """
        from dataclasses import dataclass
        from settings import run

        @dataclass
        class Config:
            save_dir: str = "saved"
            data_dir: str = "data"

        run(Config())
        """,
        "import os\ndef run(config):\n    print(open(os.path.join(config.data_dir, 'words.csv')).read())\n"
        "    os.makedirs(config.save_dir, exist_ok=True)\n    open(config.save_dir + '/last.txt', 'w').close()\n",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_code_of_other_files_finds_the_same_places(way, tmp_path):
    script, beside = (textwrap.dedent(each) for each in WAYS[way])
    done = adapt(script)
    for name in ("home", "away"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(done.text)
        (tmp_path / name / "settings.py").write_text(beside)
    for folder in (tmp_path / "home" / "data", tmp_path / "input"):
        folder.mkdir()
        (folder / "words.csv").write_text("words")
    assert _run(tmp_path / "home") == "words\n" and (tmp_path / "home" / "saved" / "last.txt").is_file()
    before = set(contents(tmp_path / "away"))
    given = ["--data_url", str(tmp_path / "input"), "--train_url", str(tmp_path / "out")]
    assert _run(tmp_path / "away", *given) == "words\n"
    assert set(contents(tmp_path / "away")) == before and (tmp_path / "out" / "last.txt").is_file()


def _run(folder, *argv):
    ran = subprocess.run(
        [sys.executable, "-B", "train.py", *argv], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert not ran.returncode, ran.stderr
    return ran.stdout


def test_a_configuration_that_stays_here_is_replaced_where_it_is_used():
    done = adapt("""
        import os, yaml
        config = yaml.safe_load(open("config.yaml"))
        print(config)
        os.makedirs(config["folder"], exist_ok=True)
    """)
    assert 'os.makedirs(contract.train_url or config["folder"], exist_ok=True)' in done.text


def test_several_places_kept_for_other_files_are_not_guessed():
    done = adapt("from tools import run\nrun({'data_dir': 'a', 'other': {'data_dir': 'b'}})\n")
    assert "contract.data_url" not in done.text and "nothing reads --data_url" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "taken",
    [
        "def run(config):\n    np.load(config['data'])\nrun(CONFIG)\n",
        "class Run:\n    def __init__(self, config):\n        self.config = config\n"
        "    def go(self):\n        np.load(self.config['data'])\nRun(CONFIG).go()\n",
        "def run(config):\n    np.load(config['deep']['data'])\nrun({'deep': CONFIG})\nrun2 = run\n",
    ],
)
def test_a_dictionary_is_followed_to_what_takes_it(taken):
    done = adapt(f'import numpy as np\nCONFIG = {{"data": "d/x.npy"}}\n{taken}')
    assert '{"data": os.path.join(contract.data_url or "d", "x.npy")}' in done.text


def test_a_name_that_is_made_of_itself_leads_nowhere():
    adapt(
        'import numpy as np\ndef f(config):\n    config = config["a"]\n    np.load(config["b"])\nf({"a": {"b": "c"}})\n'
    )


def test_an_entry_that_is_asked_for_with_a_default_gives_way(tmp_path):
    text = """
        import json
        from pathlib import Path
        import numpy as np
        def main(config):
            out = Path(config.get("out", "runs/x"))
            out.mkdir(parents=True, exist_ok=True)
            rows = config.get("data", {}).get("root")
            print(np.load(Path(rows) / "x.npy"))
            np.save(out / "w.npy", 1)
        config = json.loads(open("told.json").read())
        main(config)
    """
    done = adapt(text).text
    for name in ("plain", "given"):
        (tmp_path / name / "rows").mkdir(parents=True)
        (tmp_path / name / "told.json").write_text('{"data": {"root": "rows"}}')
        np.save(tmp_path / name / "rows" / "x.npy", 1)
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "x.npy", 2)
    assert play(done, tmp_path / "plain").output == "1\n" and (tmp_path / "plain" / "runs" / "x" / "w.npy").exists()
    out = tmp_path / "out"
    given = play(done, tmp_path / "given", "--data_url", str(tmp_path / "data"), "--train_url", str(out))
    assert given.output == "2\n" and (out / "w.npy").exists()


@pytest.mark.parametrize(
    "line",
    [
        "set_up_logging(config['log_dir'])",
        "save_checkpoint(net, None, filename=config['checkpoint'])",
        "save_checkpoint(net, False, 'last.pth.tar')",
    ],
)
def test_results_that_other_files_write_are_told_their_place(line):
    done = adapt(f"""
        from tools import read_settings, save_checkpoint, set_up_logging
        config = read_settings()
        net = object()
        {line}
    """)
    assert "nothing is written" not in said(done, Kind.DIFFERS) and "contract.train_url" in done.text


@pytest.mark.parametrize(
    "line",
    [
        "rows = rowGenerator(2, 'data/rows/train', 'image')",
        "rows = load_rows('./data/rows', 3)",
        "rows = RowDatasetFromTable('../data/rows/train.csv')",
    ],
)
def test_data_that_other_files_read_is_known_by_its_look(line):
    done = adapt(f"from tools import RowDatasetFromTable, load_rows\nfrom streams import *\n{line}\n")
    assert "contract.data_url or" in done.text


def test_a_value_that_may_be_none_gives_way():
    text = "from pathlib import Path\nimport told\nfrom tools import build_loader\nbuild_loader(told.data_dir)\n"
    assert 'type(told.data_dir or "")(contract.data_url)' in adapt(text).text


def test_a_place_of_settings_that_has_given_way_is_not_taken_again():
    done = adapt(
        """
        import os
        import torch
        from box import Box

        cfg = Box({"output_directory": "./", "epochs": 3})
        torch.save(torch.zeros(cfg.epochs), os.path.join(cfg.output_directory, "last.pt"))
        """
    )
    assert done.text.count("train_url or") == 1 and '"output_directory": os.path.join(contract.train_url' in done.text


@pytest.mark.parametrize(
    "read",
    [
        "with open(args.opt) as file:\n        opt = yaml.load(file, Loader=yaml.Loader)",
        "opt = yaml.safe_load(open(args.opt))",
        "file = open(args.opt)\n    opt = yaml.safe_load(file)",
    ],
)
def test_an_option_whose_file_is_parsed_as_settings_is_no_data(read):
    done = adapt(
        "import argparse\nimport numpy as np\nimport yaml\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
        '    parser.add_argument("--opt", type=str, help="Path to the file of options.")\n'
        f'    args = parser.parse_args()\n    {read}\n    rows = np.load(opt["rows"])\n\n\nmain()\n'
    )
    assert "args.opt =" not in done.text and "--opt" not in said(done, Kind.CHANGED)
    assert 'opt["rows"]' in said(done, Kind.CHANGED)


def test_entries_of_a_dictionary_with_fields_give_way_where_they_stand():
    done = adapt(
        "import numpy as np\nfrom easydict import EasyDict as edict\n\n"
        'cfg = edict({"rows": "../../data/rows", "out": "./runs", "rate": 0.1})\n'
        'rows = np.load(cfg.rows + "/x.npy")\nnp.save(cfg.out + "/y.npy", rows)\n'
    )
    assert '"rows": contract.data_url or "../../data/rows"' in done.text
    assert '"out": contract.train_url or "./runs"' in done.text
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_what_is_set_in_such_a_dictionary_later_is_no_literal_of_it():
    done = adapt(
        "import numpy as np\nfrom easydict import EasyDict as edict\nfrom here import place\n\n"
        'cfg = edict({"rows": "data/rows"})\ncfg.rows = place()\nrows = np.load(cfg.rows + "/x.npy")\n'
    )
    assert '"rows": "data/rows"' in done.text


def test_a_package_that_only_fetches_saves_no_results():
    done = adapt('from download import download\npath = download("https://a.b/c.zip", "./", kind="zip")\nprint(path)\n')
    assert "the script saves nothing" in said(done, Kind.DIFFERS)
