"""Functions that call themselves and each other: they are followed to where it begins, and no further."""

from __future__ import annotations

import pytest
from checked import adapt

WALKS = """
    import os

    def find(top, depth):
        found = []
        for name in os.listdir(top):
            path = os.path.join(top, name)
            if os.path.isdir(path) and depth:
                found += find(path, depth - 1) + find(top + "/" + name, 0) + other(top, depth - 1) + other(path, 0)
            elif name.endswith(".txt"):
                found.append(open(os.path.join(top, name)).read())
        return found

    def other(folder, depth):
        return find(folder, depth) + find(folder + "/more", depth) + other(folder, depth - 1) + other(folder, 0)

    print(find("/srv/rows", 3))
"""


def test_functions_that_call_themselves_and_each_other_are_followed_to_their_first_caller():
    done = adapt(WALKS)
    assert 'print(find(contract.data_url or "/srv/rows", 3))' in done.text


READS = 'print(open("/srv/rows/rows.txt").read())\n'
TRAINS = """\
import torch
net = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for round in range(9):
    part_0(round)
    net(torch.ones(1)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("use", [READS, READS + TRAINS])
def test_many_functions_that_name_each_other_are_looked_at_once(use):
    names = [f"part_{at}" for at in range(30)]
    calls = "\n".join(f"    {name}(n - 1)" for name in names)
    functions = "".join(f"def {name}(n):\n{calls}\n\n\n" for name in names)
    done = adapt(functions + use)
    assert 'contract.data_url or "/srv/rows"' in done.text
