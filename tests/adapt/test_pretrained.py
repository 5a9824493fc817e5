"""Weights that a library fetches: the contract's take their place, and nothing changes without it."""

import pytest
from checked import adapt, said

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
    assert "if contract.pretrain_url:\n    torch.hub.set_dir(contract.pretrain_url)\n" in done.text
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
        ('VGG16(weights="imagenet", top=3)', 'VGG16(weights=contract.pretrain_url or "imagenet", top=3)'),
        ('VGG16(False, "imagenet")', 'VGG16(False, contract.pretrain_url or "imagenet")'),
        ("VGG16(include_top=False)", 'VGG16(include_top=False, weights=contract.pretrain_url or "imagenet")'),
    ],
)  # fmt: skip
def test_keras_takes_the_given_file(before, after):
    done = adapt(f"from tensorflow.keras.applications import VGG16\nbase = {before}\n", "xihe")
    assert f"base = {after}\n" in done.text
    assert "network" not in said(done, Kind.HAND)


def test_one_file_cannot_be_the_weights_of_two_models():
    done = adapt("from keras.applications import VGG16, ResNet50\na = VGG16(weights='imagenet')\n"
                 "b = ResNet50(weights='imagenet')\n", "xihe")  # fmt: skip
    assert "a = VGG16(weights='imagenet')" in done.text
    assert "VGG16 fetches weights" in said(done, Kind.HAND)


def test_weights_that_a_script_reads_itself_are_the_contracts():
    done = adapt(f"{_HEAD}model = models.resnet18(pretrained=True)\nmodel.load_state_dict(torch.load('start.pth'))\n")
    assert "set_dir" not in done.text
    assert "resnet18(pretrained=True) fetches weights" in said(done, Kind.DIFFERS)


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
