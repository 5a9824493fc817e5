"""Files that a script fetches before it reads them: the contract's take their place, and nothing changes without it."""

import sys
import types
import zipfile

import pytest
from checked import adapt, said
from programs import Program
from stage import play

from outlast.migrate.engine import Kind

_READS = "print(open('data/words.txt').read())\n"


@pytest.fixture
def away(tmp_path):
    """A server, as far as urllib minds."""
    folder = tmp_path / "away"
    folder.mkdir()
    (folder / "words.txt").write_text("from away")
    with zipfile.ZipFile(folder / "words.zip", "w") as archive:
        archive.writestr("words.txt", "from away")
    return folder


@pytest.fixture
def here(tmp_path):
    folder = tmp_path / "here"
    (folder / "data").mkdir(parents=True)
    return folder


@pytest.fixture
def given(tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "words.txt").write_text("given")
    with zipfile.ZipFile(folder / "words.zip", "w") as archive:
        archive.writestr("words.txt", "given, packed")
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "urllib.request.urlretrieve('{}/words.txt', 'data/words.txt')",
        "subprocess.run(['curl', '-s', '{}/words.txt', '-o', 'data/words.txt'])",
        "subprocess.call('curl -s {}/words.txt -o ./data/words.txt', shell=True)",
    ],
)
def test_what_is_given_is_not_fetched(line, away, here, given):
    done = adapt(f"import subprocess\nimport urllib.request\n{line.format(away.as_uri())}\n{_READS}", "xihe")
    assert "network" not in said(done, Kind.HAND)
    away.joinpath("words.txt").unlink()
    assert play(done.text, here, "--data_url", str(given)).output == "given\n"
    assert sorted(each.name for each in given.iterdir()) == ["words.txt", "words.zip"]


def test_without_the_option_it_is_fetched_as_before(away, here):
    text = f"import urllib.request\nurllib.request.urlretrieve('{away.as_uri()}/words.txt', 'data/words.txt')\n{_READS}"
    assert play(adapt(text, "xihe").text, here).output == "from away\n"


def test_what_nothing_reads_is_still_fetched_and_told(away):
    text = f"import urllib.request\nurllib.request.urlretrieve('{away.as_uri()}/x.txt', 'x.txt')\n{_READS}"
    done = adapt(text, "xihe")
    assert "\nurllib.request.urlretrieve(" in done.text
    assert "urlretrieve fetches" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "line",
    [
        "zipfile.ZipFile('words.zip').extractall('data')",
        "with zipfile.ZipFile('words.zip') as archive:\n    archive.extractall(path='./data')",
        "shutil.unpack_archive('words.zip', 'data')",
    ],
)
def test_of_what_is_unpacked_the_archive_is_the_input(line, away, here, given):
    fetch = f"urllib.request.urlretrieve('{away.as_uri()}/words.zip', 'words.zip')"
    done = adapt(f"import shutil, urllib.request, zipfile\n{fetch}\n{line}\n{_READS}", "xihe")
    assert play(done.text, here, "--data_url", str(given)).output == "given, packed\n"
    assert not (given / "data").exists()
    assert play(done.text, here).output == "from away\n"


def test_an_archive_may_lie_where_it_is_unpacked(here, given):
    done = adapt(f"import zipfile\nzipfile.ZipFile('data/words.zip').extractall('data')\n{_READS}", "xihe")
    assert play(done.text, here, "--data_url", str(given)).output == "given, packed\n"


def test_what_is_unpacked_to_a_folder_of_a_name_follows_the_name(here, given):
    done = adapt("""
        import os, zipfile
        HOME = "data"
        zipfile.ZipFile(os.path.join(HOME, "words.zip")).extractall(HOME)
        print(open(os.path.join(HOME, "words.txt")).read())
    """, "xihe")  # fmt: skip
    assert play(done.text, here, "--data_url", str(given)).output == "given, packed\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("gdown.download(url, 'a.csv')", "contract.data_url or gdown.download(url, 'a.csv')"),
        ("wget.download('https://x.y/a.csv')", "contract.data_url or wget.download('https://x.y/a.csv')"),
        ("api.dataset_download_files('a/b', path='sets')",
         "contract.data_url or api.dataset_download_files('a/b', path='sets')"),
    ],
)  # fmt: skip
def test_tools_that_fetch_are_left_out(before, after):
    text = (
        f"import gdown, wget\nfrom kaggle import api\nurl = 'https://x.y/1'\n{before}\nopen('a.csv')\nopen('sets/b')\n"
    )
    assert f"\n{after}\n" in adapt(text, "xihe").text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("pd.read_csv('https://x.y/a.csv?raw=true')",
         "pd.read_csv(os.path.join(GIVEN, \"a.csv\") if GIVEN else 'https://x.y/a.csv?raw=true')"),
        ("pd.read_csv(URL, sep=';')", 'pd.read_csv(os.path.join(GIVEN, "b.data") if GIVEN else URL, sep=\';\')'),
        ("sns.load_dataset('iris')", "sns.load_dataset('iris', data_home=GIVEN)"),
        ("untar_data(URLs.PETS) / 'images'",
         "(pathlib.Path(GIVEN) if GIVEN else untar_data(URLs.PETS)) / 'images'"),
        ("snapshot_download('a/b', repo_type='dataset')", "GIVEN or snapshot_download('a/b', repo_type='dataset')"),
    ],
)  # fmt: skip
def test_readers_of_addresses_and_names_look_at_what_is_given(before, after):
    head = "import pandas as pd\nimport seaborn as sns\nfrom huggingface_hub import snapshot_download\n"
    done = adapt(f"{head}from fastai.vision.all import *\nURL = 'https://x.y/b.data'\nfound = {before}\n", "xihe")
    assert f"found = {after.replace('GIVEN', 'contract.data_url')}\n" in done.text
    assert "network" not in said(done, Kind.HAND)
    assert "nothing reads --data_url" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "lines",
    [
        "a = pd.read_csv('https://x.y/1/a.csv')\nb = pd.read_csv('https://x.y/2/a.csv')",
        "a = pd.read_csv('https://x.y/export')",
    ],
)
def test_addresses_without_a_name_of_their_own_are_told(lines):
    done = adapt(f"import pandas as pd\n{lines}\n", "xihe")
    assert lines in done.text
    assert "read_csv reads from https://x.y/" in said(done, Kind.HAND)


def test_nltk_also_looks_into_what_is_given(here, given, monkeypatch):
    asked = []
    nltk = types.ModuleType("nltk")
    nltk.data, nltk.download = types.SimpleNamespace(path=["home"]), asked.append
    monkeypatch.setitem(sys.modules, "nltk", nltk)
    done = adapt("import nltk\ndef main():\n    nltk.download('punkt')\n    nltk.download('words')\nmain()\n", "xihe")
    assert "network" not in said(done, Kind.HAND)
    play(done.text, here)
    assert nltk.data.path == ["home"]
    play(done.text, here, "--data_url", str(given))
    assert nltk.data.path == ["home", str(given)]
    assert asked == ["punkt", "words"] * 2


def test_ultralytics_leaves_its_runs_in_the_output_folder():
    done = adapt("""
        from ultralytics import YOLO
        model = YOLO("net.yaml")
        model.train(data="streets.yaml", epochs=3)
        model.val(project="checks")
    """, "xihe")  # fmt: skip
    assert 'model.train(data="streets.yaml", epochs=3, project=contract.output_path)' in done.text
    assert 'model.val(project=contract.output_path or "checks")' in done.text
    assert "train finds its data where 'streets.yaml' says" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "lines",
    [
        "def load(url):\n    return pd.read_csv(url)\nload('https://x.y/a.csv')",
        "url = 'https://x.y/a.csv'\ndef load(url):\n    return pd.read_csv(url)\nload(url)",
        "for url in ['https://x.y/a.csv', 'https://x.y/b.csv']:\n    pd.read_csv(url)",
        "SETS = {'a': 'https://x.y/a.csv'}\nfetch(SETS['a'])",
    ],
)
def test_an_address_that_is_not_followed_is_told(lines):
    done = adapt(f"import pandas as pd\n{lines}\n", "xihe")
    assert lines in done.text
    assert "'https://x.y/a.csv' stays as it is" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "lines",
    [
        "found = pd.read_csv('https://x.y/a.csv')",
        "URL = 'https://x.y/a.csv'\nfound = pd.read_csv(URL)",
        "requests.get('https://x.y/a.csv')",
    ],
)
def test_an_address_that_is_understood_is_told_once(lines):
    done = adapt(f"import pandas as pd\nimport requests\n{lines}\n", "xihe")
    assert "stays as it is" not in said(done, Kind.DIFFERS)
    again = adapt(done.text, "xihe")
    assert "stays as it is" not in said(again, Kind.DIFFERS)


def test_a_metric_can_travel_with_the_code():
    done = adapt("import evaluate\nmetric = evaluate.load('glue', 'mrpc')\n", "xihe")
    assert "evaluate.load fetches glue; there is no network" in said(done, Kind.HAND)
    assert "load('metrics/glue'), with glue.py in it" in said(done, Kind.HAND)


@pytest.mark.parametrize("indent", ["", "    "])
def test_a_data_set_of_keras_under_a_short_name_is_an_input(indent):
    lines = ["mnist = tf.keras.datasets.mnist", "(x, y), (v, w) = mnist.load_data()", "print(x)"]
    body = "".join(f"{indent}{line}\n" for line in lines)
    done = adapt("import tensorflow as tf\n" + (f"def main():\n{body}main()\n" if indent else body))
    assert "load_delivered(mnist.load_data, contract.data_url)()" in done.text
    assert "nothing reads" not in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "place", ['"https://x.org/sets/" + name', 'f"hf://datasets/a/b/{name}"', "BASE + name", 'f"{BASE}{name}"']
)
def test_addresses_that_are_put_together_are_read_by_their_last_name(place):
    done = adapt(f"""
        import pandas as pd
        BASE = "https://x.org/sets/"
        for name in ["train.csv", "test.csv"]:
            print(pd.read_csv({place}))
    """, "xihe")  # fmt: skip
    new = f"os.path.join(contract.data_url, os.path.basename({place})) if contract.data_url else {place})"
    assert new in done.text
    assert "each by its last name" in said(done, Kind.CHANGED) and "there is no network" not in said(done, Kind.HAND)


def test_tables_of_what_was_fetched_are_read_where_they_are_written():
    done = adapt("""
        import os
        import pandas as pd
        os.makedirs("data", exist_ok=True)
        for name in ["train", "test"]:
            pd.read_csv("https://x.org/sets/" + name + ".csv").to_csv(f"data/{name}_rows.csv", index=False)
        print(len(pd.read_csv("data/train_rows.csv")), len(pd.read_csv("data/test_rows.csv")))
    """)
    assert 'to_csv(os.path.join(contract.train_url or "data", f"{name}_rows.csv"), index=False)' in done.text
    assert 'pd.read_csv(os.path.join(contract.train_url or "data", "train_rows.csv"))' in done.text


def test_where_an_object_keeps_its_data_is_what_it_was_given(tmp_path):
    sets = """
        from torchvision import datasets
        class Sets:
            def __init__(self, root):
                self.root = root
            def one(self):
                return datasets.CIFAR10(self.root, train=True, download=True)
    """
    train = """
        import argparse
        from sets import Sets
        parser = argparse.ArgumentParser()
        parser.add_argument("-data", default="./datasets", help="path to dataset")
        args = parser.parse_args()
        Sets(args.data).one()
    """
    done = Program(tmp_path, sets=sets, train=train).adapt()
    told = [each for each in done.findings if "downloads" in each.message]
    assert [each.kind for each in told] == [Kind.DIFFERS]
    assert "what it does not find in self.root, which its caller gives" in told[0].message


_ASKED = """
    import argparse
    import torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--finetune", default="", help="weights to begin with")
    parser.add_argument("--start", default="")
    args = parser.parse_args()
    model = torch.nn.Linear(1, 1)
    if args.finetune:
        model.load_state_dict(torch.load(args.finetune))
    if args.start:
        if {test}:
            state = torch.hub.load_state_dict_from_url(args.start)
        else:
            state = torch.load(args.start)
        print(len(state))
"""


def test_an_address_that_somebody_passes_is_fetched_as_they_want_it():
    done = adapt(_ASKED.format(test='args.start.startswith("https")'), "xihe")
    assert "there is no network" not in said(done, Kind.HAND)
    assert "load_state_dict_from_url fetches only where args.start is an address" in said(done, Kind.KEPT)
    assert "hub.set_dir" not in done.text
    only = _ASKED.replace("args.finetune", "args.start").replace("finetune", "other")
    assert "hub.set_dir" not in adapt(only.format(test='args.start.startswith("https")'), "xihe").text


@pytest.mark.parametrize("test", ["len(args.start) > 8", 'not args.start.startswith("https")'])
def test_what_is_fetched_unasked_is_left_to_a_person_without_a_network(test):
    assert "there is no network" in said(adapt(_ASKED.format(test=test), "xihe"), Kind.HAND)


def test_an_option_that_may_be_an_address_or_a_place_takes_the_place():
    """`https` is no word that the script chooses by."""
    text = (
        _ASKED.replace("args.finetune", "args.start")
        .replace("--start", "--weights")
        .replace("args.start", "args.weights")
    )
    done = adapt(text.format(test='args.weights.startswith("https")'), "xihe")
    assert "args.weights = args.pretrain_url" in done.text


@pytest.mark.parametrize("place", ["demos.mnist_datamodule import MNISTDataModule", "demos import WikiText2"])
def test_samples_for_demonstrations_are_fetched_wherever_the_data_is(place):
    line = f"from lightning.pytorch.{place} as Rows"
    text = f"import lightning.pytorch as pl\n{line}\nfrom nets import Net\npl.Trainer().fit(Net(), Rows())\n"
    told = "fetches its data to ./data where that is not there yet"
    assert f"{told}; this platform may not reach" in said(adapt(text), Kind.DIFFERS)
    assert f"{told}; there is no network" in said(adapt(text, "xihe"), Kind.HAND)
