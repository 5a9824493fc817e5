"""Weights that torch fetches into a folder that the script names."""

from __future__ import annotations

import pytest
from checked import adapt, said
from programs import Program

from outlast.migrate.engine import Kind

ADDRESS = "https://example.org/models/net-0a1b.pth"


@pytest.mark.parametrize(
    ("head", "call"),
    [
        ("from torch.hub import load_state_dict_from_url", "load_state_dict_from_url(URL, {})"),
        (
            "from torchvision.models.utils import load_state_dict_from_url",
            "load_state_dict_from_url(URL, model_dir={})",
        ),
        ("import torch.utils.model_zoo as zoo", "zoo.load_url(URL, model_dir={})"),
    ],
)
def test_the_brought_folder_takes_its_place(head, call):
    done = adapt(f"import torch\n{head}\nURL = {ADDRESS!r}\nstate = {call.format(repr('nets'))}\n", "xihe")
    folder = "weights_folder(contract.pretrain_url) if contract.pretrain_url else 'nets'"
    assert call.format(folder) in done.text
    assert "takes its weights from --pretrain_url" in said(done, Kind.CHANGED)
    assert "network" not in said(done, Kind.DIFFERS) + said(done, Kind.HAND)
    assert "stays as it is" not in said(done, Kind.DIFFERS)


def test_all_files_of_a_program_find_the_one_folder(tmp_path):
    net = f"""
        import torch
        from torch.hub import load_state_dict_from_url
        def make():
            return load_state_dict_from_url({ADDRESS!r}, model_dir="./kept")
    """
    train = f"""
        from net import make
        from torch.hub import load_state_dict_from_url
        print(load_state_dict_from_url({ADDRESS!r}, "./kept"), make())
    """
    program = Program(tmp_path / "code", train=train, net=net)
    program.adapt()
    texts = [(program.folder / name).read_text() for name in ("train.py", "net.py")]
    assert "weights_folder(contract.pretrain_url)" in texts[0]
    assert 'weights_folder(os.environ.get("CONTRACT_PRETRAIN_URL"))' in texts[1]


def test_the_folder_is_that_of_a_file_or_as_torch_keeps_it(tmp_path):
    text = f"from torch.hub import load_state_dict_from_url\nstate = load_state_dict_from_url({ADDRESS!r}, 'nets')\n"
    done = adapt(text).text
    start = done.index("def weights_folder")
    names = {}
    exec("import os\n" + done[start : done.index("state = ")].partition("\n\n\n")[0], names)
    (tmp_path / "hub/checkpoints").mkdir(parents=True)
    (tmp_path / "net.pth").write_text("")
    folder = names["weights_folder"]
    assert folder(str(tmp_path / "net.pth")) == folder(str(tmp_path)) == str(tmp_path)
    assert folder(str(tmp_path / "hub")) == str(tmp_path / "hub/checkpoints")


def test_weights_of_the_script_lie_in_the_folder_that_it_fetches_others_to(tmp_path):
    net = f"""
        from torch.hub import load_state_dict_from_url
        def make(pretrained=False):
            return load_state_dict_from_url({ADDRESS!r}, model_dir="./kept") if pretrained else None
    """
    program = Program(
        tmp_path / "code",
        train='import torch\nfrom net import make\nprint(make(), torch.load("kept/a.pth"))\n',
        net=net,
    )
    told = [each.message for each in program.adapt(contract="xihe").findings]
    assert 'os.path.join(contract.pretrain_url or "kept", "a.pth")' in program.text("train.py")
    assert "--pretrain_url must be a folder: it holds a.pth" in told
