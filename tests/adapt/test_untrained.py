"""Scripts that train nothing in rounds: there is nothing to go on with, and that is said instead of a refusal."""

from __future__ import annotations

import pytest
from checked import adapt, said

from outlast.migrate.engine import Kind

SHOWS = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset
    loader = DataLoader(TensorDataset(torch.arange(6)), batch_size=2, shuffle=True)
    def show():
        for epoch in range(3):
            for step, (x,) in enumerate(loader):
                print(epoch, step, x.numpy())
    show()
"""
ONE_STEP = """
    import torch
    net = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = net(torch.ones(1, 3)).sum()
    loss.backward()
    optimizer.step()
    torch.save(net.state_dict(), "net.pt")
"""
EXTRACTS = """
    import numpy as np
    import torch
    from tqdm import tqdm
    net = torch.nn.Linear(3, 2)
    found = []
    with torch.no_grad():
        for row in tqdm(np.load("rows.npy")):
            found.append(net(torch.from_numpy(row)).numpy())
    np.save("found.npy", found)
"""


@pytest.mark.parametrize("text", [SHOWS, ONE_STEP, EXTRACTS])
def test_a_script_that_trains_nothing_in_rounds_begins_anew(text):
    done = adapt(text)
    assert not said(done, Kind.HAND)
    assert "nothing is trained in rounds here" in said(done, Kind.DIFFERS)


@pytest.mark.parametrize(
    "line",
    [
        "net.fit(rows)",
        "for x in rows:\n    loss(net(x)).backward()\n    optimizer.step()",
        "from helpers import go\ngo(net)",
        "def once():\n    optimizer.step()\n[once() for _ in rows]",
    ],
)
def test_what_may_train_is_not_denied(line):
    done = adapt(f"import torch\nnet, rows = torch.nn.Linear(1, 1), []\n{line}\n")
    assert "nothing is trained" not in said(done, Kind.DIFFERS)


def test_what_sums_up_without_a_library_may_train():
    assert "nothing is trained" not in said(adapt("w = 0\nfor x in [1, 2]:\n    w += x\nprint(w)\n"), Kind.DIFFERS)
