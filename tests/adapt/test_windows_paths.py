"""Paths that were written on Windows."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

TEXT = """
import glob
import torch
ROOT = r"D:\\sets\\cracks"
IMAGES, MASKS = {images}, {masks}
rows = sorted(glob.glob(IMAGES + "/*.jpg")), sorted(glob.glob(MASKS + "/*.png"))
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    for row in read(rows):
        optimizer.zero_grad()
        net(row).sum().backward()
        optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize(
    ("images", "masks"),
    [
        ('ROOT + r"\\images"', 'ROOT + "\\\\masks"'),
        ('ROOT + "/images"', 'f"{ROOT}\\\\masks"'),
    ],
)
def test_what_is_put_behind_a_folder_makes_it_one_and_its_backslashes_are_told(images, masks):
    done = adapt(TEXT.format(images=images, masks=masks))
    assert 'ROOT = contract.data_url or r"D:' in done.text
    assert '"\\masks/*.png" behind a folder: the backslash divides no names on Linux' in said(done, Kind.DIFFERS)
    assert ("images" in said(done, Kind.DIFFERS)) is ("/images" not in images)


def test_slashes_behind_a_folder_of_windows_are_well():
    done = adapt(TEXT.format(images='ROOT + "/images"', masks='ROOT + "/masks"'))
    assert 'ROOT = contract.data_url or r"D:' in done.text and "backslash" not in said(done, Kind.DIFFERS)


def test_a_folder_of_windows_within_another_one_lies_within_it_there_too():
    text = TEXT.format(images='r"D:\\sets\\cracks\\images"', masks='ROOT + "/masks"')
    done = adapt(text)
    assert 'ROOT = contract.data_url or r"D:' in done.text
    assert 'os.path.join(contract.data_url, "images") if contract.data_url' in done.text
    assert "--data_url must hold images" in said(done, Kind.DIFFERS)


def test_folders_of_windows_beside_each_other_have_their_last_names():
    text = TEXT.format(images='r"D:\\sets\\images"', masks='r"E:\\more\\masks"').replace("ROOT =", "UNUSED =")
    done = adapt(text)
    assert 'os.path.join(contract.data_url, "images")' in done.text
    assert "--data_url must hold images, masks" in said(done, Kind.DIFFERS)
