"""Folders that a script makes for its data, and fills by a command: they are no places for results."""

from __future__ import annotations

import pytest
from checked import adapt

FETCHING = """
    import glob
    import os
    import numpy as np

    HERE = os.path.dirname(os.path.abspath(__file__))

    def fetch():
        folder = {place}
        if not os.path.exists(folder):
            os.mkdir(folder)
        if not os.path.exists(os.path.join(folder, "streets")):
            os.system("unzip streets.zip; mv streets " + folder)

    def read():
        folder = {place}
        return [np.load(name) for name in sorted(glob.glob(os.path.join(folder, "streets", "*.npy")))]

    fetch()
    w = 0.0
    for epoch in range(4):
        w += sum(each.sum() for each in read())
        np.save({result}, w)
"""


@pytest.mark.parametrize("place", ['os.path.join(HERE, "rows")', 'os.path.join(HERE, os.pardir, "rows")'])
def test_a_folder_beside_the_code_that_is_only_made_and_read_holds_data(place):
    done = adapt(FETCHING.format(place=place, result='"w.npy"'))
    assert done.text.count(f"folder = contract.data_url or {place}") == 2
    assert "contract.train_url or os.path.join(HERE" not in done.text


def test_a_folder_beside_the_code_that_is_written_to_holds_results():
    place = 'os.path.join(HERE, "rows")'
    done = adapt(FETCHING.format(place=place, result=f'os.path.join({place}, "w.npy")'))
    assert done.text.count(f"folder = contract.train_url or {place}") == 2


def test_a_folder_for_results_is_one_although_only_its_making_is_seen():
    place = 'os.path.join(HERE, "outputs")'
    done = adapt(FETCHING.format(place=place, result='"w.npy"'))
    assert "contract.data_url or os.path.join(HERE" not in done.text
