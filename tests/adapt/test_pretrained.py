"""Weights that a library fetches: the contract's take their place, and nothing changes without it."""

from pathlib import Path

import pytest
from checked import adapt, said
from stage import play

from outlast.migrate.engine import Kind

_HEAD = "import torch\nimport torchvision\nfrom torchvision import models\n"


@pytest.mark.parametrize(
    "call",
    [
        "models.resnet18(pretrained=True)",
        "models.resnet18(True)",
        "torchvision.models.resnet18(weights='IMAGENET1K_V1')",
        "models.resnet18(weights=models.ResNet18_Weights.DEFAULT)",
        "models.resnet18(models.ResNet18_Weights.DEFAULT)",
        "models.detection.fasterrcnn_resnet50_fpn(pretrained=True)",
        "models.__dict__[arch](pretrained=wanted)",
        "getattr(models, arch)(pretrained=True)",
    ],
)
def test_torchvision_looks_into_the_given_folder(call):
    done = adapt(f"{_HEAD}arch, wanted = 'vgg16', True\nmodel = {call}\n", "xihe")
    assert "if contract.pretrain_url:\n    torch.hub.set_dir(hub_folder(contract.pretrain_url))\n" in done.text
    assert call in done.text
    assert "--data pretrain_url=PLACE" in said(done, Kind.CHANGED)
    assert "network" not in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "call", ["models.resnet18()", "models.resnet18(pretrained=False)", "models.resnet18(weights=None)"]
)
def test_a_model_that_starts_from_nothing_is_left_alone(call):
    assert "set_dir" not in adapt(f"{_HEAD}model = {call}\n", "xihe").text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('VGG16(weights="imagenet", top=3)', 'VGG16(weights=FILE else "imagenet", top=3)'),
        ('VGG16(False, "imagenet")', 'VGG16(False, FILE else "imagenet")'),
        ("VGG16(include_top=False)", 'VGG16(include_top=False, weights=FILE else "imagenet")'),
        ('VGG16(weights="in/notop.h5")', 'VGG16(weights=contract.pretrain_url or "in/notop.h5")'),
        ("VGG16(False, START)", "VGG16(False, FILE else START)"),
    ],
)  # fmt: skip
def test_keras_takes_the_given_file(before, after):
    head = "from tensorflow.keras.applications import VGG16\n"
    done = adapt(f"{head}START = 'imagenet'\nbase = {before}\n", "xihe")
    file = "weights_file(contract.pretrain_url) if contract.pretrain_url"
    assert f"base = {after}\n".replace("FILE", file) in done.text
    assert "network" not in said(done, Kind.HAND)


def test_keras_is_told_no_file_where_it_begins_with_nothing():
    done = adapt("from keras.applications import VGG16\na = VGG16(weights=None)\n", "xihe")
    assert "pretrain_url" not in done.text


def test_one_file_cannot_be_the_weights_of_two_models():
    done = adapt("from keras.applications import VGG16, ResNet50\na = VGG16(weights='imagenet')\n"
                 "b = ResNet50(weights='imagenet')\n", "xihe")  # fmt: skip
    assert "a = VGG16(weights='imagenet')" in done.text
    assert "VGG16 fetches weights" in said(done, Kind.HAND)


def test_weights_that_a_script_reads_itself_lie_beside_those_that_torch_fetches():
    done = adapt(f"{_HEAD}model = models.resnet18(pretrained=True)\nmodel.load_state_dict(torch.load('start.pth'))\n")
    assert "torch.hub.set_dir(hub_folder(contract.pretrain_url))" in done.text
    assert "torch.load(os.path.join(contract.pretrain_url or '', 'start.pth'))" in done.text
    assert "--pretrain_url must be a folder: it holds start.pth and" in said(done, Kind.DIFFERS)
    assert "the file as it is named in ~/.cache/torch/hub/checkpoints" in said(done, Kind.CHANGED)


def test_names_that_are_put_right_behind_a_folder_of_weights_lie_in_it():
    done = adapt(
        "import torch\nfolder = './models/'\na, b = torch.load(folder + 'a.pth'), torch.load(folder + 'b.pth')\n"
    )
    assert """folder = os.path.join(contract.pretrain_url or './models/', "")""" in done.text


def test_a_model_that_is_called_after_its_data_is_no_data():
    text = r"""net.load_state_dict(torch.load(r"D:\me\models\port_dataset\net2.pth"))"""
    done = adapt(f"{_HEAD}net = models.resnet18(pretrained=True)\n{text}\n")
    assert 'os.path.join(contract.pretrain_url, "net2.pth") if contract.pretrain_url' in done.text
    assert "--pretrain_url must be a folder: it holds net2.pth and" in said(done, Kind.DIFFERS)
    rows = adapt("import torch\nrows = torch.load('sets/train.pt')\n")
    assert "os.path.join(contract.data_url or 'sets', 'train.pt')" in rows.text


def test_models_of_transformers_lie_beside_those_that_torch_fetches():
    done = adapt(f"{_HEAD}from transformers import BertModel\nmodel = models.resnet18(pretrained=True)\n"
                 "words = BertModel.from_pretrained('bert-base-uncased')\n")  # fmt: skip
    assert "torch.hub.set_dir(hub_folder(contract.pretrain_url))" in done.text
    assert "from_pretrained(os.path.join(contract.pretrain_url or '', 'bert-base-uncased'))" in done.text
    assert "--pretrain_url must hold the folders bert-base-uncased, checkpoints" in said(done, Kind.DIFFERS)


def test_an_option_for_weights_leaves_no_room_for_what_torch_fetches():
    done = adapt(f"""{_HEAD}import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--weights", default="start.pth")
args = parser.parse_args()
model = models.resnet18(pretrained=True)
found = models.detection.fasterrcnn_resnet50_fpn(num_classes=3)
model.load_state_dict(torch.load(args.weights))
""")
    assert "set_dir" not in done.text
    assert "resnet18(pretrained=True) fetches weights" in said(done, Kind.DIFFERS)
    assert "fasterrcnn_resnet50_fpn fetches weights" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "line",
    [
        "torch.hub.load('a/b', 'c')",
        "torch.hub.load_state_dict_from_url('https://x.y/z.pth')",
        "load_url('https://x.y/z.pth')",
        "EfficientNet.from_pretrained('efficientnet-b0')",
        "lpips.LPIPS(net='alex')",
        "models.detection.fasterrcnn_resnet50_fpn(num_classes=3)",
        "pretrainedmodels.__dict__['resnet18'](pretrained='imagenet')",
    ],
)
def test_whatever_looks_into_the_folder_of_torch_finds_the_given_one(line):
    head = "import lpips, pretrainedmodels\nfrom efficientnet_pytorch import EfficientNet\n"
    done = adapt(f"{_HEAD}{head}from torch.utils.model_zoo import load_url\nmodel = {line}\n", "xihe")
    brought = "if contract.pretrain_url:\n    torch.hub.set_dir(hub_folder(contract.pretrain_url))\n"
    assert f"{brought}model = {line}\n" in done.text
    assert "network" not in said(done, Kind.HAND)


@pytest.mark.parametrize(
    "line",
    [
        "torch.hub.load('./yolo', 'custom', source='local')",
        "torch.hub.load_state_dict_from_url('https://x.y/z.pth', model_dir='kept')",
        "models.detection.fasterrcnn_resnet50_fpn(weights_backbone=None)",
    ],
)
def test_whatever_looks_elsewhere_is_left_alone(line):
    assert "set_dir" not in adapt(f"{_HEAD}model = {line}\n", "xihe").text


_LIBRARIES = """
import clip, open_clip, spacy, timm, whisper
import tensorflow_hub as hub
from huggingface_hub import hf_hub_download, snapshot_download
from sentence_transformers import SentenceTransformer
from transformers import pipeline
from ultralytics import YOLO
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("SentenceTransformer('a/b')", "SentenceTransformer(GIVEN or 'a/b')"),
        ("pipeline('fill-mask', model='a/b')", "pipeline('fill-mask', model=GIVEN or 'a/b')"),
        ("whisper.load_model('base')", "whisper.load_model(GIVEN or 'base')"),
        ("clip.load('ViT-B/32')", "clip.load(GIVEN or 'ViT-B/32')"),
        ("open_clip.create_model('a', 'laion')", "open_clip.create_model('a', GIVEN or 'laion')"),
        ("hub.KerasLayer('https://x.y/1')", "hub.KerasLayer(GIVEN or 'https://x.y/1')"),
        ("YOLO('yolov8n.pt')", "YOLO(GIVEN or 'yolov8n.pt')"),
        ("spacy.load('en_core_web_sm')", "spacy.load(GIVEN or 'en_core_web_sm')"),
        ("hf_hub_download('a/b', 'm.pt')", "GIVEN or hf_hub_download('a/b', 'm.pt')"),
        ("snapshot_download('a/b')", "GIVEN or snapshot_download('a/b')"),
        ("timm.create_model(name, pretrained=True)",
         "timm.create_model(name, pretrained=True, pretrained_cfg_overlay=dict(file=GIVEN) if GIVEN else None)"),
    ],
)  # fmt: skip
def test_a_place_stands_for_the_name_of_a_model(before, after):
    done = adapt(f"{_LIBRARIES}name = 'x'\nmodel = {before}\n", "xihe")
    assert f"model = {after.replace('GIVEN', 'contract.pretrain_url')}\n" in done.text
    assert "network" not in said(done, Kind.HAND)


def test_one_place_cannot_stand_for_two_models():
    lines = "a = whisper.load_model('base')\nb = SentenceTransformer('a/b')\n"
    done = adapt(f"{_LIBRARIES}{lines}", "xihe")
    assert lines in done.text
    assert "load_model fetches base" in said(done, Kind.HAND)
    assert "SentenceTransformer fetches a/b" in said(done, Kind.HAND)


@pytest.mark.parametrize("line", ["hub.load('models/net')", "YOLO('net.yaml')"])
def test_a_place_of_the_scripts_own_is_no_name(line):
    done = adapt(f"{_LIBRARIES}model = {line}\n", "xihe")
    assert f"model = {line}\n" in done.text
    assert "network" not in said(done, Kind.HAND)


def test_a_data_set_that_keeps_its_files_in_the_contracts_folder_needs_no_hand():
    done = adapt("""
        import argparse
        from mindvision.dataset import Mnist
        def parse():
            p = argparse.ArgumentParser()
            p.add_argument("--data_url", default="./mnist")
            p.add_argument("--output_path", default=".")
            return p.parse_known_args()[0]
        def train(args_opt):
            return Mnist(path=args_opt.data_url, split="train", download=True)
        train(parse())
    """, "xihe")  # fmt: skip
    assert "network" not in said(done, Kind.HAND)


@pytest.mark.parametrize(
    ("line", "said_of"),
    [
        ("wandb.init(project='x')", "wandb.init sends"),
        ("wandb.init(mode='online')", "wandb.init sends"),
        ("wandb.init(mode='offline')", ""),
        ("os.environ['WANDB_MODE'] = 'offline'\nwandb.init()", ""),
        ("trainer.push_to_hub()", "push_to_hub sends"),
        ("TrainingArguments('out', push_to_hub=True)", "push_to_hub sends"),
        ("TrainingArguments('out', push_to_hub=False)", ""),
        ("huggingface_hub.login()", "huggingface_hub.login asks"),
        ("comet_ml.Experiment(api_key='x')", "comet_ml.Experiment sends"),
        ("neptune.init_run()", "neptune.init_run sends"),
        ("mlflow.set_tracking_uri('http://10.0.0.1:5000')", "mlflow sends"),
        ("mlflow.set_tracking_uri('file:runs')", ""),
        ("WandbLogger(project='x')", "WandbLogger sends"),
        ("WandbLogger(project='x', offline=True)", ""),
    ],
)
def test_what_is_sent_is_told_where_there_is_no_network(line, said_of):
    text = f"import os, comet_ml, mlflow, neptune, wandb\nimport huggingface_hub\nfrom here import *\n{line}\n"
    assert (said_of or "there is no network") in said(adapt(text, "xihe"), Kind.DIFFERS) or not said_of
    assert bool(said_of) == ("there is no network" in said(adapt(text, "xihe"), Kind.DIFFERS))


@pytest.mark.parametrize("before", ["__author__ = 'somebody'", "__version__, __all__ = '1', []", "print('begins')"])
def test_torch_is_there_where_it_is_told_its_folder(before):
    """What a file says of itself, or does, may stand before its imports."""
    done = adapt(
        f"{before}\nimport torch\nfrom torchvision import models\nnet = models.resnet18(pretrained=True)\n", "xihe"
    )
    lines = done.text.splitlines()
    assert lines.index("import torch") < lines.index("    torch.hub.set_dir(hub_folder(contract.pretrain_url))")


def test_what_a_file_says_of_itself_lies_among_its_imports():
    done = adapt("__author__ = 'somebody'\n\nimport os\nimport sys\n\nprint(open('data/x.txt').read())\n")
    assert done.text.count("import os") == 1 and done.text.startswith("__author__ = 'somebody'\n\nimport os\n")


def test_a_process_that_begins_anew_is_told_where_weights_lie():
    done = adapt("""
        import argparse
        import torch
        import torch.multiprocessing as mp
        import torchvision.models as models
        def work(rank, args):
            net = models.__dict__[args.arch](pretrained=True)
            print(net)
        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--arch", default="resnet18")
            args = parser.parse_args()
            mp.spawn(work, nprocs=2, args=(args,))
        if __name__ == "__main__":
            main()
    """)
    body = done.text.partition("def work(")[2].partition("def main(")[0]
    assert "torch.hub.set_dir(" in body and done.text.count("set_dir(") == 1
    assert "the model takes its weights from --pretrain_url" in said(done, Kind.CHANGED)


def test_weights_beside_those_of_an_option_have_a_way_of_their_own():
    done = adapt("""
        import argparse
        import torch
        from torchvision.models import vgg16
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", required=True, help="saved model")
        args = parser.parse_args()
        net = torch.nn.Linear(1, 1)
        net.load_state_dict(torch.load(args.model))
        print(vgg16(pretrained=True))
    """, "xihe")  # fmt: skip
    assert "args.model = args.pretrain_url" in done.text
    assert "let TORCH_HOME name a folder that holds hub/checkpoints" in said(done, Kind.HAND)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('net = torch.load("models/a.pth")', "--data pretrain_url=FILE"),
        ('a = torch.load("models/a.pth")\nb = torch.load("models/b.pth")', "must be a folder: it holds a.pth, b.pth"),
        ('from transformers import AutoModel\nnet = AutoModel.from_pretrained("./bert")', "--data pretrain_url=FOLDER"),
        ('from settings import cfg\nnet = torch.load(cfg["weights"])', "--data pretrain_url=FILE"),
        ('import argparse\np = argparse.ArgumentParser()\np.add_argument("--start", default="a.pth")\n'
         "args = p.parse_args()\nnet = torch.load(args.start)", "--data pretrain_url=FILE"),
    ],
)  # fmt: skip
def test_the_report_says_whether_weights_are_a_file_or_a_folder(text, expected):
    done = adapt(f"import torch\n{text}\n", "xihe")
    assert expected in said(done, Kind.CHANGED) + said(done, Kind.DIFFERS)


@pytest.mark.parametrize("given", ["hub", "hub/checkpoints", "hub/checkpoints/net-1.pth"])
def test_weights_of_torch_may_be_a_file_its_folder_or_the_folder_of_torch(tmp_path, given):
    done = adapt("import torch\nfrom torchvision import models\nnet = models.resnet18(pretrained=True)\n")
    (tmp_path / "hub/checkpoints").mkdir(parents=True)
    (tmp_path / "hub/checkpoints/net-1.pth").write_text("weights")
    body = done.text[done.text.index("def hub_folder") : done.text.index("if contract.pretrain_url:")]
    found = Path(play(f"import os, tempfile\n{body}\nprint(hub_folder({given!r}))", tmp_path).output.strip())
    assert (tmp_path / found / "checkpoints/net-1.pth").read_text() == "weights"


def test_keras_finds_its_file_in_the_folder_of_an_input(tmp_path):
    text = adapt("from keras.applications import VGG16\nprint('x')\nnet = VGG16(weights='imagenet')\n").text
    helper = text[text.index("def weights_file") : text.index("print('x')")]
    found = {}
    exec("import os\n" + helper, found)
    (tmp_path / "vgg16.h5").touch()
    (tmp_path / "readme.md").touch()
    assert found["weights_file"](str(tmp_path)) == str(tmp_path / "vgg16.h5")
    assert found["weights_file"](str(tmp_path / "vgg16.h5")) == str(tmp_path / "vgg16.h5")
    (tmp_path / "other.h5").touch()
    assert found["weights_file"](str(tmp_path)) == str(tmp_path), "Keras says what it takes"


@pytest.mark.parametrize("call", [
    "Word2Vec.load(VECTORS).wv",
    "gensim.models.KeyedVectors.load(VECTORS, mmap='r')",
    "KeyedVectors.load_word2vec_format(VECTORS, binary=True)",
])  # fmt: skip
def test_vectors_of_words_are_weights(call):
    head = "import gensim\nfrom gensim.models import KeyedVectors, Word2Vec\nVECTORS = 'vectors/words.model'\n"
    done = adapt(f"{head}rows = {call}\nprint(rows['a'])\n", "xihe")
    assert "contract.pretrain_url or 'vectors/words.model'" in done.text


def test_several_models_lie_below_the_place_by_their_names():
    """A name that a class gets is put below the place where it is used: then the others are below it, too."""
    done = adapt(
        "from transformers import AutoModel, AutoTokenizer\n\n"
        'name = "roberta-base"\ntokenizer = AutoTokenizer.from_pretrained(name)\n\n\n'
        "class Rows:\n    def __init__(self, name):\n        self.name = name\n"
        "        self.tokenizer = AutoTokenizer.from_pretrained(name)\n\n\n"
        'rows = Rows("roberta-base")\nrows = Rows("distilroberta-base")\nprint(rows.name)\n'
    )
    assert 'name = os.path.join(contract.pretrain_url or "", "roberta-base")' in done.text
    assert 'from_pretrained(os.path.join(contract.pretrain_url or "", name))' in done.text
    assert "must hold the folder roberta-base" in said(done, Kind.DIFFERS)


NAMED = """
import argparse
import torch
from transformers import AutoModel, AutoTokenizer
parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="base")
args = parser.parse_args()
NAMES = {{"base": "small-bert", "large": "big-bert"}}
{lines}
tokenizer = AutoTokenizer.from_pretrained({name})
model = AutoModel.from_pretrained({name})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for batch in batches:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()
torch.save(model.state_dict(), {out})
"""


@pytest.mark.parametrize(
    ("lines", "name", "out"),
    [
        ('MODEL = "small-bert"', "MODEL", 'f"out/{MODEL}.pt"'),
        ('MODEL = "small-bert"\nis_small = "small" in MODEL', "MODEL", '"net.pt"'),
        ('MODEL = "small-bert"\nif MODEL == "small-bert":\n    print(1)', "MODEL", '"out/" + MODEL + ".pt"'),
        ('class CFG:\n    model = "small-bert"', "CFG.model", 'f"out/{CFG.model}.pt"'),
        ('config = {"model": "small-bert"}', 'config["model"]', "f\"out/{config['model']}.pt\""),
        ("", "NAMES[args.kind]", '"net.pt"'),
        ("", 'f"bert-{args.kind}"', '"net.pt"'),
        ("", '"bert-" + args.kind', '"net.pt"'),
    ],
)
def test_the_one_model_whose_name_is_more_than_a_place_gives_way_where_it_is_loaded(lines, name, out):
    done = adapt(NAMED.format(lines=lines, name=name, out=out), "xihe")
    assert f"AutoModel.from_pretrained(args.pretrain_url or {name})" in done.text
    assert f"AutoTokenizer.from_pretrained(args.pretrain_url or {name})" in done.text
    assert lines in done.text and "--data pretrain_url=FOLDER" in said(done, Kind.CHANGED)


def test_folders_of_the_scripts_own_are_no_names_of_models():
    done = adapt(NAMED.format(lines="", name='f"./saved/{args.kind}"', out='"net.pt"'), "xihe")
    assert 'f"saved/{args.kind}"' in done.text or '{args.kind}")' in done.text
    assert 'args.pretrain_url or f"./saved' not in done.text
