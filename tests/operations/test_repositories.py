"""Inputs named as in a hub come from the folder that plays the repository, or are refused with the next command."""

from __future__ import annotations

import json

import pytest

from outlast import Client
from outlast.errors import NotFoundError, SpecError
from outlast.model.request import RunRequest
from outlast.operations.resolve import resolve


@pytest.fixture
def client(tmp_path):
    (tmp_path / "lenet").mkdir()
    (tmp_path / "lenet" / "best.ckpt").write_text("weights")
    (tmp_path / "mnist" / "train").mkdir(parents=True)
    (tmp_path / "train.py").write_text("print('training')\n")
    client = Client(home=tmp_path / "home")
    client.stores.map("model:ann/lenet", tmp_path / "lenet")
    client.stores.map("dataset:ann/mnist", tmp_path / "mnist")
    return client


@pytest.fixture
def ask(client, tmp_path):
    return lambda *data: resolve(
        RunRequest("train.py", cwd=tmp_path, contract="xihe", data=data, output=("output_path=./out",)), client.settings
    )


def test_names_of_a_hub_mean_the_folders_that_play_them(ask, tmp_path):
    resolved = ask("data_url=dataset:ann/mnist", "pretrain_url=model:ann/lenet/best.ckpt")
    assert [given.source for given in resolved.inputs] == [
        (tmp_path / "mnist").as_uri(),
        (tmp_path / "lenet" / "best.ckpt").as_uri(),
    ]
    assert resolved.inputs[1].path.endswith("pretrain_url_0/best.ckpt")
    assert resolved.maps == {}, "runs know only what stores they may name"


def test_without_a_contract_they_lie_beside_the_script_under_their_own_names(client, tmp_path):
    asked = RunRequest("train.py", cwd=tmp_path, data=("dataset:ann/mnist", "model:ann/lenet/best.ckpt"))
    assert [given.path for given in resolve(asked, client.settings).inputs] == ["mnist", "best.ckpt"]


def test_file_of_the_project_names_them_too(ask, tmp_path):
    (tmp_path / "outlast.toml").write_text('[data]\ndata_url = "dataset:ann/mnist/train"\n')
    assert ask().inputs[0].source == (tmp_path / "mnist" / "train").as_uri()


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("model:ben/resnet", "model:ben/resnet lies in a hub", "outlast store map model:ben/resnet ./FOLDER"),
        ("model:ann/lenet/bset.ckpt", "there is no bset.ckpt in", "best.ckpt"),
        ("model:ann/lenet/../mnist", "leads out of model:ann/lenet", ""),
        ("model:ann/lenet@v1.2", "whatever its revision", "check out v1.2 there"),
    ],
)
def test_what_cannot_be_found_is_said_with_the_next_command(ask, text, words, hint):
    with pytest.raises(SpecError) as caught:
        ask(f"data_url={text}")
    assert words in str(caught.value) and hint in f"{caught.value} {caught.value.hint}"


def test_maps_of_repositories_are_listed_and_taken_back(client, tmp_path):
    assert [each.address for each in client.stores.maps()] == ["dataset:ann/mnist", "model:ann/lenet"]
    assert client.stores.unmap("model:ann/lenet").folder == str(tmp_path / "lenet")
    with pytest.raises(NotFoundError):
        client.stores.unmap("model:ann/lenet")
    with pytest.raises(SpecError, match="names something in dataset:ann/mnist"):
        client.stores.map("dataset:ann/mnist/train", tmp_path / "mnist")
    assert list(json.loads((tmp_path / "home" / "maps.json").read_text())["maps"]) == ["dataset:ann/mnist"]
