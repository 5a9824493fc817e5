"""Folders that are looked for in the output folder, then in an input: an empty one was only made."""

from __future__ import annotations

import os

from checked import adapt

#: a function of the adaptation, by which a start finds what was brought
_NAME = "def find_delivered("


def _finder():
    done = adapt("""
        import os
        import torch

        net = torch.nn.Linear(1, 1)
        net.load_state_dict(torch.load("best.pt"))
        torch.save(net, "best.pt")
        """).text
    start = done.index(_NAME)
    found = {"os": os}
    exec(done[start : done.index("\n\n\n", start)], found)
    return found["find_delivered"]


def test_an_empty_folder_of_the_output_is_not_taken_for_the_one_that_was_brought(tmp_path):
    given, output = tmp_path / "in", tmp_path / "out"
    (given / "rows").mkdir(parents=True)
    (given / "rows" / "x.txt").write_text("1")
    (output / "rows").mkdir(parents=True)
    find = _finder()
    assert find(f"{output}/rows/", str(output), None, str(given)) == f"{given}/rows/"
    (output / "rows" / "y.txt").write_text("2")
    assert find(f"{output}/rows/", str(output), None, str(given)) == f"{output}/rows/"


def test_results_below_the_home_of_whoever_starts_it_follow_the_contract():
    done = adapt("""
        import os
        import numpy as np

        folder = os.path.expanduser(os.path.join("~", "Documents", "runs"))
        os.makedirs(folder, exist_ok=True)
        w = 0.0
        for epoch in range(3):
            w += 1
            np.save(os.path.join(folder, "w.npy"), w)
        """)
    assert 'os.path.join(contract.train_url or "~", "Documents", "runs")' in done.text
