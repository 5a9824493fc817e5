"""Folders that hold data and results, lie beside one another, or are told by a configuration."""

from __future__ import annotations

import textwrap

import pytest
from checked import adapt
from torch_stage import HEAD, STEP

LOOP = """
model = nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(9):
    for x, y in rows:
        optimizer.zero_grad()
        loss = (model(x) - y).sum()
        loss.backward()
        optimizer.step()
"""


def test_a_folder_of_samples_stays_an_input_where_results_are_put_below_it_later():
    text = (
        """
import torch
from torch import nn
from torchvision.datasets import ImageFolder
source = "./sets/houses/"
models = "./sets/houses/" + "nets/"
rows = ImageFolder(source)
"""
        + LOOP
        + 'torch.save(model.state_dict(), models + "last.pt")\n'
    )
    done = adapt(text).text
    assert 'source = os.path.join(contract.data_url or "./sets/houses", "")' in done
    assert 'models = os.path.join(contract.train_url or "./sets/houses", "") + "nets/"' in done


def test_a_folder_that_is_written_before_it_is_read_holds_results():
    text = (
        """
import torch
from torch import nn
from torchvision.datasets import ImageFolder
from torchvision.utils import save_image
save_image(torch.ones(3, 8, 8), "./sets/made/" + "a/x.png")
rows = ImageFolder("./sets/made/")
"""
        + LOOP
    )
    assert "data_url or" not in adapt(text).text


@pytest.mark.parametrize("name", ["net_latest.pth", "net_trained.pth"])
def test_the_latest_weights_are_no_data(name):
    text = (
        f"""
import torch
from torch import nn
from torchvision.datasets import ImageFolder
rows = ImageFolder("sets_gan/rows")
model = nn.Linear(1, 1)
model.load_state_dict(torch.load("sets_gan/models/{name}"))
"""
        + LOOP
        + '    torch.save(model.state_dict(), "sets_gan/models/net_%d.pth" % epoch)\n'
    )
    done = adapt(text.replace("sets_gan", "dataset_gan")).text
    assert "torch.load(contract.pretrain_url or" in done


SIBLINGS = """
import os
import torch
from torch import nn
from torchvision.datasets import ImageFolder
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
{}
rows = Pairs(ImageFolder(SOUNDS), LABELS)
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            'SOUNDS = os.path.join(HERE, "corpus", "sounds")\nLABELS = os.path.join(HERE, "corpus", "labels")',
            'LABELS = os.path.join(contract.data_url, "labels") if contract.data_url else',
        ),
        (
            'from pathlib import Path\nTOP = Path(__file__).parent\n'
            'SOUNDS = TOP / "corpus" / "sounds"\nLABELS = TOP / "corpus" / "labels.csv"',
            'LABELS = Path(os.path.join(contract.data_url, "labels.csv")) if contract.data_url else',
        ),
    ],
)  # fmt: skip
def test_what_lies_beside_data_below_the_code_follows_as_well(lines, expected):
    done = adapt(SIBLINGS.format(lines) + LOOP).text
    assert expected in done
    assert '(contract.data_url, "sounds")' in done


@pytest.mark.parametrize(
    "other",
    ['os.path.join(HERE, "corpus", "results")', 'os.path.join(HERE, "notes", "labels")', '["corpus", "labels"]'],
)
def test_what_lies_elsewhere_or_is_named_for_results_stays(other):
    done = adapt(SIBLINGS.format(f'SOUNDS = os.path.join(HERE, "corpus", "sounds")\nLABELS = {other}') + LOOP).text
    assert f"LABELS = {other}" in done
    assert 'SOUNDS = contract.data_url or os.path.join(HERE, "corpus", "sounds")' in done


SETTINGS = """
import os
import torch
import yaml
from torch import nn
{}
def main(config, rows):
    nets = config["out"]["nets"]
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(9):
        for x, y in rows:
            optimizer.zero_grad()
            loss = (model(x) - y).sum()
            loss.backward()
            optimizer.step()
        torch.save(model.state_dict(), f"{{nets}}/{{epoch}}.pt")
        torch.save(optimizer.state_dict(), os.path.join(config["out"]["rates"], f"{{epoch}}.pt"))

main(yaml.safe_load(open("config.yaml")), [])
"""


def test_folders_of_a_configuration_are_made_below_the_output_folder():
    done = adapt(SETTINGS.format("")).text
    assert "        os.makedirs(nets, exist_ok=True)" in done
    assert done.count('os.path.basename(os.path.normpath(config["out"]["rates"]))), exist_ok=True)') == 1


def test_folders_that_the_script_makes_are_left_to_it():
    text = SETTINGS.format("def make(config):\n    os.makedirs(config['out']['nets'], exist_ok=True)")
    text = text.replace("    model = nn", '    os.makedirs(config["out"]["rates"], exist_ok=True)\n    model = nn')
    text = text.replace('["nets"]\n', '["nets"]\n    os.makedirs(nets, exist_ok=True)\n')
    assert adapt(text).text.count("os.makedirs(nets") == 1


def test_what_a_training_is_given_and_hands_back_is_kept(run, tmp_path):
    text = (
        HEAD
        + STEP
        + textwrap.dedent("""
        class Seen:
            def __init__(self):
                self.rows = []
            def add(self, number):
                self.rows.append(number)
        def fit(seen, size):
            net = nn.Linear(1, 1)
            opt = torch.optim.SGD(net.parameters())
            for epoch in range(3):
                seen.add(sum(step(net, opt, x, y) for x, y in POINTS))
                print(size, epoch)
            return seen
        seen = Seen()
        for size in (1, 2):
            seen = fit(seen, size)
        print("end", seen.rows)
    """)
    )
    lines = run(text).output.splitlines()
    done = adapt(text, "plain")
    assert run(done.text).output.splitlines() == lines
    for stop in range(1, len(lines) + 1):
        env = {"OUTLAST_CHECKPOINT": str(tmp_path / f"kept{stop}")}
        assert run(done.text, env=env, kill_after=stop).was_killed
        assert run(done.text, env=env).output.splitlines()[-1] == lines[-1], stop
