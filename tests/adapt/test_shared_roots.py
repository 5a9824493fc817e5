"""One folder that holds data and takes results: each part follows its own option."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

HEAD = """
import glob, os, cv2, torch
from pathlib import Path
from torchvision.datasets import ImageFolder
"""


@pytest.mark.parametrize(
    ("root", "read", "saved", "after"),
    [
        (
            'ROOT = "."',
            'images = glob.glob(os.path.join(ROOT, "data", "*"))',
            'os.path.join(ROOT, "net.pt")',
            'glob.glob(os.path.join(contract.data_url, "*") if contract.data_url else os.path.join(ROOT, "data", "*"))',
        ),
        (
            'ROOT = "work"',
            'FOUND = os.path.join(ROOT, "photos")\nimages = glob.glob(FOUND + "/*.png")',
            'os.path.join(ROOT, "net.pt")',
            'FOUND = contract.data_url or os.path.join(ROOT, "photos")',
        ),
        (
            'ROOT = Path("work")',
            'images = list((ROOT / "photos").glob("*.png"))',
            'ROOT / "net.pt"',
            'list(((Path(contract.data_url) if contract.data_url else ROOT / "photos")).glob("*.png"))',
        ),
    ],
)
def test_what_is_searched_for_data_is_told_from_where_results_go(root, read, saved, after):
    done = adapt(f"{HEAD}{root}\n{read}\ntorch.save(net, {saved})\n")
    assert after in done.text
    assert "contract.train_url or" in done.text and "nothing reads --data_url" not in said(done, Kind.DIFFERS)


def test_a_function_that_searches_gets_the_folder_from_its_caller():
    done = adapt(f"""{HEAD}
def load(root):
    return [cv2.imread(name) for name in glob.glob(os.path.join(root, "*"))]

ROOT = "."
images = load(os.path.join(ROOT, "data"))
torch.save(net, os.path.join(ROOT, "net.pt"))
""")
    assert 'load(contract.data_url or os.path.join(ROOT, "data"))' in done.text
    assert 'ROOT = contract.train_url or "."' in done.text


def test_a_folder_beside_others_of_data_keeps_its_name():
    done = adapt(f"""{HEAD}
ROOT = Path("work")
train = ImageFolder(ROOT / "data" / "train")
rest = list((ROOT / "data" / "val").glob("*.png"))
torch.save(net, ROOT / "net.pt")
""")
    assert 'Path(os.path.join(contract.data_url, "val")) if contract.data_url else ROOT / "data" / "val"' in done.text


@pytest.mark.parametrize("name", ["samples", "results"])
def test_what_the_script_has_written_there_stays_with_the_results(name):
    written = f'cv2.imwrite(os.path.join(ROOT, "{name}", "1.png"), image)\n' if name == "samples" else ""
    done = adapt(f"""{HEAD}
ROOT = "work"
{written}torch.save(net, os.path.join(ROOT, "net.pt"))
for name in glob.glob(os.path.join(ROOT, "{name}", "*.png")):
    print(name)
""")
    assert f'glob.glob(os.path.join(ROOT, "{name}", "*.png"))' in done.text
